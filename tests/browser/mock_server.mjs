// A stand-in for the demo process, to work on the page and to test the browser test without building:
//   node tests/browser/mock_server.mjs --port 8080
// It serves the page and plays a toy warehouse. Its clients are arithmetic: a state that is delayed by the slider, and
// an own pawn that is ahead of that state. There is no game networking. It needs Node's standard library only.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const kPage = join(dirname(fileURLToPath(import.meta.url)), '../../apps/depot-demo/page');
const kTypes = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml' };
const kTickMs = 1000 / 60;

const arena = {
  w: 64, h: 40,
  sight: { radius: 12, leave: 14 },
  walls: [
    [0, 0, 64, 1], [0, 39, 64, 40], [0, 1, 1, 39], [63, 1, 64, 39],
    [20, 1, 21, 9], [20, 12, 21, 28], [20, 31, 21, 39], [43, 1, 44, 9], [43, 12, 44, 28], [43, 31, 44, 39],
    [21, 19.5, 30, 20.5], [34, 19.5, 43, 20.5],
    [5, 6, 7, 16], [11, 6, 13, 16], [5, 24, 7, 34], [11, 24, 13, 34],
    [57, 6, 59, 16], [51, 6, 53, 16], [57, 24, 59, 34], [51, 24, 53, 34],
    [26, 8, 28, 12], [36, 8, 38, 12], [26, 28, 28, 32], [36, 28, 38, 32],
  ],
  belts: [
    { x0: 2, y0: 18, x1: 18, y1: 22, dx: 2, dy: 0 }, { x0: 46, y0: 18, x1: 62, y1: 22, dx: -2, dy: 0 },
    { x0: 31, y0: 3, x1: 33, y1: 17, dx: 0, dy: 2 }, { x0: 31, y0: 23, x1: 33, y1: 37, dx: 0, dy: -2 },
  ],
  doors: [[20, 9, 21, 12], [20, 28, 21, 31], [43, 9, 44, 12], [43, 28, 44, 31]],
  bays: [[1, 1, 6, 4], [58, 36, 63, 39]],
};
const presets = [
  ['lan', 0, 0, 0], ['fibre', 5, 1, 0], ['cable', 12, 3, 0], ['dsl', 22, 4, 0.5], ['wifi-busy', 15, 20, 2], ['4g', 30, 12, 1],
  ['5g', 12, 6, 0.5], ['satellite', 300, 20, 1], ['hotel', 60, 30, 4], ['train', 70, 60, 6], ['transatlantic', 45, 4, 0.5],
  ['worst', 200, 80, 20], ['demo', 50, 20, 5],
].map(([name, delay_ms, jitter_ms, loss_pct]) => ({ name, delay_ms, jitter_ms, loss_pct, duplicate_pct: 0, reorder_pct: 0 }));

// ---- The toy world ------------------------------------------------------------------------------------

const perfect = () => ({ delay_ms: 0, jitter_ms: 0, loss_pct: 0, duplicate_pct: 0, reorder_pct: 0 });
const inside = ([x0, y0, x1, y1], x, y, r) => x > x0 - r && x < x1 + r && y > y0 - r && y < y1 + r;

const pawns = [];
const spawn = (owner, bot, x, y) => pawns.push({ id: 100 + pawns.length, owner, bot, x, y, vx: 0, vy: 0, input: { x: 0, y: 0 }, facing: { x: 1, y: 0 } });
spawn(2, false, 9, 20);
spawn(3, false, 24, 25);
for (let i = 0; i < 8; i++) spawn(10 + i, true, [9, 55, 3, 61, 16.5, 47.5, 23, 41][i], [36, 4, 36, 4, 4, 36, 14, 30][i]);
const pickups = [[9, 11], [16.5, 36], [3, 30], [23, 16], [41, 16], [32, 10], [55, 11], [47.5, 4], [61, 30], [23, 24]];
// Parcels, as [id, x, y] in centimetres; a client has those near its pawn.
const parcels = Array.from({ length: 600 }, (_, i) => [1000 + i, (1 + (i % 30) * 2.1) * 100, (1 + Math.floor(i / 30) * 1.9) * 100].map(Math.round));
const near = (at) => parcels.filter(([, x, y]) => Math.hypot(x / 100 - at.x, y / 100 - at.y) < arena.sight.leave);
let shots = [];
let tick = 0;
let nextId = 500;

const clients = {};
for (const [i, name] of ['A', 'B'].entries()) {
  clients[name] = {
    pawn: pawns[i], peer: i + 2, own: { x: pawns[i].x, y: pawns[i].y }, held: { x: 0, y: 0 }, queue: [], rtt: 1, error: 0, rollbacks: 0, resim: 0,
    late: 0, preset: 'none', impair: { up: perfect(), down: perfect() }, toggles: { prediction: true, smoothing: true, interpolation: true },
  };
}
const history = [];
const answers = [];
let press = null;
const unixNow = () => performance.timeOrigin + performance.now();

function move(at, input, dash) {
  const length = Math.hypot(input.x, input.y) || 1;
  const speed = dash ? 12 : 5;
  let vx = (input.x / length) * speed, vy = (input.y / length) * speed;
  for (const b of arena.belts) if (inside([b.x0, b.y0, b.x1, b.y1], at.x, at.y, 0)) { vx += b.dx; vy += b.dy; }
  const nx = at.x + (vx * kTickMs) / 1000, ny = at.y + (vy * kTickMs) / 1000;
  const hit = (x, y) => arena.walls.some((w) => inside(w, x, y, 0.4));
  if (!hit(nx, at.y)) at.x = nx; else vx = 0;
  if (!hit(at.x, ny)) at.y = ny; else vy = 0;
  return { vx, vy };
}

function step() {
  tick++;
  for (const p of pawns) {
    if (p.bot && (tick + p.id * 37) % 50 === 0) {
      p.input = { x: Math.floor(Math.random() * 3) - 1, y: Math.floor(Math.random() * 3) - 1 };
      if (Math.random() < 0.4) fire(p);
    }
    if (p.input.x || p.input.y) p.facing = { x: p.input.x, y: p.input.y };
    Object.assign(p, move(p, p.input, p.input.dash));
  }
  for (const s of shots) { s.x += (s.vx * kTickMs) / 1000; s.y += (s.vy * kTickMs) / 1000; s.life--; }
  shots = shots.filter((s) => s.life > 0 && !arena.walls.some((w) => inside(w, s.x, s.y, 0.1)));
  const now = performance.now();
  history.push({ now, objects: structuredClone(objects()) });
  while (history.length > 240) history.shift();
  for (const client of Object.values(clients)) stepClient(client, now);
}

function fire(p) {
  const length = Math.hypot(p.facing.x, p.facing.y) || 1;
  shots.push({ id: nextId++, owner: p.owner, x: p.x, y: p.y, vx: (p.facing.x / length) * 9, vy: (p.facing.y / length) * 9, life: 120 });
}

function stepClient(client, now) {
  const target = client.impair.up.delay_ms + client.impair.down.delay_ms + 1;
  client.rtt += (target + Math.random() * client.impair.down.jitter_ms - client.rtt) * 0.04;
  client.queue.push({ at: now + client.impair.up.delay_ms, input: client.held });
  while (client.queue.length && client.queue[0].at <= now) {
    const { input } = client.queue.shift();
    if (input.fire && !client.pawn.input.fire) fire(client.pawn);
    client.pawn.input = input;
  }
  const seen = past(now - client.impair.down.delay_ms);
  const own = seen.find((o) => o.id === client.pawn.id);
  client.ghost = { x: own.x, y: own.y };
  if (!client.toggles.prediction) {
    client.error = Math.hypot(client.pawn.x - own.x, client.pawn.y - own.y) * 1000;
    client.own = { x: own.x, y: own.y };
    return;
  }
  move(client.own, client.held, client.held.dash);
  const idle = !client.held.x && !client.held.y && !client.queue.some((q) => q.input.x || q.input.y);
  const gap = Math.hypot(client.own.x - client.pawn.x, client.own.y - client.pawn.y);
  client.error = Math.random() < 0.02 * (client.impair.down.loss_pct + 0.1) ? 40 * Math.random() : client.error * 0.9;
  if (idle && gap > 0.05) {
    client.own = { x: client.pawn.x, y: client.pawn.y };
    client.rollbacks++;
    client.resim += Math.round(target / kTickMs) + 1;
  }
}

const past = (time) => (history.findLast((h) => h.now <= time) ?? history[0]).objects;

const objects = () => [
  ...pawns.map((p) => ({ id: p.id, kind: 'pawn', x: p.x, y: p.y, vx: p.vx, vy: p.vy, owner: p.owner, bot: p.bot, facing: p.facing, state: { score: 0, dashing: !!p.input.dash } })),
  ...shots.map((s) => ({ id: s.id, kind: 'projectile', x: s.x, y: s.y, vx: s.vx, vy: s.vy, owner: s.owner })),
  ...arena.doors.map((d, i) => ({ id: 50 + i, kind: 'door', index: i, x: (d[0] + d[2]) / 2, y: (d[1] + d[3]) / 2, state: Math.floor(tick / 240 + i) % 2 ? 'open' : 'closed' })),
  ...pickups.map(([x, y], i) => ({ id: 70 + i, kind: 'pickup', x, y })),
];

function view(name) {
  const client = clients[name], now = performance.now();
  const delay = client.impair.down.delay_ms + (client.toggles.interpolation ? 100 + client.impair.down.jitter_ms : 0);
  const seen = structuredClone(past(now - delay));
  for (const o of seen) if (o.id === client.pawn.id) Object.assign(o, { own: true, x: client.own.x, y: client.own.y });
  const loss = client.impair.down.loss_pct;
  return {
    connected: true, peer: client.peer, tick: tick + Math.round(client.rtt / 2 / kTickMs), rtt_ms: client.rtt, jitter_ms: client.impair.down.jitter_ms * (0.4 + Math.random() * 0.2),
    t: unixNow(), loss_up_pct: client.impair.up.loss_pct, loss_down_pct: loss ? Math.max(0, loss + (Math.random() - 0.5) * 2) : 0,
    others_age_ms: delay, inputs_late: client.late, preset: client.preset, up_pps: 60, up_Bps: 4300 + Math.random() * 300, down_pps: 30, down_Bps: 5200 + Math.random() * 1800,
    snapshots: tick / 2, rollbacks: client.rollbacks, resim_ticks: client.resim, error_mm: client.error, interp_delay_ms: delay - client.impair.down.delay_ms, underruns: 0,
    parcels: near(client.pawn).flat(), sight: { objects: seen.length + near(client.pawn).length, entered: tick >> 4, left: tick >> 5, destroyed: tick >> 6 },
    types: [['parcels', near(client.pawn).length, 300], ['pawns', pawns.length, 100], ['projectiles', shots.length, 40], ['doors', 4, 1], ['pickups', 10, 2]]
      .map(([name, objects, bytes]) => ({ name, objects, bits: tick * bytes })),
    input_margin_ticks: 2 + Math.random(), unacked_inputs: Math.round(client.rtt / kTickMs) + 1, objects: seen, ghost: client.ghost, toggles: client.toggles, impair: client.impair,
  };
}

const state = () => ({
  t: unixNow(),
  heard: { server: 0, A: 0, B: 0 },
  ...(press ? { press } : {}),
  server: { t: unixNow(), tick, tick_p50_ms: 0.21, tick_p99_ms: 0.58, players: pawns.length, joins: pawns.length, alive: objects().length + parcels.length, bytes_sent: tick * 800,
    cap: { bytes_per_s: 64000, bucket_bytes: 3600, most_bytes_per_s: 9000, recent_bytes_per_s: 7000 + Math.random() * 1000 },
    objects: objects(), ...(tick % 30 < 2 ? { resting: parcels.flat() } : {}) },
  ...(answers.length ? { why: answers.splice(0) } : {}),
  clients: { A: view('A'), B: view('B') },
});

/** Computes the stamps of a key press on its way, which the real demo measures. */
function travel(name, input) {
  const { up, down } = clients[name].impair, predicts = clients[name].toggles.prediction;
  const heard_ms = unixNow(), sampled_ms = heard_ms + 8;
  const arrived_ms = sampled_ms + up.delay_ms + 1, applied_ms = arrived_ms + 30, sent_ms = applied_ms + kTickMs;
  const view = (delay_ms, interpolates) => ({ sent_ms, heard_ms: sent_ms + delay_ms + 1, drawn_ms: sent_ms + delay_ms + 1 + (interpolates ? 100 : 0) });
  const views = {};
  for (const [each, client] of Object.entries(clients)) views[each] = view(client.impair.down.delay_ms, client.toggles.interpolation);
  if (predicts) views[name] = view(down.delay_ms, false);
  return { id: input.press, client: name, pressed_ms: input.pressed_ms, heard_ms, sampled_ms, predicted_ms: predicts ? sampled_ms + kTickMs : 0, arrived_ms, applied_ms, views };
}

function receive(message) {
  const name = Object.values(message ?? {})[0]?.client;
  const client = clients[name];
  if (!client) return;
  if (message.input) client.held = message.input;
  if (message.input?.press) press = travel(name, message.input);
  if (message.why) {
    const { x, y, id } = message.why;
    const away = Math.hypot(x - client.pawn.x, y - client.pawn.y);
    const text = away > arena.sight.leave ? `not sent: ${away.toFixed(1)} away, and the border is ${arena.sight.radius.toFixed(1)}` : 'up to date';
    answers.push({ client: name, object: id ?? 1, kind: 'parcel', text: `object ${id ?? 1}: ${text}` });
  }
  if (message.preset) {
    const values = presets.find((preset) => preset.name === message.preset.name) ?? perfect();
    for (const direction of ['up', 'down']) for (const key of Object.keys(perfect())) client.impair[direction][key] = values[key];
    client.preset = message.preset.name;
  }
  if (message.impair) client.preset = '';
  if (message.shove) {
    client.pawn.y += 0.6;
    client.error = 600;
    client.rollbacks++;
    client.resim += 12;
  }
  if (message.impair) {
    const { client: _, direction, ...values } = message.impair;
    if (client.impair[direction]) Object.assign(client.impair[direction], values);
  }
  if (message.toggle) {
    const { client: _, ...values } = message.toggle;
    Object.assign(client.toggles, values);
  }
}

// ---- HTTP and the part of RFC 6455 that a browser on loopback uses ---------------------------------------

function textFrame(text) {
  const body = Buffer.from(text);
  const head = body.length < 126 ? Buffer.from([0x81, body.length])
    : body.length < 65536 ? Buffer.from([0x81, 126, body.length >> 8, body.length & 255])
      : Buffer.concat([Buffer.from([0x81, 127, 0, 0, 0, 0]), Buffer.from(Uint32Array.of(body.length).buffer).reverse()]);
  return Buffer.concat([head, body]);
}

/** Takes complete masked frames from the front of `buffer`, and returns the rest. */
function takeFrames(buffer, onText, onClose) {
  for (;;) {
    if (buffer.length < 6) return buffer;
    let size = buffer[1] & 127, at = 2;
    if (size === 126) { size = buffer.readUInt16BE(2); at = 4; }
    if (size === 127) { size = Number(buffer.readBigUInt64BE(2)); at = 10; }
    if (buffer.length < at + 4 + size) return buffer;
    const mask = buffer.subarray(at, at + 4);
    const body = Buffer.from(buffer.subarray(at + 4, at + 4 + size));
    for (let i = 0; i < body.length; i++) body[i] ^= mask[i & 3];
    if ((buffer[0] & 15) === 1) onText(body.toString());
    if ((buffer[0] & 15) === 8) onClose();
    buffer = buffer.subarray(at + 4 + size);
  }
}

const sockets = new Set();
const server = createServer((request, response) => {
  const path = normalize(new URL(request.url, 'http://localhost').pathname);
  try {
    const file = path === '/' ? '/index.html' : path;
    const body = readFileSync(join(kPage, file));
    const type = kTypes[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'content-security-policy': "default-src 'self'" }).end(body);
  } catch {
    response.writeHead(404).end('not found\n');
  }
});
server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`);
  socket.write(textFrame(JSON.stringify({ hello: { arena, presets } })));
  sockets.add(socket);
  let rest = Buffer.alloc(0);
  socket.on('data', (data) => {
    rest = takeFrames(Buffer.concat([rest, data]), (text) => receive(JSON.parse(text)), () => socket.end());
  });
  socket.on('close', () => sockets.delete(socket));
  socket.on('error', () => sockets.delete(socket));
});

const at = process.argv.indexOf('--port');
server.listen(at > 0 ? Number(process.argv[at + 1]) : 8080, '127.0.0.1', () => {
  console.log(`url: http://127.0.0.1:${server.address().port}/`);
});
// After a pause it catches up, as a real server does. After a long pause it goes on from the present.
let due = performance.now();
setInterval(() => {
  if (performance.now() - due > 1000) due = performance.now();
  for (; due <= performance.now(); due += kTickMs) step();
}, kTickMs / 2);
setInterval(() => {
  const frame = textFrame(JSON.stringify(state()));
  for (const socket of sockets) socket.write(frame);
}, 33);

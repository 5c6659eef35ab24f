// Puts the page together: connection, three maps, the latency strip, two client panels, the server's numbers.
// window.lattice holds the newest state, for tests and the browser's console.

import { ChartCursor, Charts } from './charts.js';
import { Connection } from './connection.js';
import { ClientControls, PresetButtons, chooseSegment, makeSegments, releaseAfterPointer } from './controls.js';
import { PlayerInput, unixMs } from './input.js';
import { Tour } from './lessons.js';
import { HallMap } from './map.js';
import { Parties } from './parties.js';
import { Strip } from './strip.js';
import { Rate, SightPanel, bytesPerSecond } from './sight.js';
import { Theme } from './theme.js';
import { TouchPad } from './touch.js';
import { Why } from './why.js';

const kClients = ['A', 'B'];
const kMaps = ['A', 'server', 'B'];
const byId = (id) => document.getElementById(id);
const number = (value, digits = 0) => (Number.isFinite(value) ? value.toFixed(digits) : '–');

const lattice = (window.lattice = { connected: false, messages: 0, hello: null, state: null });

const connection = new Connection(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`, {
  hello: receiveHello,
  state: receiveState,
  ended: (ended) => (lattice.ended = ended),
  status: showStatus,
});
const send = (lattice.send = (message) => connection.send(message));
lattice.feed = (text) => connection.receive(text);

const theme = new Theme();
const parties = new Parties();
const cursor = (lattice.cursor = new ChartCursor());
const strip = (lattice.strip = new Strip(byId('strip')));
const maps = (lattice.maps = {});
for (const name of kMaps) maps[name] = new HallMap(byId(`map-${name}`), name);

const clients = {};
for (const name of kClients) {
  const panel = byId(`client-${name}`);
  const controls = new ClientControls(name, send);
  const charts = document.createElement('div');
  charts.className = 'charts';
  const sight = new SightPanel(name);
  panel.append(controls.makeToggles(), sight.element, charts, controls.makeSliders());
  clients[name] = { controls, sight, charts: new Charts(charts, name, cursor, theme), rollbacks: NaN, resim_ticks: NaN };
}

// Metres across each map.
const zoom = makeSegments(byId('zoom'), 'zoom', [['0', 'Whole hall'], ['64', '64 m'], ['32', '32 m']], '64');
const camera = makeSegments(byId('camera'), 'camera', [['own', 'Each its own'], ['A', 'A'], ['B', 'B']], 'own');
const presetTarget = makeSegments(byId('preset-target'), 'preset-target', [['A', 'A'], ['AB', 'both'], ['B', 'B']], 'AB');
const input = new PlayerInput(send);
new TouchPad(byId('touch'), input);
let presetButtons = null;

for (const button of document.querySelectorAll('[data-trick]')) {
  button.addEventListener('click', () => send({ [button.dataset.trick]: { client: button.dataset.client } }));
  releaseAfterPointer(button);
}

const tour = new Tour(byId('lesson'), (lesson) => {
  for (const name of kClients) clients[name].controls.set(lesson[name]);
  chooseSegment(byId('camera'), lesson.camera);
  if (lesson.zoom) chooseSegment(byId('zoom'), lesson.zoom);
});

const why = (lattice.why = new Why(byId('why'), maps, send, () => lattice.state));
const sending = new Rate();

const kFacts = [
  ['Tick', (s) => number(s.tick)],
  ['Players, joined', (s) => `${number(s.players)}, ${number(s.joins)}`],
  ['Objects', (s) => number(s.alive)],
  ['Tick time p50, 10 s', (s) => `${number(s.tick_p50_ms, 2)} ms`],
  ['Tick time p99, 10 s', (s) => `${number(s.tick_p99_ms, 2)} ms`],
  ['Sends to all', () => bytesPerSecond(sending.rate)],
  ['Busiest client', (s) => bytesPerSecond(s.cap?.recent_bytes_per_s)],
  ['Cap per client', (s) => (s.cap?.bytes_per_s ? bytesPerSecond(s.cap.bytes_per_s) : 'none')],
  ['Last heard', (s, now) => `${number(parties.age('server', now) / 1000, 1)} s ago`],
];
const facts = kFacts.map(([title, read]) => {
  const row = document.createElement('div');
  const term = document.createElement('dt');
  const value = document.createElement('dd');
  term.textContent = title;
  row.append(term, value);
  byId('server-facts').append(row);
  return { read, value };
});

function showStatus(name) {
  lattice.connected = name === 'live';
  if (name === 'live') {
    lattice.ended = null;
    tour.follow();
  }
  showBanner(name === 'ended' ? `The demo has ended. ${lattice.ended?.reason ?? 'It said no reason: the terminal may.'} ` +
    `Start it again with ./lattice demo --port ${location.port || 80}; this page reconnects by itself.` : '');
  setStatus(name, { connecting: 'Connecting…', live: 'Live', ended: 'Ended' }[name]);
}

function showBanner(text) {
  const banner = byId('banner');
  banner.hidden = !text;
  setText(banner, text);
}

function setStatus(kind, text) {
  const status = byId('status');
  status.className = `status ${kind}`;
  setText(status, text);
}

function receiveHello(hello) {
  lattice.hello = hello;
  const arena = hello.arena ?? {};
  if (Number.isFinite(arena.w) && Number.isFinite(arena.h)) for (const map of Object.values(maps)) map.setArena(arena);
  presetButtons = new PresetButtons(byId('presets'), hello.presets ?? [], (preset) => {
    for (const name of presetTarget()) clients[name].controls.apply(preset);
  });
}

/** Takes a state message. It holds only the parties with a new report. */
function receiveState(message) {
  const now = performance.now();
  const state = (lattice.state ??= { clients: {} });
  state.t = message.t ?? state.t;
  lattice.messages++;
  lattice.received_at = now;
  if (message.server) {
    state.server = message.server;
    state.crowd = message.server.crowd ?? state.crowd;
    for (const group of ['resting', 'riding']) {
      if (Array.isArray(message.server[group])) maps.server.parcels.follow(group, message.server[group], now, false);
    }
    sending.add(message.server.t, message.server.bytes_sent);
  }
  why.answer(message.why);
  if (message.press) state.press = message.press;
  if (message.heard) parties.follow(message.heard, now);
  strip.follow(message.press);
  for (const name of kClients) {
    const client = message.clients?.[name];
    if (!client) continue;
    state.clients[name] = client;
    if (Array.isArray(client.parcels)) maps[name].parcels.follow('all', client.parcels, now, true);
    const entry = clients[name];
    if (Array.isArray(client.types)) entry.sight.follow(client.types, client.t);
    // Drawn at the time of the client's report: a page that was held up must draw no gap that was not there.
    entry.charts.add(client.t ?? unixMs(), client);
    entry.controls.follow(client);
    if (client.rollbacks > entry.rollbacks) maps[name].rolledBack(now, client.resim_ticks - entry.resim_ticks);
    entry.rollbacks = client.rollbacks;
    entry.resim_ticks = client.resim_ticks;
  }
}

const pawnOf = (objects, test) => objects?.find?.((o) => o?.kind === 'pawn' && test(o));
const ownPawn = (client) => pawnOf(client?.objects, (o) => o.own);

function drawMaps(now) {
  const { server, clients: known } = lattice.state;
  const peers = {};
  for (const name of kClients) {
    if (known[name]?.peer !== undefined) peers[String(known[name].peer)] = name;
  }
  const pawn = (objects, name) => pawnOf(objects, (o) => peers[String(o.owner)] === name);
  const eyes = {};
  for (const name of kClients) eyes[name] = pawn(server?.objects, name);
  const shared = { metres: Number(zoom()), eyes, overlay: byId('overlay').checked, peers, now };
  const others = {};
  for (const name of kClients) {
    const client = known[name] ?? {};
    const own = ownPawn(client);
    others[name] = own;
    const focus = camera() === 'own' ? own : pawn(client.objects, camera()) ?? own;
    const predicts = client.toggles?.prediction !== false;
    maps[name].draw({ ...shared, objects: client.objects, ghost: predicts ? client.ghost : null, focus, rtt_ms: client.rtt_ms, predicts });
    strip.drew(name, client.t);
  }
  // The server's camera follows the pawn that moved last, A's or B's, so that its map shows the pawn in play.
  const moves = (name) => {
    const p = pawn(server?.objects, name);
    return p !== undefined && Math.hypot(p.vx, p.vy) > 0.5;
  };
  for (const name of kClients) {
    if (lattice.focus === undefined || (moves(name) && lattice.focus !== name && !moves(lattice.focus))) lattice.focus = name;
  }
  maps.server.draw({ ...shared, objects: server?.objects, crowd: lattice.state.crowd, focus: pawn(server?.objects, camera() === 'own' ? lattice.focus : camera()), others });
  strip.drew('server', server?.t);
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** What a refused client said of its schema: its own words, so they are text and nothing else. */
function showSchemaRefusal(server) {
  const count = server?.refused?.server_schema_mismatch ?? 0;
  const told = Array.isArray(server?.schema_differences) ? server.schema_differences.map(String) : [];
  const section = byId('schema-refusal');
  section.hidden = !(count > 0);
  if (section.hidden) return;
  setText(section.querySelector('p'), `${number(count)} messages. ${told.length ? 'The newest client to say what differs:' : 'No client has said what differs.'}`);
  const list = section.querySelector('ul');
  while (list.children.length > told.length) list.lastChild.remove();
  while (list.children.length < told.length) list.append(document.createElement('li'));
  told.forEach((text, i) => setText(list.children[i], text));
}

function captionOf(client) {
  if (!client) return 'not here';
  if (client.connected === false) return 'not connected';
  const age = Number.isFinite(client.others_age_ms) ? `${number(Math.max(0, client.others_age_ms))} ms old` : 'of unknown age';
  const others = client.toggles?.interpolation === false ? `others as received, ${age}` : `others ${age}`;
  return client.toggles?.prediction === false ? others : `${others} · ${number(client.unacked_inputs)} ${client.unacked_inputs === 1 ? 'input' : 'inputs'} ahead`;
}

function showParties(now) {
  const { server, clients: known } = lattice.state;
  for (const { read, value } of facts) setText(value, read(server ?? {}, now));
  showSchemaRefusal(server);
  setText(byId('caption-server'), parties.text('server', now) || `tick ${number(server?.tick)}`);
  for (const name of kClients) clients[name].sight.show(known[name], server);
  for (const name of kClients) setText(byId(`caption-${name}`), parties.text(name, now) || captionOf(known[name]));
  for (const name of kMaps) byId(`map-${name}`).parentElement.classList.toggle('stale', parties.isStale(name, now));
  for (const name of kClients) byId(`client-${name}`).classList.toggle('stale', parties.isStale(name, now));
  const on = (key) => kClients.some((name) => known[name]?.toggles?.[key] !== false);
  byId('legend-ghost').hidden = byId('legend-trail').hidden = !on('prediction');
  if (!lattice.connected) return;
  const silent = now - lattice.received_at > 2000;
  const stale = parties.stale(now).map((name) => (name === 'server' ? 'the server' : `client ${name}`));
  if (silent) setStatus('stale', 'The demo has sent nothing for 2 s');
  else if (stale.length) setStatus('stale', `No word from ${stale.join(', ')}`);
  else setStatus('live', 'Live');
}

let lastSlowDraw = -Infinity;
function frame(now) {
  if (lattice.state) {
    drawMaps(performance.now());
    if (now - lastSlowDraw > 120) {
      lastSlowDraw = now;
      showParties(performance.now());
      const inForce = {}, settings = {};
      for (const name of kClients) {
        clients[name].charts.draw(unixMs());
        inForce[name] = lattice.state.clients[name]?.preset;
        settings[name] = lattice.state.clients[name]?.toggles;
      }
      presetButtons?.mark(inForce, [...presetTarget()]);
      strip.draw(settings);
    }
  }
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);

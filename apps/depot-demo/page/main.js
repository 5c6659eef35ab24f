// Puts the page together: connection, three maps, two client panels, the server's facts.
// window.lattice holds the newest message for tests and the curious.

import { Connection } from './connection.js';
import { ClientControls, Keyboard, makePresetButtons, makeSegments } from './controls.js';
import { HallMap, kColours } from './map.js';
import { NetGraph } from './netgraph.js';

const kClients = ['A', 'B'];
const kSilenceMs = 2000;
const byId = (id) => document.getElementById(id);
const number = (value, digits = 0) => (Number.isFinite(value) ? value.toFixed(digits) : '–');

const lattice = (window.lattice = { connected: false, messages: 0, hello: null, state: null });

const connection = new Connection(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`, {
  hello: receiveHello,
  state: receiveState,
  status: showStatus,
});
const send = (lattice.send = (message) => connection.send(message));
lattice.feed = (text) => connection.receive(text);

const maps = {};
for (const name of ['A', 'server', 'B']) maps[name] = new HallMap(byId(`map-${name}`), name);

const clients = {};
for (const name of kClients) {
  const panel = byId(`client-${name}`);
  const controls = new ClientControls(name, send);
  const charts = document.createElement('div');
  charts.className = 'charts';
  panel.append(controls.makeToggles(), charts, controls.makeSliders());
  clients[name] = { controls, graph: new NetGraph(charts, name, kColours[name]), rollbacks: NaN, resim_ticks: NaN };
}

const zoom = makeSegments(byId('zoom'), 'zoom', [['1', 'Whole hall'], ['2', '2×'], ['4', '4×']], '2');
const presetTarget = makeSegments(byId('preset-target'), 'preset-target', [['A', 'A'], ['AB', 'both'], ['B', 'B']], 'AB');
new Keyboard(send);

const kFacts = [
  ['Tick', (s) => number(s.tick)],
  ['Players', (s) => number(s.players)],
  ['Late inputs', (s) => number(s.late_inputs)],
  ['Tick time p50', (s) => `${number(s.tick_p50_ms, 2)} ms`],
  ['Tick time p99', (s) => `${number(s.tick_p99_ms, 2)} ms`],
  ['Objects', (s) => number(s.objects?.length)],
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
  const status = byId('status');
  status.className = `status ${name}`;
  status.textContent = { connecting: 'Connecting…', live: 'Live', ended: 'Ended' }[name];
  const banner = byId('banner');
  banner.hidden = name !== 'ended';
  if (name === 'ended') {
    banner.textContent = 'The demo process has ended. Start it again with ./lattice demo --port ' +
      `${location.port || 80}; this page reconnects by itself.`;
  }
  document.body.classList.toggle('stale', name === 'ended');
}

function receiveHello(hello) {
  lattice.hello = hello;
  const arena = hello.arena ?? {};
  if (Number.isFinite(arena.w) && Number.isFinite(arena.h)) for (const map of Object.values(maps)) map.setArena(arena);
  makePresetButtons(byId('presets'), hello.presets ?? [], (preset) => {
    for (const name of presetTarget()) clients[name].controls.apply(preset);
  });
}

function receiveState(state) {
  lattice.state = state;
  lattice.messages++;
  lattice.received_at = performance.now();
  for (const name of kClients) {
    const client = state.clients?.[name];
    if (!client) continue;
    const entry = clients[name];
    entry.graph.add(state.t ?? lattice.received_at, client);
    entry.controls.follow(client);
    if (client.rollbacks > entry.rollbacks) {
      maps[name].rolledBack(performance.now(), client.resim_ticks - entry.resim_ticks);
    }
    entry.rollbacks = client.rollbacks;
    entry.resim_ticks = client.resim_ticks;
  }
}

const ownPawn = (client) => client?.objects?.find?.((o) => o?.own && o.kind === 'pawn');

function drawMaps(now) {
  const { server, clients: parties } = lattice.state;
  const peers = {};
  for (const name of kClients) {
    if (parties?.[name]?.peer !== undefined) peers[String(parties[name].peer)] = name;
  }
  const shared = { zoom: Number(zoom()), overlay: byId('overlay').checked, peers, now };
  const others = {};
  for (const name of kClients) {
    const client = parties?.[name] ?? {};
    const own = ownPawn(client);
    others[name] = own;
    maps[name].draw({ ...shared, objects: client.objects, ghost: client.ghost, focus: own, rtt_ms: client.rtt_ms });
  }
  // The server's camera follows whoever moved last, so that its map shows what is being played with.
  for (const name of kClients) {
    const pawn = server?.objects?.find?.((o) => o?.kind === 'pawn' && peers[String(o.owner)] === name);
    if (pawn && (lattice.focus === undefined || Math.hypot(pawn.vx, pawn.vy) > 0.5 && lattice.focus !== name && idle(lattice.focus, server, peers))) {
      lattice.focus = name;
    }
  }
  const followed = server?.objects?.find?.((o) => o?.kind === 'pawn' && peers[String(o.owner)] === lattice.focus);
  maps.server.draw({ ...shared, objects: server?.objects, focus: followed, others });
}

function idle(name, server, peers) {
  const pawn = server.objects.find((o) => o?.kind === 'pawn' && peers[String(o.owner)] === name);
  return !pawn || !(Math.hypot(pawn.vx, pawn.vy) > 0.5);
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function showFacts() {
  const { server, clients: parties } = lattice.state;
  for (const { read, value } of facts) setText(value, read(server ?? {}));
  setText(byId('caption-server'), `tick ${number(server?.tick)}`);
  for (const name of kClients) {
    const client = parties?.[name];
    const text = !client ? 'not here' : client.connected === false ? 'not connected'
      : `others ${number(client.interp_delay_ms)} ms old · ${number(client.unacked_inputs)} inputs unacked`;
    setText(byId(`caption-${name}`), text);
  }
}

let lastSlowDraw = -Infinity;
function frame(now) {
  if (lattice.state) {
    if (lattice.connected && now - lattice.received_at > kSilenceMs) {
      setText(byId('status'), 'Silent: the demo has sent nothing for 2 s');
    } else if (lattice.connected) {
      setText(byId('status'), 'Live');
    }
    drawMaps(now);
    if (now - lastSlowDraw > 120) {
      lastSlowDraw = now;
      showFacts();
      for (const name of kClients) clients[name].graph.draw();
    }
  }
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);

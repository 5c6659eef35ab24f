// The latency strip: how long the last key press took to show on each of the three maps, and where the time went.
//
// Nothing here is computed from settings. The press is stamped with the time of its event. Each process stamps it on
// its way (apps/depot-demo/press_join.h). The page stamps the frame that draws it. The parts of a row are the
// differences of consecutive stamps, so they sum to the total.
//
//   page           from the key event to the client, and from the finished picture to the frame drawn here
//   sampling       until the client's next tick takes the key into an input command
//   link           the command's way to the server, repetitions after a loss included
//   buffer         until the server's tick for that command
//   tick           until the next snapshot leaves
//   return         the snapshot's way to the client
//   interpolation  until the client's picture, drawn in the past on purpose, contains that tick

import { element } from './controls.js';
import { unixMs } from './input.js';

export const kParts = [
  ['page', 'Page'], ['sampling', 'Sampling'], ['link', 'Link'], ['buffer', 'Buffer'], ['tick', 'Tick'], ['return', 'Return'],
  ['interpolation', 'Interpolation'],
];
const kFrames = 900;
const kGiveUpMs = 6000;
const kSayEveryMs = 4000;
const kClients = ['A', 'B'];

/** The stamps of one row, in order: [part that ends here, time or 0]. `frameAt(map, time)` is when the map first drew
*  a state of that time or later. */
function stampsOf(press, map, frameAt) {
  const sampled = [['page', press.heard_ms], ['sampling', press.sampled_ms]];
  const shown = (time) => ['page', time > 0 ? frameAt(map, time) : 0];
  if (map === press.client && press.predicted_ms > 0) {
    return [...sampled, ['interpolation', press.predicted_ms], shown(press.predicted_ms)];
  }
  const applied = [...sampled, ['link', press.arrived_ms], ['buffer', press.applied_ms]];
  if (map === 'server') return [...applied, shown(press.applied_ms)];
  const view = press.views?.[map] ?? {};
  return [...applied, ['tick', view.sent_ms], ['return', view.heard_ms], ['interpolation', view.drawn_ms], shown(view.drawn_ms)];
}

/** {parts, order, total, done}: milliseconds by part. `done` is true once the map has drawn the press. */
export function measure(press, map, frameAt) {
  const parts = Object.fromEntries(kParts.map(([key]) => [key, 0]));
  const order = [];
  // The clocks of page and processes agree to a fraction of a millisecond only: a negative part counts as 0.
  let at = Math.min(press.pressed_ms, press.heard_ms || Infinity), total = 0;
  for (const [part, time] of stampsOf(press, map, frameAt)) {
    if (!(time > 0)) return { parts, order, total, done: false };
    const took = Math.max(0, time - at);
    parts[part] += took;
    order.push([part, took]);
    total += took;
    at = Math.max(at, time);
  }
  return { parts, order, total, done: true };
}

const text = (node, value) => node.textContent !== value && (node.textContent = value);
const round = (ms) => (ms >= 9.95 ? ms.toFixed(0) : ms.toFixed(1));

export class Strip {
  constructor(container) {
    this.frames = { A: [], server: [], B: [] };
    this.title = element('h2', { id: 'strip-title', textContent: 'Latency: press a walking key' });
    this.summary = element('p', { className: 'hidden', id: 'strip-summary', role: 'status' });
    const head = element('tr', {}, element('th', { scope: 'col', textContent: 'To visible motion on' }), element('th', { scope: 'col', textContent: 'Total' }));
    for (const [key, title] of kParts) head.append(element('th', { scope: 'col', className: `part ${key}`, textContent: title }));
    this.rows = ['A', 'server', 'B'].map((map) => this.makeRow(map));
    const table = element('table', { className: 'strip-table' }, element('thead', {}, head), ...this.rows.map((row) => row.body));
    table.setAttribute('aria-labelledby', 'strip-title');
    container.append(this.title, this.summary, table);
  }

  makeRow(map) {
    const label = element('th', { scope: 'row' });
    const total = element('td', { className: 'total', textContent: '–' });
    const cells = kParts.map(([key]) => element('td', { className: `part ${key}`, textContent: '–' }));
    const bar = element('div', { className: 'strip-bar', ariaHidden: 'true' });
    const body = element('tbody', { className: map.toLowerCase(), id: `strip-${map}` },
      element('tr', {}, label, total, ...cells),
      element('tr', { className: 'bar-row', ariaHidden: 'true' }, element('td', { colSpan: kParts.length + 2 }, bar)));
    label.textContent = map === 'server' ? 'Server' : `Client ${map}`;
    return { map, label, total, cells, bar, body };
  }

  /** Takes the newest report about the last press. */
  follow(press) {
    if (!press || !Number.isFinite(press.pressed_ms)) return;
    this.press = press;
    this.dirty = true;
  }

  /** Map `map` was drawn just now from a state of time `stateMs`. */
  drew(map, stateMs) {
    const frames = this.frames[map];
    if (!Number.isFinite(stateMs) || frames[frames.length - 1]?.state === stateMs) return;
    frames.push({ state: stateMs, at: unixMs() });
    if (frames.length > kFrames) frames.shift();
    this.dirty = true;
  }

  frameAt(map, time) {
    return this.frames[map].find((frame) => frame.state >= time)?.at ?? 0;
  }

  /** The newest measurements by map, for tests and the browser's console. */
  get measured() {
    if (!this.press) return null;
    const rows = Object.fromEntries(this.rows.map(({ map }) => [map, measure(this.press, map, (m, t) => this.frameAt(m, t))]));
    return { id: this.press.id, client: this.press.client, predicted: this.press.predicted_ms > 0, rows };
  }

  draw(settings) {
    if (!this.press || !this.dirty) return;
    this.dirty = false;
    const { client, rows } = this.measured;
    const age = unixMs() - this.press.pressed_ms;
    const whole = Math.max(50, ...Object.values(rows).map((row) => row.total));
    text(this.title, `Latency of ${client}'s last key press, in ms`);
    for (const row of this.rows) {
      const { parts, order, total, done } = rows[row.map];
      const predicted = row.map === client && this.press.predicted_ms > 0;
      const whose = row.map === 'server' ? 'Server' : `Client ${row.map}`;
      const how = row.map === 'server' ? '' : row.map !== client ? ', the other player' : predicted ? ', predicted' : settings[client]?.prediction === false ? ', not predicted' : '';
      text(row.label, whose + how);
      text(row.total, done ? round(total) : age > kGiveUpMs ? 'not seen' : '…');
      const reached = new Set(order.map(([part]) => part));
      kParts.forEach(([key], i) => text(row.cells[i], reached.has(key) ? round(parts[key]) : '–'));
      this.drawBar(row.bar, order, whole);
    }
    this.say(client, rows);
  }

  drawBar(bar, order, whole) {
    while (bar.children.length < order.length) bar.append(element('span'));
    while (bar.children.length > order.length) bar.lastChild.remove();
    order.forEach(([part, took], i) => {
      bar.children[i].className = part;
      bar.children[i].style.width = `${(took / whole) * 100}%`;
    });
  }

  /** Announces a press to screen readers: once, and not more often than a person can listen. */
  say(client, rows) {
    const now = performance.now();
    if (!Object.values(rows).every((row) => row.done) || this.said === this.press.id || now - (this.saidAt ?? -Infinity) < kSayEveryMs) return;
    this.said = this.press.id;
    this.saidAt = now;
    const other = kClients.find((name) => name !== client);
    text(this.summary, `${client}'s key press was visible after ${round(rows[client].total)} ms on client ${client}, ` +
      `${round(rows.server.total)} ms on the server, ${round(rows[other].total)} ms on client ${other}.`);
  }
}

// The input of both players: keys and, on a touch screen, a stick. Sends {"input"} when the input changes, and again
// every 100 ms while anything is held. A change of the walking direction is a press, with an id and the time of the
// event, so that its way to the screens can be followed (strip.js).

const kKeys = {
  A: { up: ['KeyW'], left: ['KeyA'], down: ['KeyS'], right: ['KeyD'], fire: ['Space'], dash: ['ShiftLeft'], use: ['KeyE'] },
  B: {
    up: ['ArrowUp'], left: ['ArrowLeft'], down: ['ArrowDown'], right: ['ArrowRight'], fire: ['Enter', 'NumpadEnter'],
    dash: ['ControlRight', 'ShiftRight'], use: ['Slash', 'NumpadDivide'],
  },
};
const kRepeatMs = 100;
const kClockSlackMs = 50;

/** Unix milliseconds of an event or, without one, of now. Falls back to Date when the clock was set meanwhile. */
export function unixMs(timeStamp = performance.now()) {
  const at = performance.timeOrigin + timeStamp;
  const drift = Date.now() - (performance.timeOrigin + performance.now());
  return Math.abs(drift) > kClockSlackMs ? at + drift : at;
}

export class PlayerInput {
  constructor(send) {
    this.send = send;
    this.held = new Set();
    this.pads = { A: null, B: null };
    this.last = {};
    // Ids of two pages must differ: otherwise the server would take a press for a repetition.
    this.press = 1 + Math.floor(Math.random() * 2 ** 30);
    this.codes = new Set(Object.values(kKeys).flatMap((keys) => Object.values(keys).flat()));
    window.addEventListener('keydown', (event) => this.down(event));
    window.addEventListener('keyup', (event) => this.up(event));
    window.addEventListener('blur', () => this.releaseAll());
    document.addEventListener('visibilitychange', () => document.hidden && this.releaseAll());
    document.addEventListener('focusin', (event) => isControl(event.target) && this.releaseAll());
    setInterval(() => this.update(true), kRepeatMs);
  }

  down(event) {
    if (isControl(event.target)) {
      if (event.code === 'Escape') event.target.blur();
      return;
    }
    // Browser shortcuts go to the browser. The right control key alone is B's dash.
    if (event.metaKey || event.altKey || (event.ctrlKey && !this.held.has('ControlRight') && event.code !== 'ControlRight')) return;
    if (!this.codes.has(event.code)) return;
    event.preventDefault();
    this.held.add(event.code);
    this.update(false, event.timeStamp);
  }

  up(event) {
    if (this.held.delete(event.code)) this.update(false, event.timeStamp);
  }

  /** Sets the touch pad of `client`: {x, y, dash, fire, use}, or null when nothing is touched. */
  setPad(client, pad, timeStamp) {
    this.pads[client] = pad;
    this.update(false, timeStamp);
  }

  releaseAll() {
    this.held.clear();
    this.pads = { A: null, B: null };
    this.update(false);
  }

  update(repeat, timeStamp) {
    for (const [client, keys] of Object.entries(kKeys)) {
      const on = (action) => keys[action].some((code) => this.held.has(code));
      const pad = this.pads[client] ?? {};
      const input = {
        client, x: pad.x || on('right') - on('left'), y: pad.y || on('up') - on('down'),
        dash: on('dash') || !!pad.dash, fire: on('fire') || !!pad.fire, use: on('use') || !!pad.use,
      };
      const text = JSON.stringify(input);
      const last = this.last[client] ?? { text, x: 0, y: 0 };
      const idle = !(input.x || input.y || input.dash || input.fire || input.use);
      const changed = text !== last.text || (this.last[client] === undefined && !idle);
      this.last[client] = { text, x: input.x, y: input.y };
      if (!changed && (!repeat || idle)) continue;
      const turned = (input.x || input.y) && (Math.sign(input.x) !== Math.sign(last.x) || Math.sign(input.y) !== Math.sign(last.y));
      if (turned && timeStamp !== undefined) Object.assign(input, { press: ++this.press, pressed_ms: unixMs(timeStamp) });
      this.send({ input });
    }
  }
}

export const isControl = (target) =>
  target instanceof Element && target.closest('input, button, select, textarea, summary, a[href], [contenteditable], [data-own-keys]') !== null;

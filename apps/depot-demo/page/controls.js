// What the player can change: network sliders, toggles, presets, and the keys of both pawns.

const kImpairments = [
  { key: 'delay_ms', title: 'Delay', unit: 'ms', max: 500, step: 5 },
  { key: 'jitter_ms', title: 'Jitter', unit: 'ms', max: 100, step: 1 },
  { key: 'loss_pct', title: 'Loss', unit: '%', max: 50, step: 0.5 },
  { key: 'duplicate_pct', title: 'Duplicate', unit: '%', max: 20, step: 0.5 },
  { key: 'reorder_pct', title: 'Reorder', unit: '%', max: 50, step: 0.5 },
];
const kDirections = [
  { key: 'up', title: 'to server', arrow: '↑' },
  { key: 'down', title: 'to client', arrow: '↓' },
];
const kToggles = [
  { key: 'prediction', title: 'Prediction' },
  { key: 'smoothing', title: 'Reconciliation smoothing' },
  { key: 'interpolation', title: 'Interpolation' },
];

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

// A mouse or finger leaves the control at once, so that the next key is the game's again; a keyboard user
// stays in it.
function releaseAfterPointer(control) {
  control.addEventListener('pointerup', () => setTimeout(() => control.blur()));
}

/** Sliders and toggles of one client. */
export class ClientControls {
  constructor(name, send) {
    this.name = name;
    this.send = send;
    this.sliders = {};
    this.boxes = {};
  }

  makeToggles() {
    const row = element('div', { className: 'toggles' });
    for (const { key, title } of kToggles) {
      const box = element('input', { type: 'checkbox', checked: true, id: `toggle-${this.name}-${key}` });
      box.addEventListener('change', () => this.sendToggles());
      releaseAfterPointer(box);
      this.boxes[key] = box;
      row.append(element('label', { className: 'check' }, box, title));
    }
    return row;
  }

  makeSliders() {
    const head = element('tr', {}, element('th', { scope: 'col', textContent: 'Network' }));
    for (const { title, arrow } of kDirections) {
      head.append(element('th', { scope: 'col', textContent: `${arrow} ${title}` }));
    }
    const body = element('tbody');
    for (const impairment of kImpairments) {
      const row = element('tr', {}, element('th', { scope: 'row', textContent: impairment.title }));
      for (const direction of kDirections) row.append(this.makeSlider(impairment, direction));
      body.append(row);
    }
    return element('table', { className: 'sliders' }, element('thead', {}, head), body);
  }

  makeSlider(impairment, direction) {
    const { key, title, unit, max, step } = impairment;
    const input = element('input', {
      type: 'range', min: 0, max, step, value: 0, id: `${key}-${this.name}-${direction.key}`,
      ariaLabel: `${title} of client ${this.name}, ${direction.title}, in ${unit === '%' ? 'percent' : 'milliseconds'}`,
    });
    const output = element('output', { htmlFor: input.id });
    const slider = { input, output, unit, holding: false };
    (this.sliders[direction.key] ??= {})[key] = slider;
    show(slider);
    input.addEventListener('input', () => {
      show(slider);
      this.sendImpairment(direction.key);
    });
    input.addEventListener('pointerdown', () => (slider.holding = true));
    input.addEventListener('pointerup', () => (slider.holding = false));
    input.addEventListener('pointercancel', () => (slider.holding = false));
    releaseAfterPointer(input);
    return element('td', {}, element('div', {}, input, output));
  }

  sendToggles() {
    const toggle = { client: this.name };
    for (const { key } of kToggles) toggle[key] = this.boxes[key].checked;
    this.changedAt = performance.now();
    this.send({ toggle });
  }

  sendImpairment(direction) {
    const impair = { client: this.name, direction };
    for (const { key } of kImpairments) impair[key] = Number(this.sliders[direction][key].input.value);
    this.changedAt = performance.now();
    this.send({ impair });
  }

  /** A preset holds one direction's values, or both as {up, down}. */
  apply(preset) {
    for (const { key: direction } of kDirections) {
      const values = preset[direction] ?? preset;
      for (const { key } of kImpairments) set(this.sliders[direction][key], Number(values[key]) || 0);
    }
    // By name, because a preset is more than its sliders: bursts of loss, a rate limit and its queue.
    this.changedAt = performance.now();
    this.send({ preset: { client: this.name, name: preset.name } });
  }

  /** Follows what the demo says it uses: a reloaded page, or a second one, shows the truth. */
  follow(client) {
    // What was sent a moment ago is not echoed yet.
    if (this.changedAt !== undefined && performance.now() - this.changedAt < 500) return;
    for (const { key } of kToggles) {
      const value = client.toggles?.[key];
      if (typeof value === 'boolean' && this.boxes[key].checked !== value) this.boxes[key].checked = value;
    }
    for (const { key: direction } of kDirections) {
      for (const { key } of kImpairments) {
        const value = client.impair?.[direction]?.[key];
        const slider = this.sliders[direction][key];
        if (Number.isFinite(value) && !slider.holding && slider.shown !== value) set(slider, value);
      }
    }
  }
}

function set(slider, value) {
  slider.input.value = value;
  show(slider, value);
}

// `value` may lie beyond the slider's end; the number shown is then the real one.
function show(slider, value = Number(slider.input.value)) {
  slider.shown = value;
  slider.output.textContent = `${Number.isInteger(value) ? value : value.toFixed(1)} ${slider.unit}`;
  slider.output.classList.toggle('zero', value === 0);
  slider.input.setAttribute('aria-valuetext', slider.output.textContent);
}

/** A row of radio buttons that looks like one control; returns a function that reads the choice. */
export function makeSegments(fieldset, name, choices, chosen, changed = () => {}) {
  let current = chosen;
  for (const [value, text] of choices) {
    const input = element('input', { type: 'radio', name, value, checked: value === chosen });
    input.addEventListener('change', () => changed((current = value)));
    fieldset.append(element('label', {}, input, element('span', { textContent: text })));
    releaseAfterPointer(input.parentElement);
    input.addEventListener('click', (event) => event.detail && input.blur());
  }
  return () => current;
}

export function makePresetButtons(container, presets, apply) {
  container.replaceChildren();
  for (const preset of presets) {
    if (!preset || typeof preset.name !== 'string') continue;
    const button = element('button', { type: 'button', textContent: preset.name, title: describe(preset) });
    button.addEventListener('click', () => apply(preset));
    releaseAfterPointer(button);
    container.append(button);
  }
}

function describe(preset) {
  const values = preset.down ?? preset;
  return kImpairments
    .filter(({ key }) => Number(values[key]) > 0)
    .map(({ key, title, unit }) => `${title.toLowerCase()} ${values[key]} ${unit}`)
    .join(', ') || 'a perfect link';
}

const kKeys = {
  A: { up: ['KeyW'], left: ['KeyA'], down: ['KeyS'], right: ['KeyD'], fire: ['Space'], dash: ['ShiftLeft'], use: ['KeyE'] },
  B: {
    up: ['ArrowUp'], left: ['ArrowLeft'], down: ['ArrowDown'], right: ['ArrowRight'], fire: ['Enter', 'NumpadEnter'],
    dash: ['ControlRight', 'ShiftRight'], use: ['Slash', 'NumpadDivide'],
  },
};
const kRepeatMs = 100;

/** Sends {"input"} when a pawn's keys change, and again every 100 ms while any is held. */
export class Keyboard {
  constructor(send) {
    this.send = send;
    this.held = new Set();
    this.last = {};
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
    // Browser shortcuts stay the browser's; the right control key alone is B's dash.
    if (event.metaKey || event.altKey || (event.ctrlKey && !this.held.has('ControlRight') && event.code !== 'ControlRight')) return;
    if (!this.codes.has(event.code)) return;
    event.preventDefault();
    this.held.add(event.code);
    this.update(false);
  }

  up(event) {
    if (this.held.delete(event.code)) this.update(false);
  }

  releaseAll() {
    this.held.clear();
    this.update(false);
  }

  update(repeat) {
    for (const [client, keys] of Object.entries(kKeys)) {
      const on = (action) => keys[action].some((code) => this.held.has(code));
      const input = {
        client, x: on('right') - on('left'), y: on('up') - on('down'),
        dash: on('dash'), fire: on('fire'), use: on('use'),
      };
      const text = JSON.stringify(input);
      const idle = !(input.x || input.y || input.dash || input.fire || input.use);
      const changed = text !== (this.last[client] ?? text) || (this.last[client] === undefined && !idle);
      this.last[client] = text;
      if (changed || (repeat && !idle)) this.send({ input });
    }
  }
}

const isControl = (target) =>
  target instanceof Element && target.closest('input, button, select, textarea, [contenteditable]') !== null;

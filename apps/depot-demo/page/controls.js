// The controls for the network and the library: sliders, toggles and presets.

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

// How long a busy machine may take to echo a new setting.
const kEchoMs = 1500;

export const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

// After a click or touch the control loses the focus at once, so that the next key goes to the game. A keyboard user
// keeps the focus.
export function releaseAfterPointer(control) {
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
    const row = element('div', { className: 'toggles' }, element('h2', { textContent: `Client ${this.name}` }));
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

  /** Sets toggles, and impairment values in both directions, as a lesson does. */
  set({ toggles = {}, impair = {} }) {
    for (const [key, on] of Object.entries(toggles)) this.boxes[key].checked = on;
    this.sendToggles();
    for (const { key: direction } of kDirections) {
      for (const { key } of kImpairments) set(this.sliders[direction][key], impair[key] ?? 0);
      this.sendImpairment(direction);
    }
  }

  sendImpairment(direction) {
    const impair = { client: this.name, direction };
    for (const { key } of kImpairments) impair[key] = Number(this.sliders[direction][key].input.value);
    this.changedAt = performance.now();
    this.send({ impair });
  }

  /** A preset holds the values of one direction, or of both as {up, down}. */
  apply(preset) {
    for (const { key: direction } of kDirections) {
      const values = preset[direction] ?? preset;
      for (const { key } of kImpairments) set(this.sliders[direction][key], Number(values[key]) || 0);
    }
    // Sent by name, because a preset has more than the sliders show: bursts of loss, a rate limit and its queue.
    this.changedAt = performance.now();
    this.send({ preset: { client: this.name, name: preset.name } });
  }

  /** Shows the settings that the demo reports. So a reloaded page, or a second page, shows the true settings. */
  follow(client) {
    // The demo has not echoed a setting that was sent a moment ago.
    if (this.changedAt !== undefined && performance.now() - this.changedAt < kEchoMs) return;
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

// `value` may lie beyond the end of the slider. The number beside the slider is then the real value.
function show(slider, value = Number(slider.input.value)) {
  slider.shown = value;
  slider.output.textContent = `${Number.isInteger(value) ? value : value.toFixed(1)} ${slider.unit}`;
  slider.output.classList.toggle('zero', value === 0);
  slider.input.setAttribute('aria-valuetext', slider.output.textContent);
}

/** Makes a row of radio buttons that looks like one control. Returns a function that reads the choice. */
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

/** Chooses one of a row of makeSegments() as a click would. */
export function chooseSegment(fieldset, value) {
  fieldset.querySelector(`input[value="${value}"]`)?.click();
}

/** One button for each preset and one for a perfect link. mark() shows which preset is in force for which client. */
export class PresetButtons {
  constructor(container, presets, apply) {
    container.replaceChildren();
    this.buttons = new Map();
    const known = presets.filter((preset) => preset && typeof preset.name === 'string');
    for (const preset of [{ name: 'none' }, ...known]) {
      const marks = element('span', { className: 'in-force' });
      const button = element('button', { type: 'button', title: describe(preset) }, preset.name === 'none' ? 'perfect' : preset.name, marks);
      button.addEventListener('click', () => apply(preset));
      releaseAfterPointer(button);
      container.append(button);
      this.buttons.set(preset.name, { button, marks });
    }
  }

  /** `inForce` maps a client's name to the preset that it reports. `targets` are the clients that a click is for. */
  mark(inForce, targets) {
    for (const [name, { button, marks }] of this.buttons) {
      const users = Object.keys(inForce).filter((client) => inForce[client] === name);
      const text = users.join(' ');
      if (marks.textContent !== text) marks.textContent = text;
      const pressed = String(targets.length > 0 && targets.every((client) => users.includes(client)));
      if (button.getAttribute('aria-pressed') !== pressed) button.setAttribute('aria-pressed', pressed);
    }
  }
}

function describe(preset) {
  const values = preset.down ?? preset;
  return kImpairments
    .filter(({ key }) => Number(values[key]) > 0)
    .map(({ key, title, unit }) => `${title.toLowerCase()} ${values[key]} ${unit}`)
    .join(', ') || 'a perfect link';
}

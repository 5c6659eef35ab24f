// A stick and three buttons on the screen, for players without a keyboard. They appear with the first touch, or at
// once where touch is the only pointer.

import { element, makeSegments } from './controls.js';

const kActions = [['fire', 'Fire'], ['dash', 'Dash'], ['use', 'Door']];
const kDead = 0.25;

export class TouchPad {
  /** `input` is the PlayerInput. */
  constructor(container, input) {
    this.input = input;
    this.pad = { x: 0, y: 0, dash: false, fire: false, use: false };
    const who = element('fieldset', { className: 'segments' }, element('legend', { className: 'hidden', textContent: 'Play as' }));
    this.player = makeSegments(who, 'touch-player', [['A', 'A'], ['B', 'B']], 'A', () => this.release());
    this.knob = element('span', { className: 'knob' });
    this.stick = element('div', { className: 'stick', ariaHidden: 'true' }, this.knob);
    const buttons = element('div', { className: 'pad-buttons', role: 'group', ariaLabel: 'Actions' });
    for (const [key, title] of kActions) buttons.append(this.makeButton(key, title));
    container.append(this.stick, element('div', { className: 'pad-who' }, who), buttons);
    this.stick.addEventListener('pointerdown', (event) => {
      this.stick.setPointerCapture(event.pointerId);
      this.steer(event);
    });
    this.stick.addEventListener('pointermove', (event) => event.pressure > 0 && this.steer(event));
    for (const type of ['pointerup', 'pointercancel']) this.stick.addEventListener(type, (event) => this.centre(event));
    const show = () => (container.hidden = false);
    if (window.matchMedia?.('(hover: none) and (pointer: coarse)').matches) show();
    else window.addEventListener('touchstart', show, { once: true, passive: true });
  }

  makeButton(key, title) {
    const button = element('button', { type: 'button', textContent: title, id: `touch-${key}` });
    const set = (on) => (event) => {
      this.pad[key] = on;
      this.tell(event);
    };
    button.addEventListener('pointerdown', set(true));
    for (const type of ['pointerup', 'pointercancel', 'pointerleave']) button.addEventListener(type, set(false));
    return button;
  }

  steer(event) {
    const box = this.stick.getBoundingClientRect();
    let x = ((event.clientX - box.left) / box.width) * 2 - 1, y = 1 - ((event.clientY - box.top) / box.height) * 2;
    const length = Math.hypot(x, y);
    if (length > 1) [x, y] = [x / length, y / length];
    this.knob.style.transform = `translate(${x * 32}px, ${-y * 32}px)`;
    // A thumb moves a little sideways without meaning to.
    Object.assign(this.pad, { x: Math.abs(x) < kDead ? 0 : x, y: Math.abs(y) < kDead ? 0 : y });
    this.tell(event);
  }

  centre(event) {
    this.knob.style.transform = '';
    Object.assign(this.pad, { x: 0, y: 0 });
    this.tell(event);
  }

  release() {
    this.input.setPad('A', null);
    this.input.setPad('B', null);
  }

  tell(event) {
    this.input.setPad(this.player(), { ...this.pad }, event.timeStamp);
  }
}

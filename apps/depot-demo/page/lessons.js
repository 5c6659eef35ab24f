// A tour of six lessons. Each sets the controls, and says what to do and what to watch. #lesson=1 to 6 opens one.

import { element, releaseAfterPointer } from './controls.js';

const kOn = { prediction: true, smoothing: true, interpolation: true };
const kFar = { delay_ms: 100 };

export const kLessons = [
  {
    title: 'Your own pawn does not wait', camera: 'A',
    A: { toggles: kOn, impair: kFar }, B: { toggles: kOn, impair: kFar },
    text: 'Each way takes 100 ms now, so a round trip takes 200 ms. Walk with D and A. The strip shows client A moving after a ' +
      'few tens of milliseconds: client A predicts what the server will decide. The server and client B see the step later.',
  },
  {
    title: 'Without prediction you wait', camera: 'A',
    A: { toggles: { ...kOn, prediction: false }, impair: kFar }, B: { toggles: kOn, impair: kFar },
    text: 'The link is the same, but client A no longer predicts. Walk again. The row of client A now has every part: link to the ' +
      'server, buffer, tick, return and interpolation. Tick Prediction and walk once more to feel the difference.',
  },
  {
    title: 'Others are drawn in the past', camera: 'A',
    A: { toggles: kOn, impair: kFar }, B: { toggles: { ...kOn, interpolation: false }, impair: { delay_ms: 100, jitter_ms: 40 } },
    text: 'Walk with D and watch pawn A on the map of client B: it stutters, because client B draws each snapshot as it comes, and ' +
      'the link jitters by 40 ms. Tick Interpolation of client B: its picture grows older by the number above its map, and smooth.',
  },
  {
    title: 'When the client was wrong', camera: 'A', tricks: true,
    A: { toggles: kOn, impair: kFar }, B: { toggles: kOn, impair: kFar },
    text: 'Walk and press “Shove A”: the server knocks the pawn aside, which client A cannot foresee. When it hears of it, it rolls ' +
      'back, replays its newest inputs (the ring and number at the pawn) and eases the error away. Untick smoothing: the pawn jumps. ' +
      '“Server disagrees” refuses the next steps instead. Watch rollbacks and own-pawn error.',
  },
  {
    title: 'Lost packets', camera: 'A',
    A: { toggles: kOn, impair: { delay_ms: 50, loss_pct: 20 } }, B: { toggles: kOn, impair: { delay_ms: 50 } },
    text: 'One packet in five of client A is lost, each way. Walk: it still feels the same. Each packet repeats the inputs the server has not ' +
      'acknowledged, so few are late (“Late inputs”). The loss chart shows what was lost in the last second beside the dashed line ' +
      'of what was set.',
  },
  {
    title: 'A client has what it sees', camera: 'own', zoom: '64',
    A: { toggles: kOn, impair: { delay_ms: 20 } }, B: { toggles: kOn, impair: { delay_ms: 20 } },
    text: 'The circle is what client A sees. Beyond it the map of client A is dark, because client A has nothing there: the small map shows ' +
      'how little of the hall that is. Walk with W through the gate: green frames come into sight, red ones go. The room ahead is shut ' +
      'and looks empty. Press E at its door: its parcels appear. Click anything on a map, and the server says why a client has it or not.',
  },
];

export class Tour {
  /** `apply(lesson)` sets the controls. */
  constructor(container, apply) {
    this.apply = apply;
    this.container = container;
    this.heading = element('h2', { id: 'lesson-title', tabIndex: -1 });
    this.text = element('p', { id: 'lesson-text' });
    this.back = this.makeButton('Back', () => this.go(this.number - 1));
    this.next = this.makeButton('Next', () => this.go(this.number + 1));
    const close = this.makeButton('End the tour', () => this.go(0));
    container.append(this.heading, this.text, element('div', { className: 'lesson-buttons' }, this.back, this.next, close));
    window.addEventListener('hashchange', () => this.follow());
  }

  makeButton(title, act) {
    const button = element('button', { type: 'button', textContent: title });
    button.addEventListener('click', act);
    releaseAfterPointer(button);
    return button;
  }

  go(number) {
    if (number >= 1 && number <= kLessons.length) location.hash = `lesson=${number}`;
    else history.replaceState(null, '', location.pathname + location.search), this.follow();
  }

  /** Shows the lesson that the address names, and sets its controls. Call it again once the demo is connected. */
  follow() {
    this.number = Number(location.hash.match(/^#lesson=([1-9])$/)?.[1] ?? 0);
    const lesson = kLessons[this.number - 1];
    this.container.hidden = !lesson;
    if (!lesson) return;
    this.heading.textContent = `Lesson ${this.number} of ${kLessons.length}: ${lesson.title}`;
    this.text.textContent = lesson.text;
    this.back.disabled = this.number === 1;
    this.next.disabled = this.number === kLessons.length;
    this.apply(lesson);
  }
}

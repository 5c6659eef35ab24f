// Knows how long ago the server and both clients last reported: a frozen or dead process must not look alive.

const kStaleMs = 500;
const kNames = ['A', 'server', 'B'];

export class Parties {
  constructor() {
    this.heard = {};
    this.toldAt = -Infinity;
  }

  /** `heard` says how long ago the demo had heard each party at the time `now`. */
  follow(heard, now) {
    this.heard = heard ?? {};
    this.toldAt = now;
  }

  /** Milliseconds since a party was heard, never negative; NaN before the first time. The demo's silence counts. */
  age(name, now) {
    return Math.max(0, this.heard[name]) + Math.max(0, now - this.toldAt);
  }

  isStale(name, now) {
    return this.age(name, now) > kStaleMs;
  }

  stale(now) {
    return kNames.filter((name) => this.isStale(name, now));
  }

  /** A text for a party that is not heard any more; "" while it is heard. */
  text(name, now) {
    return this.isStale(name, now) ? `last heard ${(this.age(name, now) / 1000).toFixed(1)} s ago` : '';
  }
}

// Whether the server and both clients are still heard: a process that froze or died must not look alive.

const kStaleMs = 500;
const kNames = ['A', 'server', 'B'];

export class Parties {
  constructor() {
    this.heard = {};
    this.toldAt = -Infinity;
  }

  /** `heard`: how long ago the demo heard each, as it said at `now`. */
  follow(heard, now) {
    this.heard = heard ?? {};
    this.toldAt = now;
  }

  /** Milliseconds since a party was heard, never negative; NaN before the first time. The demo's own silence counts. */
  age(name, now) {
    return Math.max(0, this.heard[name]) + Math.max(0, now - this.toldAt);
  }

  isStale(name, now) {
    return this.age(name, now) > kStaleMs;
  }

  stale(now) {
    return kNames.filter((name) => this.isStale(name, now));
  }

  /** "" while a party is heard. */
  text(name, now) {
    return this.isStale(name, now) ? `last heard ${(this.age(name, now) / 1000).toFixed(1)} s ago` : '';
  }
}

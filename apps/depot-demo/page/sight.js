// What a client sees of the world: how many objects it has, how many came and went, and what they cost by type.

export const bytesPerSecond = (value) => (!Number.isFinite(value) ? '–' : value >= 1e6 ? `${(value / 1e6).toFixed(2)} MB/s` : `${(value / 1000).toFixed(1)} kB/s`);
const number = (value) => (Number.isFinite(value) ? value.toLocaleString('en') : '–');

/** The rate of a counter over the last second. */
export class Rate {
  constructor() {
    this.samples = [];
  }

  add(t_ms, count) {
    if (!Number.isFinite(t_ms) || !Number.isFinite(count)) return;
    this.samples.push({ t_ms, count });
    while (this.samples.length > 2 && this.samples[1].t_ms <= t_ms - 1000) this.samples.shift();
  }

  get rate() {
    const first = this.samples[0], last = this.samples[this.samples.length - 1];
    return last && last.t_ms > first.t_ms ? ((last.count - first.count) * 1000) / (last.t_ms - first.t_ms) : NaN;
  }
}

const kCounts = [
  ['has', 'objects this client has now'], ['of', 'objects the server has'], ['entered', 'came into sight, or were made in it'],
  ['left', 'went out of sight, and live on'], ['destroyed', 'were destroyed while this client had them'],
];

export class SightPanel {
  constructor(name) {
    this.element = document.createElement('section');
    this.element.className = 'sight';
    this.element.setAttribute('aria-label', `What client ${name} sees`);
    const title = document.createElement('h2');
    title.textContent = 'In sight';
    const counts = document.createElement('dl');
    this.values = {};
    for (const [key, meaning] of kCounts) {
      const row = document.createElement('div');
      const term = document.createElement('dt'), value = document.createElement('dd');
      term.textContent = key;
      value.textContent = '–';
      row.title = meaning;
      row.append(term, value);
      counts.append(row);
      this.values[key] = value;
    }
    const table = document.createElement('table');
    const caption = document.createElement('caption');
    caption.className = 'hidden';
    caption.textContent = `What client ${name} receives, by type`;
    this.head = table.createTHead().insertRow();
    this.bytes = table.createTBody().insertRow();
    table.prepend(caption);
    this.rates = new Map();
    this.element.append(title, counts, table);
  }

  /** Takes the totals of each type: [{"name","objects","bits"}]. The client has their sum, of the same moment. */
  follow(types, t_ms) {
    this.put('has', types.reduce((sum, { objects }) => sum + objects, 0));
    for (const { name, objects, bits } of types) {
      if (!this.rates.has(name)) {
        const title = document.createElement('th');
        title.scope = 'col';
        this.head.append(title);
        this.rates.set(name, { rate: new Rate(), title, value: this.bytes.insertCell() });
      }
      const { rate, title, value } = this.rates.get(name);
      rate.add(t_ms, bits / 8);
      title.textContent = `${number(objects)} ${name}`;
      value.textContent = bytesPerSecond(rate.rate);
    }
  }

  show(client, server) {
    const sight = client?.sight ?? {};
    const shown = { of: server?.alive, entered: sight.entered, left: sight.left, destroyed: sight.destroyed };
    for (const [key, value] of Object.entries(shown)) this.put(key, value);
  }

  put(key, value) {
    const text = number(value);
    if (this.values[key].textContent !== text) this.values[key].textContent = text;
  }
}

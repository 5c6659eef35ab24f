// The parcels that one party knows, by id, and marks where one came into sight or went out of it.

const kMarkMs = 900;
const kMaxMarks = 400;
const kLayerMs = 250;  // how often the picture of all parcels is painted anew

const calm = window.matchMedia?.('(prefers-reduced-motion: reduce)').matches ?? false;

export class Parcels {
  constructor() {
    this.groups = new Map();
    this.marks = [];
    this.changed = false;
  }

  /** Takes a whole list [id, x, y, …] in centimetres. A client has one group, the server those at rest and those on belts. */
  follow(group, places, now, marks) {
    const last = this.groups.get(group);
    const next = new Map();
    for (let i = 0; i + 2 < places.length; i += 3) next.set(places[i], { x: places[i + 1] / 100, y: places[i + 2] / 100 });
    if (marks && last && !calm) {
      for (const [id, at] of next) if (!last.has(id)) this.mark(at, true, now);
      for (const [id, at] of last) if (!next.has(id)) this.mark(at, false, now);
    }
    this.groups.set(group, next);
    this.changed = true;
  }

  mark(at, enters, now) {
    if (this.marks.length < kMaxMarks) this.marks.push({ ...at, enters, now });
  }

  get count() {
    let count = 0;
    for (const group of this.groups.values()) count += group.size;
    return count;
  }

  forEach(call) {
    for (const group of this.groups.values()) for (const [id, { x, y }] of group) call(id, x, y);
  }

  draw({ context, px, py, scale, view }, { left, bottom, across, up }) {
    const size = Math.max(1.5, scale * 0.5);
    for (const [group, parcels] of this.groups) {
      context.fillStyle = group === 'resting' ? '#7d6647' : '#a5834f';
      for (const { x, y } of parcels.values()) {
        if (x < left - 1 || y < bottom - 1 || x > left + across + 1 || y > bottom + up + 1) continue;
        context.fillRect(px(x) - size / 2, py(y) - size / 2, size, size);
      }
    }
    this.marks = this.marks.filter((mark) => view.now - mark.now < kMarkMs);
    for (const { x, y, enters, now } of this.marks) {
      const age = (view.now - now) / kMarkMs;
      context.globalAlpha = 1 - age;
      context.strokeStyle = enters ? '#8fdcab' : '#ff7a6b';
      context.lineWidth = 1.5;
      const reach = size / 2 + (enters ? 6 * (1 - age) : 6 * age);
      context.strokeRect(px(x) - reach, py(y) - reach, 2 * reach, 2 * reach);
    }
    context.globalAlpha = 1;
  }

  /** All parcels as points, for the overview. There may be ten thousand: they are painted into a picture now and then. */
  drawLayer(context, { left, top, scale, ratio, w, h }, now) {
    if (!this.layer || this.layerScale !== scale * ratio || (this.changed && now - this.paintedAt > kLayerMs)) {
      this.layer ??= document.createElement('canvas');
      this.layer.width = Math.ceil(w * scale * ratio);
      this.layer.height = Math.ceil(h * scale * ratio);
      const picture = this.layer.getContext('2d').createImageData(this.layer.width, this.layer.height);
      const pixels = new Uint32Array(picture.data.buffer);
      this.forEach((id, x, y) => {
        const column = Math.floor(x * scale * ratio), row = Math.floor((h - y) * scale * ratio);
        if (column >= 0 && column < picture.width && row >= 0 && row < picture.height) pixels[row * picture.width + column] = 0xff4f83a5;
      });
      this.layer.getContext('2d').putImageData(picture, 0, 0);
      Object.assign(this, { layerScale: scale * ratio, paintedAt: now, changed: false });
    }
    context.drawImage(this.layer, left, top, w * scale, h * scale);
  }
}

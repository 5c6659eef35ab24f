// The charts of one client: the last 30 seconds, with axes, units and a legend. The legend shows each line's present
// value. While a pointer or the arrow keys hold the cursor, all charts of the page show the values at its moment.

import { element } from './controls.js';

const kWindowMs = 30000;
const kSampleMs = 100;
const kGapMs = 500;
const kLeft = 34, kBottom = 13, kTop = 5;
const kCursorStepMs = 500;

/** One quantity over time. Each point is the largest value in its 100 ms, so spikes survive. */
class Series {
  constructor() {
    this.points = [];
  }

  add(time, value) {
    const last = this.points[this.points.length - 1];
    if (last && time < last.time) this.points.length = 0;  // the demo was restarted
    if (!Number.isFinite(value)) return;
    if (last && time - last.time < kSampleMs) last.value = Math.max(last.value, value);
    else this.points.push({ time, value });
    while (this.points.length && this.points[0].time < time - kWindowMs - 1000) this.points.shift();
  }

  /** The value at `time`; NaN in a gap. */
  at(time) {
    const point = this.points.findLast((p) => p.time <= time);
    return point && time - point.time < kGapMs ? point.value : NaN;
  }
}

/** Turns a counter since the start into the number of events in the last second. */
class Rate {
  constructor() {
    this.samples = [];
  }

  per_second(time, count) {
    if (!Number.isFinite(count)) return NaN;
    const last = this.samples[this.samples.length - 1];
    if (last && (count < last.count || time < last.time)) this.samples.length = 0;
    this.samples.push({ time, count });
    while (this.samples.length > 2 && this.samples[1].time <= time - 1000) this.samples.shift();
    const first = this.samples[0];
    // Over a shorter time, one event would look like many per second.
    return time - first.time >= 900 ? ((count - first.count) * 1000) / (time - first.time) : NaN;
  }
}

const kSolid = [], kDashed = [4, 3];
const set = (c, key) => c.impair && (c.impair.up?.[key] ?? 0) + (c.impair.down?.[key] ?? 0);

// least: the smallest full scale, so that noise near zero looks small. lines: title, value, shade, dash.
// A line titled `set` shows the values of the sliders, to compare with the measured values.
const kCharts = [
  { title: 'Round trip', unit: 'ms', least: 50, lines: [
    ['measured', (c) => c.rtt_ms, 1, kSolid], ['jitter', (c) => c.jitter_ms, 0.5, kSolid], ['set', (c) => set(c, 'delay_ms'), 0.8, kDashed]] },
  { title: 'Loss, last second', unit: '%', least: 5, digits: 1, lines: [
    ['↑', (c) => c.loss_up_pct, 1, kSolid], ['set ↑', (c) => c.impair?.up?.loss_pct, 0.8, kDashed],
    ['↓', (c) => c.loss_down_pct, 0.5, kSolid], ['set ↓', (c) => c.impair?.down?.loss_pct, 0.4, kDashed]] },
  { title: 'Traffic', unit: 'kB/s', least: 2, digits: 1, lines: [
    ['↓', (c) => c.down_Bps / 1000, 1, kSolid], ['↑', (c) => c.up_Bps / 1000, 0.5, kSolid]] },
  { title: 'Age of others', unit: 'ms', least: 100, lines: [['as drawn', (c) => c.others_age_ms, 1, kSolid]] },
  { title: 'Rollbacks', unit: '/s', least: 5, digits: 1, lines: [['rollbacks', (c, r) => r.rollbacks, 1, kSolid]] },
  { title: 'Own-pawn error', unit: 'mm', least: 20, lines: [['error', (c) => c.error_mm, 1, kSolid]] },
  { title: 'Input margin', unit: 'ticks', least: 4, digits: 1, lines: [['early by', (c) => c.input_margin_ticks, 1, kSolid]] },
  { title: 'Late inputs', unit: '/s', least: 5, digits: 1, lines: [['late or lost', (c, r) => r.late, 1, kSolid]] },
];

/** The moment at which the cursor of all charts is, in milliseconds before now; null: no cursor. */
export class ChartCursor {
  constructor() {
    this.ago = null;
  }

  move(ago) {
    this.ago = ago === null ? null : Math.min(Math.max(ago, 0), kWindowMs);
  }

  attach(canvas) {
    canvas.addEventListener('pointermove', (event) => {
      const box = canvas.getBoundingClientRect();
      const share = (event.clientX - box.left - kLeft) / Math.max(1, box.width - kLeft);
      this.move((1 - share) * kWindowMs);
    });
    canvas.addEventListener('pointerleave', () => this.move(null));
    canvas.addEventListener('blur', () => this.move(null));
    canvas.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: kCursorStepMs, ArrowRight: -kCursorStepMs }[event.key];
      if (step) this.move((this.ago ?? 0) + step);
      else if (event.key === 'Escape') canvas.blur();
      else return;
      event.preventDefault();
    });
  }
}

export class Charts {
  constructor(container, name, cursor, theme) {
    this.name = name;
    this.cursor = cursor;
    this.theme = theme;
    this.rates = { rollbacks: new Rate(), late: new Rate() };
    this.charts = kCharts.map((chart) => this.makeChart(container, chart));
  }

  makeChart(container, chart) {
    const legend = element('dl', { className: 'chart-legend' });
    const values = chart.lines.map(([title, , shade, dash]) => {
      const value = element('dd', { textContent: '–' });
      const sample = element('span', { className: dash.length ? 'sample dashed' : 'sample', ariaHidden: 'true' });
      sample.style.opacity = shade;
      legend.append(element('div', {}, element('dt', {}, sample, title), value));
      return value;
    });
    const canvas = element('canvas', { tabIndex: 0 });
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('data-own-keys', '');
    canvas.setAttribute('aria-label', `${chart.title} of client ${this.name} in ${chart.unit}, last 30 seconds; left and right arrow keys read earlier values`);
    this.cursor.attach(canvas);
    const title = element('h3', {}, chart.title, element('small', { textContent: ` ${chart.unit}` }));
    container.append(element('section', { className: 'chart', ariaLabel: `${chart.title}, client ${this.name}` }, title, legend, canvas));
    return { ...chart, canvas, values, series: chart.lines.map(() => new Series()) };
  }

  add(time, client) {
    const rates = { rollbacks: this.rates.rollbacks.per_second(time, client.rollbacks), late: this.rates.late.per_second(time, client.inputs_late) };
    for (const chart of this.charts) chart.lines.forEach(([, read], i) => chart.series[i].add(time, read(client, rates)));
  }

  /** `now` is the time at the right edge, on the clock of add(). When nothing is added, a gap grows there. */
  draw(now) {
    for (const chart of this.charts) this.drawChart(chart, now);
  }

  drawChart(chart, now) {
    const { context, width, height } = fit(chart.canvas);
    const colours = this.theme.colours;
    const values = chart.series.map((series) => series.at(now - (this.cursor.ago ?? 0)));
    chart.values.forEach((node, i) => {
      const text = Number.isFinite(values[i]) ? values[i].toFixed(chart.digits ?? 0) : '–';
      if (node.textContent !== text) node.textContent = text;
    });
    context.clearRect(0, 0, width, height);
    let top = chart.least;
    for (const series of chart.series) for (const p of series.points) if (p.time > now - kWindowMs) top = Math.max(top, p.value);
    top = niceTop(top);
    const x = (time) => kLeft + (1 - (now - time) / kWindowMs) * (width - kLeft - 1);
    const y = (value) => height - kBottom - (Math.max(value, 0) / top) * (height - kBottom - kTop);
    this.drawAxes(context, { x, y, top, now, width, height, colours });
    context.save();
    context.beginPath();
    context.rect(kLeft, 0, width - kLeft, height);
    context.clip();
    chart.series.forEach((series, i) => {
      const [, , shade, dash] = chart.lines[i];
      context.globalAlpha = shade;
      context.strokeStyle = colours[this.name];
      context.lineWidth = 1.4;
      context.setLineDash(dash);
      context.beginPath();
      let last = null;
      for (const p of series.points) {
        if (last && p.time - last.time < kGapMs) context.lineTo(x(p.time), y(p.value));
        else context.moveTo(x(p.time), y(p.value));
        last = p;
      }
      context.stroke();
    });
    context.restore();
    if (this.cursor.ago === null) return;
    context.strokeStyle = colours.text;
    context.lineWidth = 1;
    const at = Math.round(x(now - this.cursor.ago)) + 0.5;
    line(context, at, kTop, at, height - kBottom);
  }

  drawAxes(context, { x, y, top, now, width, height, colours }) {
    context.strokeStyle = colours.line;
    context.fillStyle = colours.dim;
    context.lineWidth = 1;
    context.font = '10px system-ui, "DejaVu Sans", sans-serif';
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (const value of [0, top / 2, top]) {
      const at = Math.round(y(value)) + 0.5;
      line(context, kLeft, at, width, at);
      context.fillText(String(value), kLeft - 4, Math.min(at, height - kBottom - 3));
    }
    context.textBaseline = 'alphabetic';
    const isWide = width > 230;
    for (const seconds of [30, 20, 10, 0]) {
      const at = Math.round(x(now - seconds * 1000)) + (seconds === 30 ? 0.5 : -0.5);
      line(context, at, kTop, at, height - kBottom);
      context.textAlign = seconds === 30 ? 'left' : seconds === 0 ? 'right' : 'center';
      if (isWide || seconds !== 20) context.fillText(seconds ? `−${seconds} s` : 'now', at, height - 2);
    }
    context.textAlign = 'left';
  }
}

function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** The smallest of 1, 2, 5, 10, … that is not below `value`, so that the numbers of the axis are round. */
function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 5, 10].find((s) => s * power >= value * 0.9999) ?? 10;
  return Number((step * power).toPrecision(3));
}

// Reading the size of a canvas makes the browser lay out the page. An observer that is told of changes does not.
const sizes = new WeakMap();
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) sizes.set(target, { width: Math.round(contentRect.width), height: Math.round(contentRect.height) });
});

/** Fits a canvas to its size on the screen. Drawing coordinates are CSS pixels. */
export function fit(canvas) {
  const ratio = window.devicePixelRatio || 1;
  if (!sizes.has(canvas)) {
    sizes.set(canvas, { width: canvas.clientWidth, height: canvas.clientHeight });
    observer.observe(canvas);
  }
  const { width, height } = sizes.get(canvas);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height, ratio };
}

// Small charts of the last 30 seconds, one canvas each, and the numbers beside them.

const kWindowMs = 30000;
const kSampleMs = 100;

/** One quantity over time. Each point is the largest value seen in its 100 ms, so spikes survive. */
class Series {
  constructor() {
    this.points = [];
  }

  add(time, value) {
    if (!Number.isFinite(value)) return;
    const last = this.points[this.points.length - 1];
    if (last && time < last.time) this.points.length = 0;  // the demo was restarted
    if (last && time - last.time < kSampleMs) last.value = Math.max(last.value, value);
    else this.points.push({ time, value });
    while (this.points.length && this.points[0].time < time - kWindowMs) this.points.shift();
  }
}

/** Turns a counter since start into events per second. */
class Rate {
  constructor() {
    this.samples = [];
  }

  per_second(time, count) {
    if (!Number.isFinite(count)) return NaN;
    const last = this.samples[this.samples.length - 1];
    if (last && (count < last.count || time < last.time)) this.samples.length = 0;
    this.samples.push({ time, count });
    while (this.samples.length > 2 && this.samples[0].time < time - 1000) this.samples.shift();
    const first = this.samples[0];
    return time > first.time ? ((count - first.count) * 1000) / (time - first.time) : 0;
  }
}

const number = (value, digits = 0) => (Number.isFinite(value) ? value.toFixed(digits) : '–');
const bytes = (value) =>
  !Number.isFinite(value) ? '–' : value < 1000 ? `${number(value)} B` : `${number(value / 1000, value < 9950 ? 1 : 0)} kB`;

// least: the smallest full scale, so that noise near zero stays small. lines: [field or rate, shade].
const kCharts = [
  { title: 'Round trip', least: 50, text: (c) => `${number(c.rtt_ms)} ms`, lines: [[(c) => c.rtt_ms, 1], [(c) => c.jitter_ms, 0.45]] },
  { title: 'Loss', least: 5, text: (c) => `${number(c.loss_pct, 1)} %`, lines: [[(c) => c.loss_pct, 1]] },
  { title: 'Per second ↓ ↑', least: 2000, text: (c) => `${bytes(c.down_Bps)} · ${bytes(c.up_Bps)}`, lines: [[(c) => c.down_Bps, 1], [(c) => c.up_Bps, 0.45]] },
  { title: 'Rollbacks/s', least: 5, text: (c, r) => number(r.rollbacks, 1), lines: [[(c, r) => r.rollbacks, 1]] },
  { title: 'Own-pawn error', least: 20, text: (c) => `${number(c.error_mm)} mm`, lines: [[(c) => c.error_mm, 1]] },
  { title: 'Input margin', least: 4, text: (c) => `${number(c.input_margin_ticks, 1)} ticks`, lines: [[(c) => c.input_margin_ticks, 1]] },
];

export class NetGraph {
  constructor(container, name, colour) {
    this.colour = colour;
    this.rates = { rollbacks: new Rate() };
    this.charts = kCharts.map((chart) => {
      const box = document.createElement('div');
      box.className = 'chart';
      const row = document.createElement('div');
      const label = document.createElement('span');
      label.textContent = chart.title;
      const value = document.createElement('output');
      value.setAttribute('aria-live', 'off');
      row.append(label, value);
      const canvas = document.createElement('canvas');
      canvas.setAttribute('role', 'img');
      canvas.setAttribute('aria-label', `${chart.title} of client ${name}, last 30 seconds`);
      box.append(row, canvas);
      container.append(box);
      return { ...chart, canvas, value, series: chart.lines.map(() => new Series()) };
    });
  }

  add(time, client) {
    const rates = { rollbacks: this.rates.rollbacks.per_second(time, client.rollbacks) };
    this.time = time;
    for (const chart of this.charts) {
      chart.lines.forEach(([read], i) => chart.series[i].add(time, read(client, rates)));
      const text = chart.text(client, rates);
      if (chart.value.textContent !== text) chart.value.textContent = text;
    }
  }

  draw() {
    if (this.time === undefined) return;
    for (const chart of this.charts) this.drawChart(chart);
  }

  drawChart(chart) {
    const { context, width, height } = fit(chart.canvas);
    context.clearRect(0, 0, width, height);
    let top = chart.least;
    for (const series of chart.series) for (const p of series.points) top = Math.max(top, p.value);
    const x = (time) => width - ((this.time - time) / kWindowMs) * width;
    const y = (value) => height - 1 - (Math.max(value, 0) / top) * (height - 4);
    context.strokeStyle = '#28313d';
    context.lineWidth = 1;
    for (let second = 10; second < 30; second += 10) {
      const at = Math.round(width - (second / 30) * width) + 0.5;
      context.beginPath();
      context.moveTo(at, 0);
      context.lineTo(at, height);
      context.stroke();
    }
    chart.series.forEach((series, i) => {
      if (series.points.length < 2) return;
      context.globalAlpha = chart.lines[i][1];
      context.strokeStyle = this.colour;
      context.fillStyle = this.colour;
      context.lineWidth = 1.3;
      context.beginPath();
      series.points.forEach((p, j) => (j ? context.lineTo(x(p.time), y(p.value)) : context.moveTo(x(p.time), y(p.value))));
      context.stroke();
      if (i === 0) {
        context.lineTo(x(series.points[series.points.length - 1].time), height);
        context.lineTo(x(series.points[0].time), height);
        context.globalAlpha = 0.13;
        context.fill();
      }
    });
    context.globalAlpha = 1;
  }
}

/** Matches a canvas to its size on screen; drawing coordinates are CSS pixels. */
export function fit(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height, ratio };
}

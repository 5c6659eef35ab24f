// What 200 ms feels like. Measures key presses over a link of 100 ms each way, with prediction on and off. Prints the
// medians as a table for README.md, and films one press with each setting as an animated WebP.
//
//   node tests/browser/moving_picture.mjs --demo build/release/apps/depot-demo/lattice-demo --out docs/images/200ms.webp
//
// Chromium draws and encodes the frames; this program puts them into one file (RIFF container of WebP:
// VP8X, ANIM, then one ANMF with a VP8 bitstream for each frame). Times between frames are the real ones.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { launch, untilLive } from './browser.mjs';

const kPresses = 9;
const kDelayMs = 100;
const kFilmMs = 1500;
const kWidth = 760;
const kQuality = 0.62;

const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

function startDemo() {
  const child = spawn(option('--demo'), ['--port', '0', '--no-open', '--profile', 'none'], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`the demo ended with code ${code}`)));
    child.stdout.on('data', (data) => {
      const url = String(data).match(/^url: (\S+)$/m)?.[1];
      if (url) resolve({ child, url });
    });
  });
}

/** Presses and releases a key. Returns the strip's measurement of the press, or null. */
async function press(page, key, whilePressed = () => page.waitForTimeout(250)) {
  const before = await page.evaluate(() => window.lattice.strip.measured?.id ?? 0);
  await page.keyboard.down(key);
  await whilePressed();
  await page.keyboard.up(key);
  for (let tries = 0; tries < 60; tries++) {
    const measured = await page.evaluate(() => window.lattice.strip.measured);
    if (measured && measured.id !== before && Object.values(measured.rows).every((row) => row.done)) return measured;
    await page.waitForTimeout(50);
  }
  return null;
}

async function measure(page) {
  const all = [];
  for (let i = 0; i < kPresses; i++) {
    const measured = await press(page, 'adws'[i % 4]);
    if (measured) all.push(measured);
    await page.waitForTimeout(700);
  }
  const rows = {};
  for (const map of ['A', 'server', 'B']) {
    const total = median(all.map((m) => m.rows[map].total));
    // Takes the parts of one real press, the median one, so that they sum to its total.
    rows[map] = all.find((m) => m.rows[map].total === total).rows[map];
  }
  return rows;
}

/** Takes screenshots from a moment before the press on: [{png, at}]. */
async function film(page, key) {
  const top = await page.locator('.maps').boundingBox(), strip = await page.locator('#strip').boundingBox();
  const clip = { x: top.x, y: top.y, width: top.width, height: strip.y + strip.height - top.y };
  const frames = [];
  const shoot = async () => frames.push({ png: (await page.screenshot({ clip, type: 'jpeg', quality: 92 })).toString('base64'), at: Date.now() });
  await shoot();
  await press(page, key, async () => {
    for (const end = Date.now() + kFilmMs; Date.now() < end;) await shoot();
  });
  await page.waitForTimeout(500);
  await shoot();
  return frames;
}

/** Encodes frames as lossy WebP bitstreams (the content of the VP8 chunk), scaled to kWidth. */
async function encode(browser, frames) {
  const page = await browser.newPage();
  const encoded = [];
  for (const { png, at } of frames) {
    const { url, width, height } = await page.evaluate(async ([data, wide, quality]) => {
      const image = new Image();
      image.src = `data:image/jpeg;base64,${data}`;
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: wide, height: Math.round((image.height * wide) / image.width) });
      const context = canvas.getContext('2d');
      context.imageSmoothingQuality = 'high';
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      return { url: canvas.toDataURL('image/webp', quality), width: canvas.width, height: canvas.height };
    }, [png, kWidth, kQuality]);
    const file = Buffer.from(url.split(',')[1], 'base64');
    let offset = 12;
    while (file.toString('latin1', offset, offset + 4) !== 'VP8 ') offset += 8 + file.readUInt32LE(offset + 4) + (file.readUInt32LE(offset + 4) & 1);
    encoded.push({ bits: file.subarray(offset + 8, offset + 8 + file.readUInt32LE(offset + 4)), at, width, height });
  }
  await page.close();
  return encoded;
}

const u24 = (value) => Buffer.from([value & 255, (value >> 8) & 255, value >> 16]);

function chunk(name, ...parts) {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length & 1)]);
}

function animatedWebp(frames) {
  const { width, height } = frames[0];
  const size = Buffer.concat([u24(width - 1), u24(height - 1)]);
  const kAnimated = Buffer.from([2, 0, 0, 0]), kNoBlend = Buffer.from([2]);
  const chunks = frames.map((frame) =>
    chunk('ANMF', u24(0), u24(0), size, u24(frame.duration_ms), kNoBlend, chunk('VP8 ', frame.bits)));
  const body = Buffer.concat([Buffer.from('WEBP'), chunk('VP8X', kAnimated, size), chunk('ANIM', Buffer.alloc(6)), ...chunks]);
  const head = Buffer.alloc(8);
  head.write('RIFF', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

function tableOf(measured) {
  const columns = ['page', 'sampling', 'link', 'buffer', 'tick', 'return', 'interpolation'];
  const lines = [`| Prediction | Seen on | Total, ms | ${columns.join(' | ')} |`, `|---|---|---:|${columns.map(() => '---:').join('|')}|`];
  for (const [how, rows] of Object.entries(measured)) {
    for (const [map, { total, parts, order }] of Object.entries(rows)) {
      const reached = new Set(order.map(([part]) => part));
      const name = map === 'server' ? 'the server' : map === 'A' ? 'client A, whose key it is' : 'client B';
      lines.push(`| ${how} | ${name} | **${total.toFixed(0)}** | ${columns.map((c) => (reached.has(c) ? parts[c].toFixed(0) : '')).join(' | ')} |`);
    }
  }
  return lines.join('\n');
}

const { child, url } = await startDemo();
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 800 }, colorScheme: 'dark' });
  await page.goto(url);
  await untilLive(page, 20000);
  await page.locator('#zoom label', { hasText: '32 m' }).click();
  for (const client of ['A', 'B']) {
    for (const direction of ['up', 'down']) await page.evaluate((impair) => window.lattice.send({ impair }), { client, direction, delay_ms: kDelayMs });
  }
  await page.locator('#camera input[value="A"]').evaluate((input) => input.click());
  await page.waitForTimeout(4000);
  const measured = {}, reels = [];
  for (const how of ['on', 'off']) {
    await page.locator('#toggle-A-prediction').setChecked(how === 'on');
    await page.waitForTimeout(1500);
    measured[how] = await measure(page);
    reels.push(await film(page, 'd'));
    await press(page, 'a', () => page.waitForTimeout(kFilmMs));
  }
  console.log(tableOf(measured));
  const frames = [];
  for (const reel of reels) {
    const encoded = await encode(browser, reel);
    encoded.forEach((frame, i) => frames.push({ ...frame, duration_ms: i + 1 < encoded.length ? Math.max(20, encoded[i + 1].at - frame.at) : 1800 }));
  }
  const file = animatedWebp(frames);
  writeFileSync(option('--out'), file);
  console.log(`${option('--out')}: ${frames.length} frames, ${(file.length / 1e6).toFixed(2)} MB`);
} finally {
  await browser.close();
  child.removeAllListeners('exit');
  child.kill('SIGINT');
}

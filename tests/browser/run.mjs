// End to end in a real browser: starts the demo, opens its page in Chromium, plays, and checks that what the
// page shows follows from what was done.
//
//   node tests/browser/run.mjs --demo build/release/apps/depot-demo/lattice-demo [--picture DIR]
//   node tests/browser/run.mjs --demo mock       the page alone, against mock_server.mjs
//
// Prints one line per check. Exit code 0 passed, 1 failed, 77 skipped ("skipped: <reason>").

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromiumPath, chromiumVersion, launch, playwright, untilLive } from './browser.mjs';

const kHere = dirname(fileURLToPath(import.meta.url));
const kStartMs = 20000;
const kWaitMs = 15000;

function option(name) {
  const at = process.argv.indexOf(name);
  return at > 0 ? process.argv[at + 1] : undefined;
}

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

const demo = option('--demo') ?? 'mock';
if (!chromiumPath()) skip('chromium is not installed (Debian package chromium)');
if (!playwright()) skip('playwright-core is not in build/browser (./lattice test fetches it; build/browser/npm.log says why not)');
if (demo !== 'mock' && !existsSync(demo)) skip(`${demo} was not built`);

// ---- The demo process --------------------------------------------------------------------------------------

/** Starts the demo on a free port; resolves to {process, url}. */
function startDemo() {
  const [program, ...first] = demo === 'mock' ? [process.execPath, join(kHere, 'mock_server.mjs')] : [demo];
  const child = spawn(program, [...first, '--port', '0', '--no-open'], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => fail(`printed no "url:" line within ${kStartMs / 1000} s; it said:\n${text}`), kStartMs);
    const fail = (reason) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`the demo ${reason}`));
    };
    child.on('error', (error) => fail(`did not start: ${error.message}`));
    child.on('exit', (code, signal) => fail(`ended early (${signal ?? `exit code ${code}`}); it said:\n${text}`));
    child.stdout.on('data', (data) => {
      text += data;
      const url = text.match(/^url: (\S+)$/m)?.[1];
      if (!url) return;
      clearTimeout(timer);
      child.removeAllListeners('exit');
      resolve({ process: child, url });
    });
  });
}

/** Ends the demo as Ctrl-C does; resolves to true when it went by itself within 5 s. */
function stopDemo(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(false);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      resolve(false);
    }, 5000);
    child.on('exit', () => {
      clearTimeout(timer);
      resolve(true);
    });
    child.kill('SIGINT');
  });
}

// ---- What the page knows -----------------------------------------------------------------------------------

const state = (page) => page.evaluate(() => window.lattice.state);
const own = (current, name) => current.clients[name].objects.find((o) => o.kind === 'pawn' && o.own);
const onServer = (current, name) => {
  const id = own(current, name)?.id;
  return current.server.objects.find((o) => o.id === id);
};
const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/** Waits until `test(state)` is true; false after `timeout_ms`. The page collects, so no message is missed. */
async function eventually(page, test, timeout_ms = kWaitMs) {
  const end = Date.now() + timeout_ms;
  while (Date.now() < end) {
    const current = await state(page);
    if (current && test(current)) return true;
    await page.waitForTimeout(30);
  }
  return false;
}

async function setSlider(page, id, value) {
  await page.locator(`#${id}`).evaluate((input, to) => {
    input.value = to;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, value);
}

const kOpposite = { w: 's', s: 'w', a: 'd', d: 'a' };

async function hold(page, key, ms) {
  await page.keyboard.down(key);
  await page.waitForTimeout(ms);
  await page.keyboard.up(key);
}

/** A key whose way is free for A's pawn for 900 ms of walking; the pawn ends about where it was. */
async function freeKey(page) {
  let best = { key: 'd', metres: 0 };
  for (const key of ['d', 'w', 'a', 's']) {
    const before = own(await state(page), 'A');
    await hold(page, key, 900);
    await page.waitForTimeout(400);
    const metres = distance(before, own(await state(page), 'A'));
    await hold(page, kOpposite[key], 900);
    await page.waitForTimeout(400);
    if (metres > best.metres) best = { key, metres };
    if (metres > 3.5) break;
  }
  return best.key;
}

/**
 * Milliseconds from pressing `key` until the pawn of A has moved 5 cm beyond what a belt does to it, as the
 * page sees it; and the largest error reported meanwhile. Measured inside the page, frame by frame.
 */
async function response(page, key) {
  await page.evaluate((wanted) => {
    const probe = (window.probe = { error_mm: 0 });
    const [dx, dy] = { w: [0, 1], s: [0, -1], a: [-1, 0], d: [1, 0] }[wanted];
    const along = () => {
      const pawn = window.lattice.state.clients.A.objects.find((o) => o.kind === 'pawn' && o.own);
      return pawn.x * dx + pawn.y * dy;
    };
    const armed = { at: performance.now(), along: along() };
    window.addEventListener('keydown', () => {
      probe.pressed = { at: performance.now(), along: along() };
      probe.drift = (probe.pressed.along - armed.along) / (probe.pressed.at - armed.at);
    }, { once: true });
    const watch = () => {
      if (probe.stop) return;
      requestAnimationFrame(watch);
      probe.error_mm = Math.max(probe.error_mm, window.lattice.state.clients.A.error_mm ?? 0);
      if (!probe.pressed || probe.ms) return;
      const elapsed = performance.now() - probe.pressed.at;
      if (along() - probe.pressed.along - probe.drift * elapsed > 0.05) probe.ms = elapsed;
    };
    watch();
  }, key);
  await page.waitForTimeout(400);
  await hold(page, key, 900);
  await page.waitForTimeout(500);
  const result = await page.evaluate(() => {
    window.probe.stop = true;
    return { ms: window.probe.ms ?? Infinity, error_mm: window.probe.error_mm };
  });
  await hold(page, kOpposite[key], 900);
  await page.waitForTimeout(1000);
  return result;
}

// ---- The checks ----------------------------------------------------------------------------------------------

let failures = 0;
function check(what, holds, detail = '') {
  console.log(`${holds ? 'ok  ' : 'FAIL'}  ${what}${detail && `  (${detail})`}`);
  if (!holds) failures++;
}

async function checkMaps(page) {
  check('both clients connect', await eventually(page, (s) => ['A', 'B'].every((c) => s.clients?.[c]?.connected)));
  check('both clients own a pawn the server has',
    await eventually(page, (s) => ['A', 'B'].every((c) => own(s, c) && onServer(s, c))));
  const before = await state(page);
  await page.waitForTimeout(1500);
  const after = await state(page);
  check('the server ticks at 60 Hz', Math.abs((after.server.tick - before.server.tick) / ((after.t - before.t) / 1000) - 60) < 6,
    `${after.server.tick - before.server.tick} ticks in ${after.t - before.t} ms`);
  const moved = (was, is) => is.filter((o) => o.bot && was.some((p) => p.id === o.id && distance(p, o) > 0.1)).length;
  check('bots move on the server', moved(before.server.objects, after.server.objects) >= 2);
  for (const name of ['A', 'B']) {
    check(`bots move for client ${name}`, moved(before.clients[name].objects, after.clients[name].objects) >= 2);
  }
  const painted = await page.evaluate(() => ['map-A', 'map-server', 'map-B'].map((id) => {
    const canvas = document.getElementById(id);
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = new Set();
    for (let i = 0; i < pixels.length; i += 4 * 97) colours.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
    return colours.size;
  }));
  check('three maps are drawn', painted.every((colours) => colours > 20), `${painted.join(', ')} colours`);
}

async function checkKeys(page) {
  const key = await freeKey(page);
  const before = await state(page);
  await page.keyboard.down(key);
  const client = await eventually(page, (s) => distance(own(s, 'A'), own(before, 'A')) > 1, 3000);
  const server = await eventually(page, (s) => distance(onServer(s, 'A'), onServer(before, 'A')) > 1, 3000);
  await page.keyboard.up(key);
  check(`holding ${key} moves A's pawn on A's map`, client);
  check('and on the server', server);
  check('and as B sees it', await eventually(page, (s) => {
    const id = own(s, 'A').id;
    const was = before.clients.B.objects.find((o) => o.id === id), is = s.clients.B.objects.find((o) => o.id === id);
    return was && is && distance(was, is) > 1;
  }, 3000));
  check('after letting go both agree', await eventually(page, (s) => distance(own(s, 'A'), onServer(s, 'A')) < 0.5, 5000));

  // A focused slider owns the arrow keys; the pawn of B must not react.
  const still = await state(page);
  const slider = page.locator('#delay_ms-B-up');
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForTimeout(600);
  check('arrow keys in a slider move the slider', Number(await slider.inputValue()) > 0);
  check('and not the pawn of B', distance(own(still, 'B'), own(await state(page), 'B')) < 1.5);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Escape');
  check('Escape gives the keys back', await page.evaluate(() => document.activeElement === document.body));
}

/** The demo starts under a preset; the checks that follow want a perfect link to begin with. */
async function clearImpairments(page) {
  const ids = await page.locator('.sliders input').evaluateAll((inputs) => inputs.map((input) => input.id));
  for (const id of ids) await setSlider(page, id, 0);
  check('all sliders at zero give a round trip below 40 ms', await eventually(page, (s) =>
    ['A', 'B'].every((c) => s.clients[c].rtt_ms < 40)), `${(await state(page)).clients.A.rtt_ms?.toFixed(0)} ms`);
}

async function checkNetwork(page) {
  const base = (await state(page)).clients.A.rtt_ms;
  await setSlider(page, 'delay_ms-A-up', 80);
  await setSlider(page, 'delay_ms-A-down', 80);
  check('a delay slider raises the measured round trip',
    await eventually(page, (s) => s.clients.A.rtt_ms > base + 120 && s.clients.A.rtt_ms < base + 260),
    `${base?.toFixed(0)} ms before, ${(await state(page)).clients.A.rtt_ms?.toFixed(0)} ms after 2 × 80 ms`);
  check("and leaves the other client's alone", (await state(page)).clients.B.rtt_ms < base + 80);
}

/** Three tries: a busy machine may hold up any one of them, or still move the pawn from the one before. */
async function responses(page, key) {
  const all = [];
  for (let i = 0; i < (demo === 'mock' ? 1 : 3); i++) all.push(await response(page, key));
  const times = all.map((r) => r.ms).sort((a, b) => a - b);
  return {
    best_ms: times[0],
    median_ms: times[times.length >> 1],
    error_mm: Math.max(...all.map((r) => r.error_mm)),
  };
}

async function checkPrediction(page) {
  await setSlider(page, 'delay_ms-A-up', 125);
  await setSlider(page, 'delay_ms-A-down', 125);
  await eventually(page, (s) => s.clients.A.rtt_ms > 240);
  const key = await freeKey(page);
  const on = await responses(page, key);
  await page.locator('#toggle-A-prediction').uncheck();
  await page.waitForTimeout(1500);
  const off = await responses(page, key);
  await page.locator('#toggle-A-prediction').check();
  check('with prediction the own pawn answers within a round trip of 250 ms', on.best_ms < 250, `${on.best_ms.toFixed(0)} ms`);
  check('without it the pawn waits for the server', off.median_ms > on.best_ms + 125,
    `${off.median_ms.toFixed(0)} ms; largest error ${on.error_mm.toFixed(0)} mm with, ${off.error_mm.toFixed(0)} mm without`);
  await setSlider(page, 'delay_ms-A-up', 0);
  await setSlider(page, 'delay_ms-A-down', 0);
}

/** Messages no demo sends: the page must draw what it can and report no error. Needs a silent connection. */
async function checkOddMessages(page, problems) {
  const before = problems.length;
  const object = { id: 1, kind: 'pawn' };
  const odd = [
    'not json', 'null', '[]', '{}', '{"hello":{}}', '{"hello":{"arena":{"w":10,"h":10},"presets":[null,{"name":"x"}]}}',
    ...[
      { server: {} }, { clients: {} }, { clients: { A: {} } }, { server: { objects: [null, {}, object] } },
      { server: { objects: [{ ...object, x: 1, y: 1, kind: 'door' }, { id: 2, kind: 'unheard-of', x: 1, y: 1 }] } },
      { clients: { A: { objects: [{ ...object, own: true, x: 2, y: 2, state: null }], ghost: {}, rollbacks: 'many' } } },
      { clients: { A: { objects: 'none', ghost: null, impair: 5, toggles: [] } }, server: { objects: 7 } },
    ].map((message) => JSON.stringify(message)),
  ];
  for (const text of odd) {
    await page.evaluate((message) => window.lattice.feed(message), text);
    await page.waitForTimeout(180);  // longer than the slowest redraw
  }
  check('odd messages do the page no harm', problems.length === before, problems.slice(before).join('; '));
}

// ---- Run -------------------------------------------------------------------------------------------------------

console.log(`${chromiumVersion()}, playwright-core, ${demo}`);
const { process: child, url } = await startDemo();
const browser = await launch();
const problems = [];
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(url);
  await untilLive(page, kStartMs);
  await checkMaps(page);
  await clearImpairments(page);
  await checkKeys(page);
  await checkNetwork(page);
  await checkPrediction(page);
  if (option('--picture')) await page.screenshot({ path: join(option('--picture'), 'page.png') });
  check('the page reports no error', problems.length === 0, problems.slice(0, 3).join('; '));
  const went = await stopDemo(child);
  if (demo !== 'mock') check('the demo ends within 5 s of an interrupt', went);
  check('the page says that the demo has ended', await page.locator('#banner').waitFor({ timeout: 5000 }).then(() => true, () => false));
  if (option('--picture')) await page.screenshot({ path: join(option('--picture'), 'ended.png') });
  // Failed attempts to reconnect are the browser's own console lines, not the page's.
  page.removeAllListeners('console');
  await checkOddMessages(page, problems);
} catch (error) {
  check(error.message, false);
} finally {
  await browser.close();
  await stopDemo(child);
}
process.exit(failures ? 1 : 0);

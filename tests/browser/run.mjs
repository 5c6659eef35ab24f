// End to end in a real browser: starts the demo, opens its page in Chromium, plays, and checks that the page shows the
// effect of each action.
//
//   node tests/browser/run.mjs --demo build/release/apps/depot-demo/lattice-demo [--picture DIR]
//   node tests/browser/run.mjs --demo mock       the page alone, against mock_server.mjs
//
// Prints one line per check. Exit code 0 passed, 1 failed, 77 skipped ("skipped: <reason>").

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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

/** Ends the demo as Ctrl-C does. Resolves to true when it ended by itself within 5 s. */
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

/** Waits until `test(state)` is true; false after `timeout_ms`. The page collects messages, so none is missed. */
async function eventually(page, test, timeout_ms = kWaitMs) {
  const end = Date.now() + timeout_ms;
  while (Date.now() < end) {
    const current = await state(page);
    if (current && test(current)) return true;
    await page.waitForTimeout(30);
  }
  return false;
}

/** Waits until `test()` is true of the document; false after kWaitMs. */
async function shows(page, test) {
  for (const end = Date.now() + kWaitMs; Date.now() < end; await page.waitForTimeout(50)) if (await test()) return true;
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

/** Finds a key whose way is free for 900 ms of walking of A's pawn. The pawn ends about where it was. */
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
  check('the server ticks at 60 Hz', Math.abs((after.server.tick - before.server.tick) / ((after.server.t - before.server.t) / 1000) - 60) < 6,
    `${after.server.tick - before.server.tick} ticks in ${(after.server.t - before.server.t).toFixed(0)} ms`);
  const moved = (was, is) => is.filter((o) => o.bot && was.some((p) => p.id === o.id && distance(p, o) > 0.1)).length;
  check('bots move on the server', moved(before.server.objects, after.server.objects) >= 2);
  for (const name of ['A', 'B']) {
    check(`bots move for client ${name}`, await eventually(page, (s) => moved(before.clients[name].objects, s.clients[name].objects) >= 1));
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

/** What a client does not see it does not have, and the page says why. */
async function checkInterest(page) {
  check('a client has a small part of the objects', await eventually(page, (s) => ['A', 'B'].every((c) =>
    s.clients[c].sight.objects > 20 && s.clients[c].sight.objects < s.server.alive / 3)), `${(await state(page)).clients.A.sight.objects} of ${(await state(page)).server.alive}`);
  const parcels = (map) => page.evaluate((name) => window.lattice.maps[name].parcels.count, map);
  check('the map of the server has all parcels', await shows(page, async () => await parcels('server') >= (demo === 'mock' ? 600 : 9900)), `${await parcels('server')}`);
  check('the map of A has those near A only', await page.evaluate(() => {
    const { maps, state, hello } = window.lattice;
    const pawn = state.server.objects.find((o) => o.kind === 'pawn' && String(o.owner) === String(state.clients.A.peer));
    let farthest = 0;
    maps.A.parcels.forEach((id, x, y) => (farthest = Math.max(farthest, Math.hypot(x - pawn.x, y - pawn.y))));
    // Borders are exact to an eighth of a cell, and A sees the past.
    return farthest > 3 && farthest < hello.arena.sight.leave + 4;
  }));
  const before = (await state(page)).clients.A.sight;
  check('objects come into sight and go out of it', await eventually(page, (s) =>
    s.clients.A.sight.entered > before.entered && s.clients.A.sight.left > before.left, 30000));
  check('the page counts them', await shows(page, async () => Number((await page.locator('#client-A .sight dd').nth(2).textContent()).replaceAll(',', '')) > 0));

  check('what the client has is the sum of the types', await page.evaluate(async () => {
    const panel = document.querySelector('#client-A .sight');
    const counted = (elements) => [...elements].reduce((sum, { textContent }) => sum + Number.parseInt(textContent.replaceAll(',', ''), 10), 0);
    for (let i = 0; i < 40; ++i) {  // the counts come twice a second
      if (counted(panel.querySelectorAll('th')) !== counted([panel.querySelector('dd')])) return false;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return true;
  }), (await page.locator('#client-A .sight').textContent()));
  check('the table of types has rates', await shows(page, async () =>
    /kB\/s/.test(await page.locator('#client-A .sight td').first().textContent())), (await page.locator('#client-A .sight tr').allTextContents()).join(' | '));

  const answer = (name) => page.locator(`[data-why="${name}"] span`).textContent();
  await page.locator('#zoom label', { hasText: 'Whole hall' }).click();
  await page.waitForTimeout(300);
  const box = await page.locator('#map-server').boundingBox();
  // The far corner of the hall, away from both players.
  await page.locator('#map-server').click({ position: { x: box.width * 0.93, y: box.height * (demo === 'mock' ? 0.9 : 0.12) } });
  check('a click on a far object says how far it is', await shows(page, async () => /away, and the border is/.test(await answer('A'))), await answer('A'));
  await page.locator('#zoom label', { hasText: '64 m' }).click();
  await page.waitForTimeout(300);
  const pawn = await page.evaluate(() => {
    const map = window.lattice.maps.A, own = window.lattice.state.clients.A.objects.find((o) => o.own);
    return { x: (own.x - map.window.left) * map.window.scale, y: (map.window.bottom + map.window.up - own.y) * map.window.scale };
  });
  await page.locator('#map-A').click({ position: pawn });
  check('a click on what A has says so, for A only', await shows(page, async () => /: object \d+: (?!not sent)/.test(await answer('A'))) &&
    await page.locator('[data-why="B"]').isHidden(), await answer('A'));
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

  // A focused slider takes the arrow keys: the pawn of B must not react.
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

/** The demo starts with a preset. The checks that follow begin with a perfect link. */
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

// ---- What the page says about latency ----------------------------------------------------------------------------

const sum = (parts) => Object.values(parts).reduce((total, part) => total + part, 0);

/**
 * Watches where the pawn of A is drawn on each map, and measures the time from the key event until the pawn has moved
 * by a centimetre. The strip's stamps are not used. Gives no time when the pawn was not at rest.
 */
async function watchMotion(page) {
  await page.evaluate(() => {
    const id = window.lattice.state.clients.A.objects.find((o) => o.kind === 'pawn' && o.own).id;
    const pawns = () => {
      const { server, clients } = window.lattice.state;
      return Object.entries({ A: clients.A.objects, server: server.objects, B: clients.B.objects })
        .map(([map, objects]) => [map, objects.find((o) => o.id === id)]);
    };
    const probe = (window.probe = { moved: {} });
    window.addEventListener('keydown', (event) => {
      const start = Object.fromEntries(pawns());
      probe.rests = Object.values(start).every((pawn) => pawn && Math.hypot(pawn.vx, pawn.vy) < 0.01);
      const watch = () => {
        if (window.probe === probe) requestAnimationFrame(watch);
        for (const [map, pawn] of pawns()) {
          if (!pawn || probe.moved[map]) continue;
          if (Math.hypot(pawn.x - start[map].x, pawn.y - start[map].y) > 0.01) probe.moved[map] = performance.now() - event.timeStamp;
        }
      };
      watch();
    }, { once: true });
  });
}

/**
 * Waits until the pawn of A has not moved on any map for longer than a map is behind another. A bot that pushed it moves
 * it on A's and B's maps half a second later, as a key press would.
 */
async function standsStill(page) {
  const kStillMs = 900;
  const places = () => page.evaluate(() => {
    const { server, clients } = window.lattice.state;
    const id = clients.A.objects.find((o) => o.kind === 'pawn' && o.own).id;
    return [clients.A.objects, server.objects, clients.B.objects].map((objects) => {
      const pawn = objects.find((o) => o.id === id);
      return pawn ? [pawn.x, pawn.y] : [0, 0];
    });
  });
  const same = (a, b) => a.every(([x, y], i) => Math.hypot(x - b[i][0], y - b[i][1]) < 0.002);
  let before = await places();
  for (let since = Date.now(), end = since + kWaitMs; Date.now() < end && Date.now() - since < kStillMs;) {
    await page.waitForTimeout(50);
    const now = await places();
    if (same(before, now)) continue;
    before = now;
    since = Date.now();
  }
}

/** Presses `key` and returns the strip's measurement of that press; null when not every map showed it. */
async function measurePress(page, key) {
  await standsStill(page);
  const before = await page.evaluate(() => window.lattice.strip.measured?.id ?? 0);
  await watchMotion(page);
  await page.keyboard.down(key);
  await page.waitForTimeout(250);
  await page.keyboard.up(key);
  let measured = null;
  for (const end = Date.now() + 5000; Date.now() < end;) {
    measured = await page.evaluate(() => window.lattice.strip.measured);
    if (measured && measured.id !== before && Object.values(measured.rows).every((row) => row.done)) break;
    measured = null;
    await page.waitForTimeout(50);
  }
  await page.waitForTimeout(700);
  const probe = await page.evaluate(() => {
    const { probe } = window;
    window.probe = null;
    return probe;
  });
  return measured && { ...measured, moved: probe.rests && ['A', 'server', 'B'].every((map) => probe.moved[map]) ? probe.moved : null };
}

/**
 * A busy machine adds time to any press. The quickest of a few presses on client A shows the cost of the network.
 * `moved` is that of the quickest press that was seen from rest to motion.
 */
async function quickestPress(page) {
  const all = [];
  for (const key of ['d', 'a', 'w', 's']) {
    const measured = await measurePress(page, key);
    if (measured) all.push(measured);
  }
  if (!all.length) return null;
  const quickest = all.sort((x, y) => x.rows.A.total - y.rows.A.total)[0];
  const moved = all.map((press) => press.moved).filter(Boolean).sort((x, y) => x.A - y.A)[0];
  return { ...quickest, moved };
}

const show = ({ rows }) => Object.entries(rows).map(([name, row]) => `${name} ${row.total.toFixed(0)}`).join(', ') + ' ms';

/**
 * After a jump of the delay, the render time of a client approaches its new target at a tenth of real time: 200 ms
 * take 2 s. It has arrived when the delay in effect is the configured 100 ms, now and 1 s later.
 */
async function interpolatesSteadily(page, client) {
  const steady = (client) => Math.abs(client.interp_delay_ms - 100) < 15;
  for (const end = Date.now() + kWaitMs; Date.now() < end;) {
    if (!await eventually(page, ({ clients }) => steady(clients[client]))) return false;
    await page.waitForTimeout(1000);
    if (steady((await state(page)).clients[client])) return true;
  }
  return false;
}

async function checkStrip(page) {
  for (const client of ['A', 'B']) for (const way of ['up', 'down']) await setSlider(page, `delay_ms-${client}-${way}`, 200);
  await eventually(page, (s) => ['A', 'B'].every((c) => s.clients[c].rtt_ms > 380 && s.clients[c].rtt_ms < 460));
  check('the interpolation of B follows the new delay', await interpolatesSteadily(page, 'B'));
  const on = await quickestPress(page);
  check('a key press is followed to all three maps', on !== null);
  if (!on) return;
  const { A, server, B } = on.rows;
  for (const [name, row] of Object.entries(on.rows)) {
    check(`the parts of ${name} sum to its total`, Math.abs(sum(row.parts) - row.total) < 0.01, `${row.total.toFixed(1)} ms`);
  }
  check('200 ms of delay show as the link to the server', server.parts.link >= 199 && server.parts.link < 400, `${server.parts.link.toFixed(0)} ms`);
  check('and as the return to B', B.parts.return >= 199 && B.parts.return < 400, `${B.parts.return.toFixed(0)} ms`);
  check('B draws the past', B.parts.interpolation > 40, `${B.parts.interpolation.toFixed(0)} ms`);
  check('with prediction A moves before the server', on.predicted && A.total < server.total && A.parts.link === 0, show(on));
  check('and B last', B.total > server.total);
  const places = ({ A: a, server: s, B: b }) => `A ${a.toFixed(0)}, server ${s.toFixed(0)}, B ${b.toFixed(0)} ms`;
  check('the pawns themselves say the same', on.moved && on.moved.A < on.moved.server && on.moved.server < on.moved.B, on.moved ? places(on.moved) : 'never seen from rest');
  const cell = await page.locator('#strip-server td.link').textContent();
  check('the strip shows its numbers', Number(cell) >= 199, cell);
  check('the strip is in view', await page.locator('#strip').isVisible());
  await page.locator('#toggle-A-prediction').uncheck();
  await eventually(page, (s) => s.clients.A.toggles.prediction === false);
  await page.waitForTimeout(700);
  const off = await quickestPress(page);
  check('without prediction A moves after a round trip', off !== null && !off.predicted && off.rows.A.total >= 400, off ? show(off) : 'not seen');
  check('and later than the server', off !== null && off.rows.A.total > off.rows.server.total);
  check('the pawns themselves say so too', off?.moved && off.moved.A > off.moved.server, off?.moved ? places(off.moved) : 'never seen from rest');
  check('without prediction there is no predicted path in the legend or caption',
    !/ahead/.test(await page.locator('#caption-A').textContent()));
  await page.locator('#toggle-A-prediction').check();
  for (const client of ['A', 'B']) for (const way of ['up', 'down']) await setSlider(page, `delay_ms-${client}-${way}`, 0);
}

// ---- What the page says about everything else ---------------------------------------------------------------------

async function checkLoss(page) {
  for (const way of ['up', 'down']) await setSlider(page, `loss_pct-A-${way}`, 30);
  check('loss of the last second is measured, each way', await eventually(page, (s) =>
    s.clients.A.loss_up_pct > 8 && s.clients.A.loss_down_pct > 8 && s.clients.A.impair.up.loss_pct === 30));
  const legend = () => page.locator('#client-A .chart').nth(1).locator('dd').allTextContents();
  check('the configured value is a line of the chart', await shows(page, async () => {
    const values = (await legend()).map(Number);
    return values[1] === 30 && values[3] === 30;
  }), (await legend()).join(' '));
  for (const way of ['up', 'down']) await setSlider(page, `loss_pct-A-${way}`, 0);
  check('and loss goes when it ends', await eventually(page, (s) => s.clients.A.loss_up_pct === 0 && s.clients.A.loss_down_pct < 2));
  const late = (await state(page)).clients;
  check('late inputs are counted per client', ['A', 'B'].every((c) => Number.isFinite(late[c].inputs_late)));
}

async function checkPresets(page) {
  const button = page.getByRole('button', { name: /^worst/ });
  await button.click();
  const mark = button.locator('.in-force');
  check('the preset in force is marked', await eventually(page, (s) => s.clients.A.preset === 'worst' && s.clients.B.preset === 'worst') &&
    await shows(page, async () => await button.getAttribute('aria-pressed') === 'true' && await mark.textContent() === 'A B'));
  await setSlider(page, 'delay_ms-A-up', 10);
  check('and no longer for A once A differs',
    await shows(page, async () => await button.getAttribute('aria-pressed') === 'false' && await mark.textContent() === 'B'));
  await page.getByRole('button', { name: /^perfect/ }).click();
  check('"perfect" clears the link', await eventually(page, (s) => ['A', 'B'].every((c) => s.clients[c].preset === 'none' && s.clients[c].impair.up.delay_ms === 0)));
}

async function checkTogglesHide(page) {
  await page.locator('#toggle-B-interpolation').uncheck();
  await eventually(page, (s) => s.clients.B.toggles.interpolation === false);
  check('without interpolation the caption says so', await shows(page, async () => /as received/.test(await page.locator('#caption-B').textContent())));
  await page.locator('#toggle-B-interpolation').check();
  await eventually(page, (s) => s.clients.B.toggles.interpolation === true);
}

async function checkTricks(page) {
  await setSlider(page, 'delay_ms-A-up', 60);
  await setSlider(page, 'delay_ms-A-down', 60);
  await eventually(page, (s) => s.clients.A.rtt_ms > 100);
  const before = (await state(page)).clients.A.rollbacks;
  await page.getByRole('button', { name: 'Shove A' }).click();
  check('"Shove A" makes A roll back', await eventually(page, (s) => s.clients.A.rollbacks > before, 5000));
  if (demo !== 'mock') {
    await page.waitForTimeout(1500);
    const then = (await state(page)).clients.A.rollbacks;
    await page.getByRole('button', { name: 'Server disagrees with A' }).click();
    await hold(page, await freeKey(page), 600);
    check('"Server disagrees" makes A roll back', await eventually(page, (s) => s.clients.A.rollbacks > then, 5000));
  }
  await setSlider(page, 'delay_ms-A-up', 0);
  await setSlider(page, 'delay_ms-A-down', 0);
}

async function checkLessons(page) {
  for (let number = 1; number <= 6; number++) {
    await page.evaluate((n) => (location.hash = `lesson=${n}`), number);
    check(`lesson ${number} says what to watch`, await shows(page, async () => (await page.locator('#lesson-title').textContent()).startsWith(`Lesson ${number} of 6`)) &&
      (await page.locator('#lesson-text').textContent()).length > 80);
    if (number === 2) check('lesson 2 switches prediction off', await eventually(page, (s) => s.clients.A.toggles.prediction === false && s.clients.A.impair.up.delay_ms === 100));
    if (number === 5) check('lesson 5 loses packets', await eventually(page, (s) => s.clients.A.toggles.prediction && s.clients.A.impair.down.loss_pct === 20));
  }
  await page.getByRole('button', { name: 'End the tour' }).click();
  check('the tour ends', !await page.locator('#lesson').isVisible() && !page.url().includes('lesson'));
  await page.getByRole('button', { name: /^perfect/ }).click();
  await eventually(page, (s) => ['A', 'B'].every((c) => s.clients[c].preset === 'none'));
}

/** All charts share one cursor, and the keyboard moves it too. */
async function checkCursor(page) {
  const chart = page.locator('#client-A .chart canvas').first();
  await chart.hover({ position: { x: 120, y: 30 } });
  check('the cursor of a chart is shared', await shows(page, () => page.evaluate(() => window.lattice.cursor.ago > 0)));
  await page.mouse.move(2, 2);
  await chart.focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  check('arrow keys move it', await page.evaluate(() => window.lattice.cursor.ago === 1000));
  await page.keyboard.press('Escape');
}

async function checkAccess(page) {
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, a, canvas, table, section')].filter((node) => {
    if (node.closest('[hidden]')) return false;
    const labelled = node.getAttribute('aria-labelledby')?.split(' ').map((id) => document.getElementById(id)?.textContent).join(' ');
    const caption = node.tagName === 'TABLE' ? node.caption?.textContent || node.tHead?.textContent : '';
    const text = node.getAttribute('aria-label') || labelled || [...(node.labels ?? [])].map((label) => label.textContent).join(' ') || caption ||
      (['BUTTON', 'A'].includes(node.tagName) && node.textContent) || (node.className === 'panels' && 'layout') || node.className === 'maps';
    return !text?.toString().trim();
  }).map((node) => node.outerHTML.slice(0, 80)));
  check('every control has a name', nameless.length === 0, nameless.slice(0, 3).join(' '));
  const ids = await page.evaluate(() => [...document.querySelectorAll('[id]')].map((node) => node.id));
  check('ids are unique', new Set(ids).size === ids.length);
  const lively = await page.evaluate(() => [...document.querySelectorAll('[aria-live], [role=status], [role=alert]')].map((node) => node.id).join(' '));
  check('only status, banner and the strip\'s summary speak', lively === 'status banner strip-summary', lively);
}

/** The contrast of the page's text on its panels, by WCAG 2. */
async function contrast(page) {
  return page.evaluate(() => {
    const luminance = (text) => {
      const [r, g, b] = text.match(/[\d.]+/g).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const panel = luminance(getComputedStyle(document.querySelector('.panel')).backgroundColor);
    return Math.min(...['.strip h2', '.toggles label', '.strip-table th', '#strip-A th', '#strip-B th', '#strip-server th'].map((selector) => {
      const text = luminance(getComputedStyle(document.querySelector(selector)).color);
      return (Math.max(text, panel) + 0.05) / (Math.min(text, panel) + 0.05);
    }));
  });
}

async function checkLooks(page) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    check(`${colorScheme} is legible`, await contrast(page) >= 4.5, `contrast ${(await contrast(page)).toFixed(1)}`);
    if (option('--picture')) await page.screenshot({ path: join(option('--picture'), `${colorScheme}.png`) });
  }
  for (const [width, height] of [[900, 800], [390, 844]]) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(300);
    const boxes = await page.evaluate(() => [...document.querySelectorAll('.map canvas')].map((canvas) => canvas.getBoundingClientRect()));
    check(`at ${width} px the maps have one size and are visible together`, boxes.every((box) => box.bottom <= height && box.width > 100 &&
      Math.abs(box.width - boxes[0].width) < 1 && Math.abs(box.height - boxes[0].height) < 1), boxes.map((box) => `${box.width.toFixed(0)}×${box.height.toFixed(0)}`).join(', '));
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(`at ${width} px nothing hangs over the edge`, overflow <= 0, `${overflow} px`);
    if (option('--picture')) await page.screenshot({ path: join(option('--picture'), `${width}.png`), fullPage: true });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

async function checkTouch(browser, url) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await page.goto(url);
  await untilLive(page, kStartMs);
  const stick = page.locator('.stick');
  check('a touch screen shows the stick', await stick.waitFor({ timeout: 5000 }).then(() => true, () => false));
  await stick.scrollIntoViewIfNeeded();
  const box = await stick.boundingBox();
  const before = await page.evaluate(() => window.lattice.strip.measured?.id ?? 0);
  await page.touchscreen.tap(box.x + box.width - 8, box.y + box.height / 2);
  const pressed = await eventually(page, (s) => s.press && s.press.id !== before, 5000);
  check('the stick walks', pressed);
  await context.close();
}

/** The ids of the demo's processes by program name. Linux. */
function childrenOf(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).map(Number);
  return children.map((id) => ({ pid: id, command: readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0').join(' ') }));
}

/** The page marks a frozen process, and removes the mark when the process goes on. */
async function checkFrozen(page, child) {
  const clientB = childrenOf(child.pid).find(({ command }) => command.includes('--seed 1001'));
  process.kill(clientB.pid, 'SIGSTOP');
  const stale = page.locator('figure.map.b.stale');
  check('a frozen client is seen', await stale.waitFor({ timeout: 5000 }).then(() => true, () => false));
  check('and how long it has been silent', /last heard \d+\.\d s ago/.test(await page.locator('#caption-B').textContent()));
  check('its charts have no value now', await shows(page, async () => await page.locator('#client-B .chart dd').first().textContent() === '–'));
  check('the others stay fresh', await page.locator('main:has(figure.map.b.stale) figure.map.a:not(.stale)').waitFor({ timeout: 5000 }).then(() => true, () => false));
  process.kill(clientB.pid, 'SIGCONT');
  check('when it goes on, so does its map', await stale.waitFor({ state: 'detached', timeout: 8000 }).then(() => true, () => false));
}

/** A killed process ends the demo, and the page says which and why. */
async function checkKilled(page, child) {
  const server = childrenOf(child.pid).find(({ command }) => command.includes('gameserver'));
  process.kill(server.pid, 'SIGKILL');
  const banner = page.locator('#banner');
  check('the page says that the demo has ended', await banner.waitFor({ timeout: 5000 }).then(() => true, () => false));
  check('and why', /server ended unexpectedly: killed by signal 9/.test(await banner.textContent()), await banner.textContent());
}

/** Sends messages that no demo sends: the page must draw what it can and report no error. The connection must be
*  silent. */
async function checkOddMessages(page, problems) {
  const before = problems.length;
  const object = { id: 1, kind: 'pawn' };
  const odd = [
    'not json', 'null', '[]', '{}', '{"hello":{}}', '{"hello":{"arena":{"w":10,"h":10},"presets":[null,{"name":"x"}]}}',
    ...[
      { server: {} }, { clients: {} }, { clients: { A: {} } }, { server: { objects: [null, {}, object] } },
      { server: { objects: [{ ...object, x: 1, y: 1, kind: 'door' }, { id: 2, kind: 'unheard-of', x: 1, y: 1 }] } },
      { clients: { A: { objects: [{ ...object, own: true, x: 2, y: 2, state: null }], ghost: {}, rollbacks: 'many' } } },
      { server: { resting: 5, riding: [1, null], cap: 7 }, why: [{ client: 'C' }, { client: 'A' }] }, { clients: { A: { parcels: [1, 2], sight: 3, types: 'none' } }, why: 9 },
      { clients: { A: { objects: 'none', ghost: null, impair: 5, toggles: [] } }, server: { objects: 7 } },
    ].map((message) => JSON.stringify(message)),
  ];
  for (const text of odd) {
    await page.evaluate((message) => window.lattice.feed(message), text);
    await page.waitForTimeout(180);  // longer than the slowest redraw
  }
  check('odd messages do the page no harm', problems.length === before, problems.slice(before).join('; '));
}

/** What a refused client says of its schema is text, whatever it is. */
async function checkSchemaRefusal(page) {
  const section = page.locator('#schema-refusal');
  check('without a refusal for another schema nothing is said of it', await section.isHidden());
  const told = ['Pawn.PawnState.health: client uint16 bits 10, server uint16 bits 12', '<img src="x" onerror="lattice.fooled = true"><b>x</b>: only the client has it', 'x'.repeat(300)];
  const feed = (server) => page.evaluate((message) => window.lattice.feed(message), JSON.stringify({ server }));
  const lines = () => section.locator('li').allTextContents();
  await feed({ refused: { server_schema_mismatch: 24 }, schema_differences: told });
  check('a refusal for another schema names what differs', await shows(page, async () => JSON.stringify(await lines()) === JSON.stringify(told)), (await lines()).join(' | '));
  check('the number of refusals stands with it', /^24 messages/.test(await section.locator('p').textContent()));
  check('what a client says is no markup', await page.evaluate(() => !window.lattice.fooled && !document.querySelector('#schema-refusal :is(img, b)')));
  check('and stays in its place', await section.evaluate((element) => element.scrollWidth <= element.clientWidth && element.clientHeight < 220));
  if (option('--picture')) await page.screenshot({ path: join(option('--picture'), 'schema_refusal.png'), fullPage: true });
  await feed({ refused: { server_schema_mismatch: 25 }, schema_differences: told.slice(0, 1) });
  check('the newest takes its place', await shows(page, async () => (await lines()).length === 1));
  await feed({ refused: { server_schema_mismatch: 25 }, schema_differences: { length: 3 } });
  check('without a difference that is said', await shows(page, async () => /has said what differs/.test(await section.locator('p').textContent()) && !(await lines()).length));
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
  await checkInterest(page);
  await clearImpairments(page);
  await checkKeys(page);
  await checkNetwork(page);
  await checkStrip(page);
  await checkLoss(page);
  await checkPresets(page);
  await checkTogglesHide(page);
  await checkTricks(page);
  await checkLessons(page);
  await checkCursor(page);
  await checkAccess(page);
  await checkLooks(page);
  if (option('--picture')) await page.screenshot({ path: join(option('--picture'), 'page.png') });
  if (demo !== 'mock') await checkFrozen(page, child);
  await checkTouch(browser, url);
  check('the page reports no error', problems.length === 0, problems.slice(0, 3).join('; '));
  if (demo !== 'mock') await checkKilled(page, child);
  await stopDemo(child);
  check('the page says that the demo has ended', await page.locator('#banner').waitFor({ timeout: 5000 }).then(() => true, () => false));
  // The browser itself, not the page, writes console lines about failed attempts to reconnect.
  page.removeAllListeners('console');
  await checkSchemaRefusal(page);
  await checkOddMessages(page, problems);
  if (demo !== 'mock') {
    const again = await startDemo();
    await page.goto(again.url);
    await untilLive(page, kStartMs);
    check('the demo ends within 5 s of an interrupt', await stopDemo(again.process));
    check('and the page says so', await page.locator('#banner', { hasText: 'stopped in the terminal' }).waitFor({ timeout: 5000 }).then(() => true, () => false));
  }
} catch (error) {
  check(error.message, false);
} finally {
  await browser.close();
  await stopDemo(child);
}
process.exit(failures ? 1 : 0);

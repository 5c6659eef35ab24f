// Starts Debian's Chromium through playwright-core, which ./lattice test fetches into build/browser.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const kRoot = join(dirname(fileURLToPath(import.meta.url)), '../..');
const kArguments = [
  '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
];

/** The path of the browser. LATTICE_CHROMIUM overrides it. Empty when there is no browser. */
export function chromiumPath() {
  for (const path of [process.env.LATTICE_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser']) {
    if (path && existsSync(path)) return path;
  }
  return '';
}

/** playwright-core, or null when it was not fetched. */
export function playwright() {
  const modules = process.env.LATTICE_BROWSER_MODULES ?? join(kRoot, 'build/browser');
  try {
    return createRequire(join(modules, 'package.json'))('playwright-core');
  } catch {
    return null;
  }
}

export function launch() {
  return playwright().chromium.launch({ executablePath: chromiumPath(), args: kArguments });
}

export function chromiumVersion() {
  return execFileSync(chromiumPath(), ['--version', '--no-sandbox'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** Waits until messages of the demo arrive. waitForFunction would need eval, which the page's policy forbids. */
export async function untilLive(page, timeout_ms) {
  const end = Date.now() + timeout_ms;
  while (!((await page.evaluate(() => window.lattice?.messages ?? 0)) > 5)) {
    if (Date.now() > end) throw new Error(`the page got no state within ${timeout_ms / 1000} s`);
    await page.waitForTimeout(50);
  }
}

// A picture of the page: node tests/browser/screenshot.mjs URL OUT.png [WIDTHxHEIGHT] [SECONDS] [light|dark] [#hash]
// Meanwhile both pawns walk, over the preset "demo" unless a #lesson is named. For docs/images.

import { launch, untilLive } from './browser.mjs';

const [url, out, size = '1280x800', seconds = '8', colorScheme = 'dark', hash = ''] = process.argv.slice(2);
const [width, height] = size.split('x').map(Number);
const browser = await launch();
const page = await browser.newPage({ viewport: { width, height }, colorScheme, hasTouch: width < 640 });
page.on('console', (message) => message.type() === 'error' && console.error('page:', message.text()));
page.on('pageerror', (error) => console.error('page:', error.message));
await page.goto(url + hash);
await untilLive(page, 20000);
const preset = page.getByRole('button', { name: /^demo/ });
if (!hash && await preset.count()) await preset.click();
const route = ['d', 'w', 'd', 's'];
const step = (Number(seconds) * 1000) / route.length;
for (const [i, key] of route.entries()) {
  const other = ['ArrowUp', 'ArrowLeft', 'ArrowDown', 'ArrowRight'][i];
  await page.keyboard.down(other);
  await page.waitForTimeout(step / 4);
  await page.keyboard.press('Space');
  await page.keyboard.down(key);
  await page.waitForTimeout((step * 3) / 4);
  if (i === route.length - 1) await page.screenshot({ path: out, fullPage: process.argv.includes('--full') });
  await page.keyboard.up(key);
  await page.keyboard.up(other);
}
console.log(JSON.stringify(await page.evaluate(() => window.lattice.strip.measured)));
await browser.close();

// browser.mjs - what the tests of the dashboard share: the browser, pages whose complaints are collected, and the command line.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

export const { URL: url, USERS_URL: usersUrl, SHOTS: shots, REEVE } = process.env;
export const reeve = (...args) => execFileSync(REEVE, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
export const json = (...args) => JSON.parse(reeve(...args, '--json').split('\n')[0]);
export const bulk = (queue, lines) => execFileSync(REEVE, ['enqueue', '--bulk', queue], { input: lines.map((l) => JSON.stringify(l)).join('\n'), encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] });
export const many = (n, make) => Array.from({ length: n }, (_, i) => make(i));
export const ended = (handle) => { try { reeve('wait', handle); } catch { /* it died */ } };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const complaints = [];

// A page of a browser of its own, with no cookies. What it complains of makes the test fail at its end, but for what is expected.
export async function open(path = '', options = {}, server = url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  page.on('console', (m) => { if (m.type() === 'error' && !(options.expects && options.expects.test(m.text()))) complaints.push(m.text()); });
  page.on('pageerror', (e) => complaints.push(String(e)));
  await page.goto(server + path);
  return page;
}

// What axe-core finds that is serious. (Its text goes through the debugger: the page's policy would refuse a script.)
export async function accessible(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${name}: ${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 200)} ${v.nodes[0].any[0]?.message || ''}`);
}

// Waits for what is no matter of a page.
export async function until(what, test, seconds = 30) {
  const end = Date.now() + 1000 * seconds;
  for (;;) {
    if (await test()) return;
    assert.ok(Date.now() < end, `not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function finish(name) {
  assert.deepEqual(complaints, []);
  await browser.close();
  console.log(`${name}: well`);
}

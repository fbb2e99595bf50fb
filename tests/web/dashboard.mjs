// dashboard.mjs - the dashboard as people use it: find a failure, read it, retry it; change many and leave; pause a queue; the
// keyboard; a narrow screen; nothing that the browser complains of. scripts/check-web runs it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chromium } from 'playwright-core';

const { URL: url, SHOTS, REEVE } = process.env;
const reeve = (...args) => execFileSync(REEVE, args, { encoding: 'utf8' });
const bulk = (queue, lines) => execFileSync(REEVE, ['enqueue', '--bulk', queue], { input: lines.map((l) => JSON.stringify(l)).join('\n'), encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const complaints = [];

async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.on('console', (m) => { if (m.type() === 'error') complaints.push(m.text()); });
  page.on('pageerror', (e) => complaints.push(String(e)));
  await page.goto(url + path);
  return page;
}

const markup = '<img src=x onerror=alert(1)>';
bulk('mail', Array.from({ length: 5 }, (_, i) => ({ type: 'fail', id: `bad-${i}`, attempts: 1, payload: { kind: 'smtp', message: markup, times: 1 } })));
bulk('exports', Array.from({ length: 3000 }, (_, i) => ({ type: 'export', payload: { n: i } })));
bulk('thumbs', [{ type: 'echo', payload: {} }]);
for (let i = 0; i < 5; i++) try { reeve('wait', `mail/bad-${i}`); } catch { /* it died */ }

// Trouble comes first; a failure is found, read and retried. Markup in an error stays text.
const page = await open('#/');
await page.getByText('no worker serves it').waitFor();
await page.keyboard.press('g');
await page.keyboard.press('d');
await page.getByRole('link', { name: 'smtp' }).first().click();
await page.locator('tbody tr').first().waitFor();
assert.equal(await page.locator('main img').count(), 0);
await page.keyboard.press('j');
await page.keyboard.press('Enter');
await page.getByRole('heading', { name: 'Last error' }).waitFor();
assert.ok((await page.locator('main').innerText()).includes(markup));
await page.getByRole('button', { name: 'Retry' }).click();
await page.locator('.time b', { hasText: 'retried' }).waitFor(); // (it dies again)

// The filter is in the address, and the beginning of a word is completed.
await page.goto(url + '#/tasks/mail');
await page.keyboard.press('/');
await page.keyboard.type('state:de');
await page.keyboard.press('Tab');
await page.keyboard.press('Enter');
await page.waitForURL(/f=state%3Adead/);
await page.getByText('5 tasks', { exact: true }).waitFor();

// Everything that matches, by the server; the tab is closed meanwhile.
const other = await open('#/tasks/exports?f=state%3Aready');
await other.getByRole('button', { name: 'Cancel all that match' }).click();
await other.getByRole('button', { name: 'Cancel', exact: true }).click();
await other.waitForURL(/operations/);
await other.close();
await page.goto(url + '#/operations');
await page.locator('.badge.done').waitFor();
assert.ok((await page.locator('main').innerText()).includes('3,000 of 3,000'));

// A queue is paused and resumed.
await page.goto(url + '#/queue/thumbs');
await page.getByRole('button', { name: 'Pause' }).click();
await page.getByRole('button', { name: 'Resume' }).click();
await page.getByRole('button', { name: 'Pause' }).waitFor();

// Every page, light, dark and on a phone: nothing is wider than the screen.
const pages = { overview: '', queues: 'queues', queue: 'queue/mail', tasks: 'tasks/mail', task: 'task/mail/bad-1', dead: 'dead', workers: 'workers', cron: 'cron', operations: 'operations', health: 'health' };
for (const [kind, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, phone: { viewport: { width: 390, height: 844 } } })) {
  const at = await open('#/', options);
  for (const [name, path] of Object.entries(pages)) {
    await at.goto(`${url}#/${path}`);
    await at.locator('main h1').waitFor();
    await at.locator('main .panel').first().waitFor();
    assert.ok(await at.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is too wide: ${kind}`);
    await at.screenshot({ path: `${SHOTS}/${name}-${kind}.png` });
  }
  await at.close();
}
assert.deepEqual(complaints, []);
await browser.close();
console.log('the dashboard works');

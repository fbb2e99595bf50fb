// access.mjs - who may do what: logged out, each role, pages of another origin; the keyboard alone; Redis goes away and comes back.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { bulk, finish, json, many, open, reeve, until, url, usersUrl } from './browser.mjs';

bulk('jobs', many(3, (i) => ({ type: 'wait', id: `job-${i}` })));

// Logged out, there is a form and nothing else; a wrong password is refused.
const expects = /401|403/;
const page = await open('#/tasks/jobs', { expects }, usersUrl);
await page.getByRole('heading', { name: 'Log in' }).waitFor();
assert.equal(await page.getByText('job-0').count(), 0);
async function login(name, password) {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
}
await login('viewer', 'wrong');
await page.locator('.toast.bad').waitFor();

// Each role sees the buttons that it may use.
for (const [role, pauses, deletes] of [['viewer', 0, 0], ['operator', 1, 0], ['admin', 1, 1]]) {
  await login(role, `secret-${role}`);
  await page.locator('#who').getByText(role).first().waitFor();
  assert.equal(await page.locator('.toast.bad').count(), 0, 'what went wrong before the login is gone');
  await page.goto(`${usersUrl}#/tasks/jobs`);
  await page.locator('tbody tr').nth(2).waitFor();
  assert.equal(await page.locator('tbody input').count(), pauses ? 3 : 0, `${role}: who can do nothing with tasks does not select them`);
  await page.goto(`${usersUrl}#/queue/jobs`);
  await page.getByRole('link', { name: 'Tasks' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Pause' }).count(), pauses, role);
  await page.goto(`${usersUrl}#/task/jobs/job-1`);
  await page.getByRole('button', { name: 'Raw JSON' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Cancel' }).count(), pauses, role);
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), deletes, role);
  // What the page does not offer, the server refuses.
  assert.equal(await page.evaluate(async () => (await fetch('api/v1/queues/jobs/pause', { method: 'POST' })).status), pauses ? 200 : 403);
  if (pauses) reeve('resume', 'jobs');
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
}
await page.close();

// A page of another origin changes nothing, although the browser could reach the server without a password.
const stranger = createServer((request, answer) => { answer.setHeader('Content-Type', 'text/html'); answer.end('<title>stranger</title>'); });
await new Promise((resolve) => stranger.listen(0, '127.0.0.1', resolve));
const away = await open('', { expects: /./ }, `http://127.0.0.1:${stranger.address().port}/`);
await away.evaluate((to) => fetch(`${to}api/v1/queues/jobs/pause`, { method: 'POST', mode: 'no-cors' }).catch(() => {}), url);
assert.equal(json('queues', 'jobs').paused, false);
assert.equal(await away.evaluate((to) => fetch(`${to}api/v1/queues`).then(() => 'read', () => 'refused'), url), 'refused');
await away.close();
stranger.close();

// The keyboard alone: to a queue's tasks, two are selected, and cancelled.
const keys = await open();
await keys.getByRole('heading', { name: 'Overview' }).waitFor();
await keys.keyboard.press('?');
await keys.getByRole('heading', { name: 'Keyboard' }).waitFor();
await keys.keyboard.press('Escape');
await keys.keyboard.press('g');
await keys.keyboard.press('q');
await keys.getByRole('heading', { name: 'Queues' }).waitFor();
await keys.keyboard.press('/');
await keys.keyboard.type('jobs');
await until('the queue alone', async () => await keys.locator('tbody tr').count() === 1);
await keys.keyboard.press('Tab'); // (out of the field)
await keys.locator('body').press('j');
await keys.evaluate(() => document.activeElement.blur());
await keys.keyboard.press('Enter');
await keys.waitForURL(/queue\/jobs/);
await keys.getByRole('link', { name: 'Tasks' }).focus();
await keys.evaluate(() => { document.activeElement.dataset.old = 'yes'; });
await until('the link is drawn anew, and has the focus', () => keys.evaluate(() => document.activeElement.textContent === 'Tasks' && !document.activeElement.dataset.old));
await keys.keyboard.press('Enter');
await keys.waitForURL(/tasks\/jobs/);
await keys.locator('tbody tr').first().waitFor();
await keys.evaluate(() => document.activeElement.blur());
for (const key of ['j', 'x', 'j', 'x']) await keys.keyboard.press(key);
await keys.getByRole('button', { name: 'Cancel 2' }).focus();
await keys.keyboard.press('Enter');
await until('two are cancelled', () => json('queues', 'jobs').cancelled === 2);

// A proxy answers for a server that is starting: the page connects again, though the browser would not.
const proxied = await open('about:blank', { expects: /502/ }, '');
let starting = true;
await proxied.route('**/api/v1/events', (to) => starting ? to.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }) : to.continue());
await proxied.goto(url);
await proxied.getByText('reconnecting').waitFor();
starting = false;
await proxied.locator('.live.on').waitFor();
await proxied.close();

// Redis goes away and comes back: the page says so, and goes on.
await keys.goto(`${url}#/`);
await keys.locator('.live.on').waitFor();
keys.removeAllListeners('console');
process.kill(Number(process.env.REDIS_PID), 'SIGTERM');
await keys.getByText('Redis cannot be reached').waitFor({ timeout: 30000 });
const redis = spawn('redis-server', process.env.REDIS_OPTIONS.split(' '), { stdio: 'ignore' });
await keys.locator('.live.on').waitFor({ timeout: 30000 });
await until('a task can be enqueued', () => { try { return reeve('enqueue', 'jobs', 'wait'); } catch { return false; } });
await keys.getByRole('link', { name: 'jobs' }).first().waitFor();
await finish('access');
redis.kill();

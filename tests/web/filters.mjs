// filters.mjs - the filter of tasks completes what can select a task in the state that is looked at, and nothing else: just what the
// server accepts there.
import assert from 'node:assert/strict';
import { bulk, ended, finish, many, open, url } from './browser.mjs';

const names = ['type', 'kind', 'tag', 'group', 'meta', 'worker', 'id-prefix', 'payload-has', 'failed', 'not-failed', 'older-than',
  'enqueued-after', 'enqueued-before', 'due-after', 'due-before', 'ended-after', 'ended-before'];
const states = ['ready', 'running', 'scheduled', 'blocked', 'parked', 'completed', 'dead', 'cancelled', 'all'];
const sample = (name) => /-(after|before)$/.test(name) ? '2026-01-01T00:00:00Z' : name === 'older-than' ? '1h' : name === 'meta' ? 'a=b' : /failed/.test(name) ? 'true' : 'x';

bulk('mail', many(2, (i) => ({ type: 'fail', id: `bad-${i}`, attempts: 1, payload: { kind: 'smtp', message: 'm', times: 1 } })));
for (let i = 0; i < 2; i++) ended(`mail/bad-${i}`);
const page = await open('#/tasks/mail', { expects: /400 \(Bad Request\)/ });
const bar = page.locator('[data-find]');
await page.locator('tbody tr').nth(1).waitFor();

// What is offered behind this text, for each beginning.
async function offered(before) {
  const found = new Set();
  for (const letter of new Set(names.concat('state').map((name) => name[0]))) {
    await bar.fill(`${before}${letter}`);
    for (const text of await page.locator('#suggest li').allInnerTexts()) found.add(text.trim().replace(/:$/, ''));
  }
  return [...found].sort();
}
const accepted = (filter) => page.evaluate(async (query) => (await fetch(`api/v1/queues/mail/tasks?${query}`)).status, filter);

for (const state of states) {
  const good = [];
  for (const name of names) if (await accepted(`state=${state}&${name}=${encodeURIComponent(sample(name))}`) === 200) good.push(name);
  assert.deepEqual(await offered(`state:${state} `), good.sort(), `with state:${state}`);
}
assert.ok((await offered('state:scheduled ')).includes('due-before') && !(await offered('state:dead ')).includes('due-before'));

// A filter that is there is not offered again, but for meta; nor is what contradicts it, or a state that it does not have.
assert.deepEqual(await offered('type:echo meta:a=b failed due-after:2026-01-01 '), names.filter((name) => !['type', 'failed', 'not-failed', 'due-after'].includes(name)).concat('state').sort());
await bar.fill('worker:media-1 state:');
assert.deepEqual((await page.locator('#suggest li').allInnerTexts()).map((x) => x.trim()), ['state:running', 'state:completed', 'state:all']);
await bar.fill('state:running worker:');
await page.locator('#suggest li', { hasText: 'worker:media-1' }).waitFor();

// Another state keeps the filters that it has.
await page.goto(`${url}#/tasks/mail?f=${encodeURIComponent('state:completed type:fail ended-after:2026-01-01T00:00:00Z worker:media-1')}`);
await page.locator('.chips').getByRole('link', { name: 'dead', exact: true }).click();
await page.getByText('2 tasks', { exact: true }).waitFor();
assert.equal(await bar.inputValue(), 'state:dead type:fail ended-after:2026-01-01T00:00:00Z');
await page.locator('.chips').getByRole('link', { name: 'ready', exact: true }).click();
await page.getByText('No task matches').waitFor();
assert.equal(await bar.inputValue(), 'state:ready type:fail');

// Selected tasks: a button for what can be done to them.
await page.goto(`${url}#/tasks/mail?f=state%3Adead`);
await page.locator('tbody input').first().check();
assert.deepEqual(await page.locator('.top .acts button').allInnerTexts(), ['Retry 1', 'Delete 1']);
await finish('filters');

// work.mjs - what an operator does: watch a task live, find a failure, read it, retry it; change 10,000 and leave; cancel what runs;
// pause a queue; control a worker.
import assert from 'node:assert/strict';
import { bulk, ended, finish, json, many, open, reeve, shots, until, url } from './browser.mjs';

const markup = '<img src=x onerror=alert(1)>';
bulk('mail', many(5, (i) => ({ type: 'fail', id: `bad-${i}`, attempts: 1, payload: { kind: 'smtp', message: markup, times: 1 } })));
bulk('exports', many(10000, (i) => ({ type: 'export', payload: { n: i } })));
bulk('old', many(300, (i) => ({ type: 'export', payload: { n: i } })));
reeve('cancel', 'exports', '--all');
for (let i = 0; i < 5; i++) ended(`mail/bad-${i}`);

// Trouble comes first; a failure is found, read and retried. Markup in an error stays text.
const page = await open('', { expects: /400 \(Bad Request\)/ }); // (a limit that is not valid)
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
await page.goto(`${url}#/tasks/mail`);
await page.locator('[data-find]').waitFor(); // (the page before has none)
await page.keyboard.press('/');
await page.keyboard.type('state:de');
await page.keyboard.press('Tab');
await page.keyboard.press('Enter');
await page.waitForURL(/f=state%3Adead/);
await page.getByText('5 tasks', { exact: true }).waitFor();
await page.reload();
await page.getByText('5 tasks', { exact: true }).waitFor();

// Progress is watched live, and a running task is cancelled.
reeve('enqueue', 'mail', 'steps', '{"steps":200,"ms":50}', '--id', 'long');
await page.goto(`${url}#/task/mail/long`);
const progress = page.getByRole('progressbar', { name: 'Progress' });
await progress.waitFor();
const first = Number(await progress.getAttribute('aria-valuenow'));
await until('progress', async () => Number(await progress.getAttribute('aria-valuenow')) > first);
await page.getByRole('button', { name: 'Cancel' }).click();
await page.locator('.top .badge.cancelled').waitFor();

// Everything that matches, by the server; the tab is closed meanwhile. To delete, the number is typed.
const other = await open('#/tasks/exports?f=state%3Acancelled');
await other.getByRole('button', { name: 'Retry all that match' }).click();
await other.getByRole('button', { name: 'Retry', exact: true }).click();
await other.waitForURL(/operations/);
await other.close();
await page.goto(`${url}#/operations`);
await page.locator('.badge.done').waitFor({ timeout: 60000 });
assert.ok((await page.locator('main').innerText()).includes('10,000 of 10,000'));
assert.equal(json('queues', 'exports').ready, 10000);
await page.goto(`${url}#/tasks/old?f=state%3Aready`);
await page.getByRole('button', { name: 'Delete all that match' }).click();
await page.getByRole('button', { name: 'Delete', exact: true }).click(); // (nothing is typed: it stays open)
await page.getByRole('textbox', { name: 'Type 300' }).fill('300');
await page.getByRole('button', { name: 'Delete', exact: true }).click();
await until('the deletion of all', () => json('queues', 'old').ready === 0, 60);

// A queue is paused and resumed.
await page.goto(`${url}#/queue/mail`);
await page.getByRole('button', { name: 'Pause' }).click();
await page.getByRole('button', { name: 'Resume' }).waitFor();
assert.equal(json('queues', 'mail').paused, true);
await page.getByRole('button', { name: 'Resume' }).click();
await page.getByRole('button', { name: 'Pause' }).waitFor();

// Limits are changed and taken away; a field that is not valid is refused, and the dialog stays.
await page.getByRole('button', { name: 'Limits', exact: true }).click();
const atOnce = page.getByRole('textbox', { name: 'Tasks at a time' }).first(), starts = page.getByRole('textbox', { name: /Starts in a period/ }).first();
await atOnce.fill('7');
await starts.fill('fast');
await page.getByRole('button', { name: 'Change' }).click();
await page.locator('.toast.bad', { hasText: 'rate' }).waitFor();
await starts.fill('500/1s');
await page.getByRole('button', { name: 'Change' }).click();
await until('the limits', () => json('limit', 'mail').concurrency === 7 && json('limit', 'mail').rate.count === 500);
await page.goto(`${url}#/limits`);
await page.getByRole('button', { name: 'Change: mail' }).click();
await atOnce.fill('1O'); // (is no number, and no wish for no limit)
await page.getByRole('button', { name: 'Change', exact: true }).click();
await page.locator('.toast.bad', { hasText: 'concurrency' }).waitFor();
assert.equal(json('limit', 'mail').concurrency, 7);
await atOnce.fill('');
await starts.fill('');
await page.getByRole('button', { name: 'Change', exact: true }).click();
await until('no limits', () => json('limit', 'mail').concurrency === null && json('limit', 'mail').rate === null);

// Pages show what is new by themselves, but what is pressed stays until it is let go.
const shows = async (path, make, text) => {
  await page.goto(url + path);
  await page.locator('main table, main .empty').first().waitFor();
  make();
  await page.getByText(text).first().waitFor({ timeout: 60000 });
};
await shows('#/dead', () => { reeve('enqueue', 'mail', 'fail', '{"kind":"brand-new","message":"m"}', '--id', 'newly', '--attempts', '1'); ended('mail/newly'); }, 'brand-new');
await shows('#/cron', () => reeve('cron', 'add', 'yearly-one', '@yearly', 'mail', 'echo'), 'yearly-one');
await shows('#/batches', () => {
  reeve('enqueue', 'mail', 'echo', '{}', '--id', 'not-yet', '--in', '1h');
  reeve('enqueue', 'mail', 'echo', '{}', '--id', 'waits-for', '--after', 'mail/not-yet');
}, 'waits-for');
await page.goto(`${url}#/queue/mail`);
const pause = page.getByRole('button', { name: 'Pause' });
await pause.waitFor();
const place = await pause.boundingBox(), held = await pause.elementHandle();
await page.mouse.move(place.x + 5, place.y + 5);
await page.mouse.down();
await new Promise((resolve) => setTimeout(resolve, 2500)); // (two snapshots)
assert.ok(await held.evaluate((node) => node.isConnected), 'a button that is pressed stays');
await page.mouse.up();
await page.getByRole('button', { name: 'Resume' }).click();
await pause.waitFor();
reeve('cron', 'remove', 'mail/yearly-one');

// Parents and children: all of them are in the graph, which moves with the pointer and the keys; a link opens only when it does not move.
reeve('enqueue', 'mail', 'echo', '{}', '--id', 'first', '--in', '1h');
for (let i = 0; i < 30; i++) reeve('enqueue', 'mail', 'echo', '{}', '--id', `then-${i}`, '--after', 'mail/first');
await page.goto(`${url}#/task/mail/first`);
const graph = page.locator('svg.graph'), viewBox = async () => (await graph.getAttribute('viewBox')).split(' ').map(Number);
await graph.waitFor();
assert.equal(await graph.locator('a').count(), 30);
const before = await viewBox(), at = await graph.locator('a').nth(15).boundingBox();
await page.mouse.move(at.x + 20, at.y + 10);
await page.mouse.down();
await page.mouse.move(at.x + 20, at.y - 140, { steps: 5 });
await page.mouse.up();
assert.ok((await viewBox())[1] > before[1] + 50, 'the graph moves with the pointer');
assert.ok(page.url().endsWith('mail/first'), 'no link was opened');
await graph.focus();
await page.keyboard.press('ArrowUp');
await page.keyboard.press('+');
assert.ok((await viewBox())[2] < before[2], 'the graph is larger');
await page.keyboard.press('0');
assert.deepEqual(await viewBox(), before);
await graph.locator('a').nth(14).click();
await page.waitForURL(/then-14/);

// A worker gets more threads, is made quiet, resumes, and shows its stacks.
await page.goto(`${url}#/workers`);
await page.getByRole('button', { name: 'Threads: media-1' }).click();
await page.getByRole('spinbutton', { name: 'Threads of main' }).fill('6');
await page.getByRole('button', { name: 'Change' }).click();
await until('six threads', () => json('workers').threads === 6);
await page.locator('h1').click(); // (a button that has the focus would stay)
await page.getByRole('button', { name: 'Quiet: media-1' }).click();
await until('the worker is quiet', () => json('workers').state === 'quiet');
await page.getByRole('button', { name: 'Resume: media-1' }).click();
await until('the worker resumes', () => json('workers').state === 'running');
reeve('enqueue', 'thumbs', 'sleep', '{"ms":60000}', '--id', 'asleep');
await until('a task runs', () => json('show', 'thumbs/asleep').state === 'running');
assert.ok(await page.locator('.toast').count() <= 4, 'messages do not cover the page');
await page.getByRole('button', { name: 'Stacks: media-1' }).click();
await page.getByRole('heading', { name: 'Stacks of media-1' }).waitFor();
assert.match(await page.locator('.stacks pre').first().innerText(), /^#0 .*\n#1 /, 'a frame is a line');
await page.locator('.stacks h3 a', { hasText: 'thumbs/asleep' }).waitFor();
await page.screenshot({ path: `${shots}/stacks-light.png` });
await page.keyboard.press('Escape');
reeve('threads', json('workers').worker, 'main', '4');
await finish('work');

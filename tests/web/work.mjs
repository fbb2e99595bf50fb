// work.mjs - what an operator does: watch a task live, find a failure, read it, retry it; change 10,000 and leave; cancel what runs;
// pause a queue; control a worker.
import assert from 'node:assert/strict';
import { bulk, ended, finish, json, many, open, reeve, until, url } from './browser.mjs';

const markup = '<img src=x onerror=alert(1)>';
bulk('mail', many(5, (i) => ({ type: 'fail', id: `bad-${i}`, attempts: 1, payload: { kind: 'smtp', message: markup, times: 1 } })));
bulk('exports', many(10000, (i) => ({ type: 'export', payload: { n: i } })));
bulk('old', many(300, (i) => ({ type: 'export', payload: { n: i } })));
reeve('cancel', 'exports', '--all');
for (let i = 0; i < 5; i++) ended(`mail/bad-${i}`);

// Trouble comes first; a failure is found, read and retried. Markup in an error stays text.
const page = await open();
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
await page.getByRole('button', { name: 'Stacks: media-1' }).click();
await page.getByRole('heading', { name: 'Stacks of media-1' }).waitFor();
await page.keyboard.press('Escape');
reeve('threads', json('workers').worker, 'main', '4');
await finish('work');

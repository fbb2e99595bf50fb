// names.mjs - names that paths and filters could misread: queues, tasks and entries that are called ".." (which browsers take out of
// a path), ids with colons, kinds and groups with blanks and quotes; and names that are none, which the page refuses in words.
import assert from 'node:assert/strict';
import { bulk, ended, finish, json, open, reeve, until, url } from './browser.mjs';

const page = await open('', { expects: /400 \(Bad Request\)|404 \(Not Found\)|409 \(Conflict\)/ });
const main = page.locator('main'), press = (name) => page.getByRole('button', { name, exact: true }).click();

for (const dots of ['.', '..']) {
  reeve('enqueue', dots, 'wait', '{}', '--id', dots);
  reeve('enqueue', dots, 'wait', '{}', '--id', `after${dots}`, '--after', `${dots}/${dots}`);
  reeve('cron', 'add', dots, '0 3 * * *', dots, 'report');

  // The queue: from the list, with all that is done to it.
  await page.goto(`${url}#/queues`);
  await page.getByRole('link', { name: dots, exact: true }).click();
  await page.getByRole('heading', { name: dots, exact: true }).waitFor();
  await main.getByRole('heading', { name: 'The last 30 days (UTC)' }).waitFor();
  await press('Pause');
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  assert.equal(json('queues', dots).paused, true);
  await press('Resume');
  await until('it runs again', () => !json('queues', dots).paused);
  await press('Limits');
  await page.getByRole('textbox', { name: 'Tasks at a time' }).first().fill('3');
  await press('Change');
  await until('the limit', () => json('limit', dots).concurrency === 3);
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();

  // Its tasks, and one of them.
  await page.locator('tbody tr').nth(1).waitFor();
  await page.getByRole('link', { name: dots, exact: true }).last().click();
  await page.getByRole('heading', { name: 'Parents and children' }).waitFor();
  await press('Cancel');
  await press('Cancel all'); // (a task waits for it)
  await page.locator('.top .badge.cancelled').waitFor();
  await press('Retry');
  await page.locator('.top .badge.ready').waitFor();
  await press('Delete');
  await page.locator('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.waitForURL(/#\/tasks\//);
  await until('it is gone', () => { try { json('show', `${dots}/${dots}`); return false; } catch { return true; } });

  // All that match, and its recurring entry.
  reeve('enqueue', dots, 'wait', '{}', '--id', 'left');
  await page.goto(`${url}#/tasks/${dots}?f=state%3Aready`);
  await page.getByRole('button', { name: 'Cancel all that match' }).click();
  await page.locator('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.waitForURL(/operations/);
  await until('all are cancelled', () => json('show', `${dots}/left`).state === 'cancelled');
  await page.goto(`${url}#/cron`);
  await main.locator('tbody tr').first().getByRole('button', { name: 'Run now' }).click();
  await until('the entry ran', () => json('queues', dots).ready === 1);
  reeve('cron', 'remove', `${dots}/${dots}`);
}

// What is no name is refused, and the page says why.
for (const [path, words] of Object.entries({ 'queue/%252e%252e': 'is no queue', 'queue/%2F': 'is no queue', 'queue/a%3Ab': 'is no queue', 'tasks/%2F': 'is no queue', 'task/%2F/x': 'is no queue', 'task/mail/%2F': 'The task cannot be read' })) {
  await page.goto('about:blank');
  await page.goto(`${url}#/${path}`);
  await main.getByText(words).first().waitFor();
}

// An id with colons is found by its beginning; what is no filter is said to be none.
reeve('enqueue', 'mail', 'echo', '{}', '--id', 'order:17:paid', '--group', 'Ann "A" Lee', '--in', '1h');
async function find(filter) {
  await page.goto('about:blank');
  await page.goto(`${url}#/tasks/mail`);
  await page.locator('[data-find]').fill(filter);
  await page.locator('[data-find]').press('Enter');
}
await find('order:17');
await page.getByText('1 task', { exact: true }).waitFor();
await find('tpye:echo');
await page.getByText('tpye is no filter').waitFor();

// Links to the tasks of a group, of a kind of error: with blanks and quotes.
await page.goto(`${url}#/task/mail/order:17:paid`);
await page.getByRole('link', { name: 'Ann "A" Lee' }).click();
await page.getByText('1 task', { exact: true }).waitFor();
assert.equal(await page.locator('[data-find]').inputValue(), 'group:"Ann \\"A\\" Lee"');
bulk('mail', [{ type: 'fail', id: 'full', attempts: 1, payload: { kind: 'over "quota" now', message: 'm', times: 1 } }]);
ended('mail/full');
const kind = page.getByRole('link', { name: 'over "quota" now' });
await until('the snapshot has the dead task', async () => { // (it may be a second old)
  await page.goto('about:blank');
  await page.goto(`${url}#/dead`);
  await main.locator('tbody tr, .empty').first().waitFor();
  return await kind.count() === 1;
});
await kind.click();
await page.getByText('1 task', { exact: true }).waitFor();
await page.getByRole('link', { name: 'full', exact: true }).waitFor();
await finish('names');

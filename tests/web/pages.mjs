// pages.mjs - every page, light, dark and on a phone: nothing is wider than the screen, axe-core finds nothing serious, and a picture
// is kept.
import assert from 'node:assert/strict';
import { accessible, bulk, complaints, ended, finish, many, open, reeve, shots, url } from './browser.mjs';

bulk('mail', many(4, (i) => ({ type: 'fail', id: `lost-${i}`, attempts: 1, payload: { kind: ['smtp', 'dns', 'quota'][i % 3], message: ['550 mailbox unavailable', 'no such host: mx.example.com', 'over quota'][i % 3], times: 1 } })));
bulk('thumbs', many(60, (i) => ({ type: i % 3 ? 'echo' : 'sleep', payload: i % 3 ? { picture: `${i}.jpg`, width: 480 } : { ms: 20 } })));
bulk('exports', many(240, (i) => ({ type: 'export', payload: { tenant: i % 7 } })));
bulk('reports', many(12, (i) => ({ type: 'report', in: 600 + i * 60 })));
reeve('enqueue', 'thumbs', 'steps', '{"steps":400,"ms":100}', '--id', 'film-12', '--tag', 'video');
reeve('enqueue', 'thumbs', 'sleep', '{"ms":40000}', '--id', 'film-13', '--tag', 'video');
reeve('enqueue', 'mail', 'digest', '{"to":"ann@example.com"}', '--id', 'digest', '--after', 'thumbs/film-12', '--after', 'thumbs/film-13');
reeve('limit', 'thumbs', '--concurrency', '8', '--rate', '100/1s');
reeve('cron', 'add', 'nightly', '0 3 * * *', 'reports', 'report', '--zone', 'Europe/Berlin');
reeve('cron', 'add', 'sweep', 'every 90s', 'mail', 'echo');
reeve('pause', 'reports');
for (let i = 0; i < 4; i++) ended(`mail/lost-${i}`);

// The path of each page, and what is there when it has its content.
const rows = 'tbody tr', story = '.time li', faults = [], pages = { overview: ['', rows], queues: ['queues', rows], queue: ['queue/mail', '.facts'], tasks: ['tasks/mail', rows], task: ['task/mail/lost-1', '.time li:has-text("media-1")'], running: ['task/thumbs/film-12', story], waiting: ['task/mail/digest', story],
  dead: ['dead', rows], types: ['dead?t', rows], groups: ['queues?g', rows], month: ['?r=month', rows], batches: ['batches', 'tbody tr, .empty'], limits: ['limits', rows], workers: ['workers', '.worker'], cron: ['cron', rows], operations: ['operations', '.empty'], health: ['health', '.facts'] };
for (const [kind, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, phone: { viewport: { width: 390, height: 844 } } })) {
  const at = await open('', options);
  for (const [name, [path, content]] of Object.entries(pages)) {
    await at.goto('about:blank'); // (nothing of the page before)
    await at.goto(`${url}#/${path}`);
    await at.locator('main h1').waitFor();
    await at.locator(`main ${content}`).first().waitFor().catch((e) => { throw new Error(`${name}, ${kind}: ${e.message}`); });
    assert.ok(await at.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is too wide: ${kind}`);
    await at.screenshot({ path: `${shots}/${name}-${kind}.png`, fullPage: true });
    faults.push(...await accessible(at, `${name}, ${kind}`));
  }
  await at.close();
}

// Addresses that somebody typed: a page is shown. What reorders the text beside it is an escape. Links among buttons have their height.
const at = await open();
for (const [path, heading] of Object.entries({ '%zz': 'Overview', 'task/mail': 'Tasks', 'task/mail/%': '%', 'tasks/ma%zzil': 'Tasks' })) {
  await at.goto('about:blank');
  await at.goto(`${url}#/${path}`);
  await at.locator('main h1', { hasText: heading }).first().waitFor();
}
complaints.length = 0; // (404 and 400)
reeve('enqueue', 'mail', 'echo', JSON.stringify({ text: 'a\u202eb' }), '--id', 'reordered');
await at.goto(`${url}#/task/mail/reordered`);
await at.locator('pre', { hasText: 'a\\u202eb' }).first().waitFor();
await at.goto(`${url}#/queue/mail`);
await at.locator('.top .acts > *').first().waitFor();
const tops = await at.locator('.top .acts > *').evaluateAll((list) => list.map((x) => { const range = document.createRange(); range.selectNodeContents(x); return Math.round(range.getBoundingClientRect().top); }));
assert.equal(new Set(tops).size, 1, `the texts of the buttons are not at one height: ${tops}`);
assert.deepEqual(faults, []);
await finish('pages');

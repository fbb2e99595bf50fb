// workers.js - the workers, and what they are asked.
'use strict';

function utilisation(u) {
  if (u === null) return '–';
  const fill_ = h('div'); fill_.style.width = Math.round(u * 100) + '%';
  return [h('span', { class: 'util', 'aria-hidden': 'true' }, fill_), Math.round(u * 100) + ' %'];
}
// Asks a worker, and says what it answered.
async function askWorker(w, what, body) {
  try { toast(`${w.name}: ${(await api('POST', `workers/${encodeURIComponent(w.worker)}/${what}`, body)).text}`); } catch (e) { toast(`${w.name}: ${e.message}`, true); }
}
function threadsDialog(w) {
  const pools = w.pools.map((p) => [p, h('input', { type: 'number', min: 1, max: 1024, value: p.threads, 'aria-label': 'Threads of ' + p.name })]);
  ask(`Threads of ${w.name}`, pools.map(([p, field]) => h('label', null, p.name, sub(' ', (p.queues || []).join(', ')), field)), ['Keep them', ''], ['Change', 'main', async () => {
    for (const [p, field] of pools) {
      const n = Number(field.value);
      if (!Number.isInteger(n) || n < 1 || n > 1024) { field.focus(); return false; }
      if (n !== p.threads) await askWorker(w, 'threads', { pool: p.name, threads: n });
    }
  }]);
}
async function stackDialog(w) {
  try {
    const { stacks } = await api('GET', `workers/${encodeURIComponent(w.worker)}/stack`);
    ask(`Stacks of ${w.name}`, h('div', { class: 'stacks', tabindex: 0, role: 'group', 'aria-label': 'Stacks' }, stacks.threads.map((t) =>
      h('section', null, h('h3', null, t.thread, ' ', sub(`thread ${t.tid}`), t.id && [' ', taskName(`${t.queue}/${t.id}`, `${t.queue}/${t.id}`), ' ', sub(`${t.type}, for ${span(t.for_ms)}`)]), h('pre', null, t.stack || 'it gave none'))), stacks.left_out > 0 && sub(`${stacks.left_out} more threads`)), ['Close', 'main']);
  } catch (e) { toast(`${w.name}: ${e.message}`, true); }
}
function workerActs(w) {
  const ask_ = (label, run, kind) => button({ class: kind, 'aria-label': `${label}: ${w.name}`, click: run }, label);
  return may('operator') && h('div', { class: 'acts end' }, w.state === 'quiet' ? ask_('Resume', () => askWorker(w, 'resume')) : ask_('Quiet', () => askWorker(w, 'quiet')), ask_('Threads', () => threadsDialog(w)), ask_('Stacks', () => stackDialog(w)),
    may('admin') && [ask_('Reload', () => askWorker(w, 'reload')), ask_('Stop', () => ask(`Stop ${w.name}?`, h('p', null, 'It takes no new tasks, lets running ones finish, and ends. Its supervisor may start it again.'), ['Keep it', ''], ['Stop', 'danger', () => askWorker(w, 'stop')]), 'danger')]);
}
function poolLine(p) {
  return h('div', { class: 'pool' }, h('b', null, p.name), sub(`${p.threads} thread${p.threads === 1 ? '' : 's'}`), utilisation(p.utilisation === undefined ? null : p.utilisation),
    sub((p.queues || []).slice(0, 8).map((q, i) => [i ? ', ' : '', h('a', { href: queueLink(q) }, q)]), (p.queues || []).length > 8 ? ` and ${p.queues.length - 8} more` : ''));
}
function workerPanel(w, at) {
  return h('section', { class: 'panel worker', 'aria-label': w.name },
    h('div', { class: 'head' }, h('h2', null, w.name, ' ', badge(at - w.seen_ms > 30000 ? 'silent' : w.state)), workerActs(w)),
    h('p', { class: 'sub' }, `${w.host} · process ${w.pid} · reeve ${w.version || '?'} · up ${span(now() - w.started_ms)} · ${bytes(w.memory_bytes)} · Redis ${w.round_trip_us ? span(w.round_trip_us / 1000) : '–'} · seen `, ago(w.seen_ms)),
    h('div', { class: 'tiles inner' }, tile(`of ${w.threads} threads busy`, count(w.busy)), tile('utilisation', w.utilisation === null ? '–' : Math.round(w.utilisation * 100) + ' %'), tile('completed', count(w.processed - w.failed)), tile('failed', count(w.failed), null, w.failed > 0)),
    w.pools.map(poolLine));
}
function workers(parts, query) {
  const holder = h('div'), crashes = h('div'), foot = h('div'), size = 20;
  let drawn = '', offset = 0, text = query.get('p') || '', busy = false;
  const find = h('input', { type: 'search', placeholder: 'Name or host contains …', 'aria-label': 'Name or host contains', value: text, 'data-find': true, input: (e) => { text = e.target.value; offset = 0; load(); } });
  async function load() {
    if (busy) return;
    busy = true;
    try { draw(await api('GET', `workers?limit=${size}&offset=${offset}` + (text ? '&find=' + encodeURIComponent(text) : ''))); } finally { busy = false; }
  }
  function draw({ workers: list, total, at_ms: at }) {
    const state = list.map((w) => w.worker + w.state).join();
    if (holder.contains(document.activeElement) && drawn === state) return; // (a button that has the focus stays)
    drawn = state;
    for (const w of list) workerNames.set(w.worker, w.name);
    const running = list.flatMap((w) => w.running.map((r) => ({ ...r, on: w.name }))).sort((a, b) => b.for_ms - a.for_ms).slice(0, 50);
    put(holder, list.length ? list.map((w) => workerPanel(w, at)) : flush(text ? empty('No such worker', 'No name or host contains this.') : empty('No live worker', 'Workers show themselves with their first heartbeat.', 'reeve-worker -c worker.conf')),
      running.length > 0 && flush(h('h2', null, 'Running, the longest first'), table(['Task', 'Type', 'Queue', 'Worker', 'Thread', ['For', 'num']], running.map((r) => h('tr', { 'data-link': taskLink(r.handle) }, td(taskName(r.handle, r.id), r.stuck ? [' ', badge('stuck')] : null), td(r.type), td(r.queue), td(r.on), td(r.thread), num(span(r.for_ms)))))));
    put(foot, total > size && flush(pager(offset, size, total, (to) => { offset = to; drawn = ''; load(); })));
  }
  const crashed = renewed(10, async (age) => {
    const list = (await look('crashes', age)).crashes;
    put(crashes, list.length > 0 && flush(h('h2', null, 'Last crashes'), table([['When', 'num'], 'Task', 'Type', 'What', ''], list.slice(0, 20).map((c) => h('tr', null, num(ago(c.at_ms)), td(c.handle ? taskName(c.handle, c.handle) : '–'), td(c.type), h('td', { class: 'clip' }, c.message),
      num(c.backtrace && button({ click: () => ask('Backtrace', h('pre', null, c.backtrace), ['Close', 'main']) }, 'Backtrace')))))));
  });
  return { title: 'Workers', node: [heading('Workers', h('div', { class: 'acts' }, find)), holder, foot, crashes],
    tick: (s) => { crashed.tick(s); return load(); }, first: () => Promise.all([load(), crashed.first()]) };
}

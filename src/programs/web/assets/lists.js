// lists.js - dead tasks, batches, operations, and the health of Redis.
'use strict';

function dead(parts, query) {
  const holder = h('div'), byType = query.has('t');
  const chips = choice('View', [['#/dead', 'By kind of error', !byType], ['#/dead?t', 'By type', byType]]);
  const row = (f) => { const link = filterLink(f.queue, { state: 'dead', [byType ? 'type' : 'kind']: byType ? f.type : f.kind }); return h('tr', { 'data-link': link },
    td(h('a', { class: 'name', href: link }, (byType ? f.type : f.kind) || '(none)')), td(f.queue), number(f.count), h('td', { class: 'clip sub' }, h('a', { href: taskLink(f.last_handle) }, f.last_message || f.last_handle)), td(byType ? f.last_kind : f.last_type), num(ago(f.last_ms))); };
  const life = renewed(10, async (age) => {
    const page = await api('GET', 'queues?limit=1000'), dying = page.queues.map((q) => q.info).filter((i) => i.dead > 0).sort((a, b) => b.dead - a.dead), with_ = dying.slice(0, byType ? 20 : 50);
    const found = await Promise.all(with_.map((i) => look(queuePath(i.queue) + (byType ? '/dead-types' : '/failures?limit=50'), age))), all = found.flatMap((f) => byType ? f.types : f.failures).sort((a, b) => b.last_ms - a.last_ms);
    const [seen, total] = ['seen', 'total'].map((k) => found.reduce((n, f) => n + f[k], 0));
    put(holder, flush(all.length ? table([byType ? 'Type' : 'Kind', 'Queue', ['Dead', 'num'], 'Last message', byType ? 'Kind' : 'Type', ['Last', 'num']], all.map(row)) :
      empty('No dead task', 'Tasks that fail for the last time come here, and can be retried.'), byType && seen < total && h('div', { class: 'foot' }, `Of the latest ${whole.format(seen)} of ${whole.format(total)} dead tasks.`),
      dying.length > with_.length && h('div', { class: 'foot' }, `Of the ${with_.length} queues with the most dead tasks, of ${whole.format(dying.length)}.`)));
  });
  return { title: 'Dead', node: [heading('Dead tasks', sub('the latest first')), chips, holder], ...life };
}


function members(m) {
  const ended = m.members - m.left;
  return h('div', null, h('div', { class: 'progress', role: 'progressbar', 'aria-label': 'Members that have ended', 'aria-valuenow': ended, 'aria-valuemin': 0, 'aria-valuemax': m.members }, bar(m.members ? 100 * ended / m.members : 0)),
    sub(`${whole.format(ended)} of ${whole.format(m.members)} ended`, m.dead ? `, ${whole.format(m.dead)} dead` : '', m.cancelled ? `, ${whole.format(m.cancelled)} cancelled` : '', m.failed ? `, ${whole.format(m.failed)} of the others have failed` : '', m.open ? '; open: members may still be added' : ''));
}
function batches() {
  const holder = h('div');
  const life = renewed(15, async (age) => {
    const waiting = (await api('GET', 'queues?limit=1000')).queues.map((q) => q.info).filter((i) => i.blocked > 0), total = waiting.reduce((n, i) => n + i.blocked, 0);
    const found = (await Promise.all(waiting.slice(0, 20).map((i) => look(queuePath(i.queue) + '/tasks?state=blocked&limit=50', age)))).flatMap((p) => p.tasks).slice(0, 50);
    const counts = await Promise.all(found.map((t) => look(taskPath(t) + '/parents', age).catch(() => null)));
    put(holder, flush(found.length ? table(['Waiting task', 'Type', 'Queue', 'What it waits for', ['Enqueued', 'num']], found.map((t, i) => h('tr', { 'data-link': taskLink(t.handle) },
      td(taskName(t.handle, t.id)), td(t.type), td(h('a', { href: tasksLink(t.queue, 'state:blocked') }, t.queue)), h('td', { class: 'grow' }, counts[i] ? members(counts[i]) : '–'), num(ago(t.enqueued_ms))))) :
      empty('No task waits for others', 'The callbacks of batches, and tasks after others, are listed here.', 'reeve batch open --complete TASK'), found.length < total && h('div', { class: 'foot' }, `${found.length} of ${whole.format(total)} tasks that wait.`)));
  });
  return { title: 'Batches', node: [heading('Batches', sub('and other tasks that wait for tasks')), holder], ...life };
}

function operations() {
  const holder = h('div');
  let busy = false;
  async function load() {
    if (busy) return;
    busy = true;
    try {
      const list = (await api('GET', 'operations')).operations;
      put(holder, flush(list.length ? table(['Operation', 'Filter', 'Progress', 'State', 'By', ['Began', 'num'], ''], list.map((o) => {
        const on = o.phase === 'running' || o.phase === 'counting', took = ((o.ended_ms || now()) - o.began_ms) / 1000;
        return h('tr', null, td(h('span', { class: 'name' }, o.action), ' ', h('a', { href: queueLink(o.queue) }, o.queue)), h('td', { class: 'mono clip' }, o.filter ? showFilter(Object.entries(o.filter).flatMap(([k, v]) => [].concat(v).map((x) => [k, String(x)]))) : ''),
          td(h('div', { class: 'progress', role: 'progressbar', 'aria-label': 'Progress', 'aria-valuenow': o.done, 'aria-valuemin': 0, 'aria-valuemax': o.total }, bar(o.total ? 100 * (o.done + o.refused) / o.total : o.phase === 'done' ? 100 : 0)), sub(`${whole.format(o.done)} of ${whole.format(o.total)}`, o.refused ? `, ${whole.format(o.refused)} refused` : '', took > 0.2 ? `, ${rate(o.done / took)}/s` : '')),
          td(badge(o.phase), o.error && h('div', { class: 'sub' }, o.error)), td(o.user), num(ago(o.began_ms)), num(on && may(o.action === 'delete' ? 'admin' : 'operator') && button({ click: () => act('POST', `operations/${o.operation}/cancel`, 'It stops', load) }, 'Cancel')));
      })) : empty('No operation yet', 'Changes of all tasks that match a filter are listed here, with who began them.')));
    } finally { busy = false; }
  }
  return { title: 'Operations', node: [heading('Operations', sub('of this server; they go on when the page is closed')), holder], tick: load, first: load };
}

function health() {
  const holder = h('div');
  const life = renewed(5, async (age) => {
    const r = await look('redis', age), yes = (x) => x === null ? 'not known' : x ? 'yes' : 'no';
    put(holder, h('div', { class: 'two' }, panel('Redis', facts([['Version', `${r.version} (${r.role}, ${r.mode})`], ['Memory', bytes(r.used_bytes) + (r.max_bytes > 0 ? ` of ${bytes(r.max_bytes)}` : ', no limit')], ['Eviction', r.eviction], ['Evicted keys', whole.format(r.evicted)], ['User', r.user]])),
      panel('Durability', facts([['Append-only file', yes(r.append_only) + (r.append_only ? `, fsync ${r.fsync}` : '')], ['Save points', r.save || 'none'], ['Last append failed', yes(r.append_failed)], ['Last save failed', yes(r.save_failed)]])),
      panel('Latency and clock', facts([['Round trip', `${span(r.median_us / 1000)}, at best ${span(r.best_us / 1000)}`], ['Redis’s clock', `${r.clock_ahead_ms >= 0 ? '+' : ''}${r.clock_ahead_ms} ms, ± ${r.clock_about_ms} ms against this server`]])),
      panel('This server', facts([['Version', r.reeve], ['Since', when(r.started_ms)], ['Metrics', h('a', { href: 'metrics' }, 'metrics')]]), command('reeve doctor'))));
  });
  return { title: 'Health', node: [heading('Health'), holder], ...life };
}

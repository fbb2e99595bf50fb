// pages.js - what each page shows. A page is a function of its path and query; it returns {title, node, tick, leave}.
// tick is called with each snapshot.
'use strict';

const STATES = ['ready', 'running', 'scheduled', 'blocked', 'parked', 'completed', 'dead', 'cancelled'];
const queueLink = (name) => '#/queue/' + encodeURIComponent(name);
const tasksLink = (name, filter) => '#/tasks/' + encodeURIComponent(name) + (filter ? '?f=' + encodeURIComponent(filter) : '');
const taskLink = (handle) => { const at = handle.indexOf('/'); return '#/task/' + encodeURIComponent(handle.slice(0, at)) + '/' + encodeURIComponent(handle.slice(at + 1)); };
const queuePath = (name) => 'queues/' + encodeURIComponent(name);
const taskPath = (task) => 'tasks/' + encodeURIComponent(task.queue) + '/' + encodeURIComponent(task.id);

function panel(title, ...content) { return h('section', { class: 'panel' }, title && h('h2', null, title), content); }
function empty(title, text, code) { return h('div', { class: 'empty' }, h('strong', null, title), text, code && h('div', null, h('code', null, code))); }
function table(heads, rows) {
  return h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', null,
    h('thead', null, h('tr', null, heads.map((head) => { const [text, kind] = Array.isArray(head) ? head : [head]; return h('th', { scope: 'col', class: kind }, text); }))),
    h('tbody', null, rows)));
}
function pager(offset, size, total, go) {
  return h('div', { class: 'foot' }, `${whole.format(offset + 1)}–${whole.format(Math.min(total, offset + size))} of ${whole.format(total)}`,
    h('div', { class: 'acts' }, h('button', { type: 'button', disabled: offset === 0, click: () => go(Math.max(0, offset - size)) }, 'Back'),
      h('button', { type: 'button', disabled: offset + size >= total, click: () => go(offset + size) }, 'More')));
}
function facts(pairs) {
  return h('dl', { class: 'facts' }, pairs.filter((p) => p && p[1] !== null && p[1] !== undefined && p[1] !== '').map(([k, v]) => [h('dt', null, k), h('dd', null, v)]));
}
function tile(label, value, link, bad) {
  return h(link ? 'a' : 'div', { class: bad ? 'tile bad' : 'tile', href: link }, h('div', { class: 'n' }, value), h('div', { class: 'l' }, label));
}

// ---- queues --------------------------------------------------------------------------------------------------------

function queueRow(q, totals) {
  const i = q.info;
  return h('tr', { 'data-link': queueLink(i.queue) },
    h('td', null, h('a', { class: 'name', href: queueLink(i.queue) }, i.queue), i.paused || i.pause_until_ms > now() ? [' ', badge('paused')] : null),
    h('td', { class: 'hide' }, spark(q.spark)),
    h('td', { class: 'num' }, rate(q.completed_per_s), h('span', { class: 'sub' }, ' /s')),
    number(i.ready), number(i.running), number(i.scheduled), number(i.dead),
    h('td', { class: 'num' }, i.oldest_ready_ms ? span(Math.max(0, now() - i.oldest_ready_ms)) : h('span', { class: 'zero' }, '–')),
    h('td', { class: 'num hide' }, i.workers === 0 && i.ready ? h('span', { class: 'badge dead' }, 'none') : i.workers));
}
const QUEUE_HEADS = ['Queue', ['Last 5 minutes', 'hide'], ['Done', 'num'], ['Ready', 'num'], ['Running', 'num'], ['Scheduled', 'num'], ['Dead', 'num'], ['Oldest', 'num'], ['Workers', 'num hide']];

function groupRow(g) {
  if (!g.prefix) return queueRow(g.queues[0]);
  const link = '#/queues?p=' + encodeURIComponent(g.prefix);
  return h('tr', { 'data-link': link }, h('td', null, h('a', { class: 'name', href: link }, g.prefix + '*'), h('span', { class: 'sub' }, ` ${whole.format(g.count)} queues`), g.paused > 0 && [' ', badge('paused'), h('span', { class: 'sub' }, ` ${g.paused}`)]),
    h('td', { class: 'hide' }, spark(g.spark)), h('td', { class: 'num' }, rate(g.completed_per_s), h('span', { class: 'sub' }, ' /s')), number(g.ready), number(g.running), number(g.scheduled), number(g.dead),
    h('td', { class: 'num' }, g.oldest_ready_ms ? span(Math.max(0, now() - g.oldest_ready_ms)) : h('span', { class: 'zero' }, '–')), h('td', { class: 'num hide' }, g.unserved > 0 && h('span', { class: 'badge dead' }, `none for ${g.unserved}`)));
}
function queues(parts, query) {
  const list = h('div'), size = 50, grouped = query.has('g');
  let offset = 0, prefix = query.get('p') || '', busy = false;
  const find = h('input', { type: 'search', placeholder: 'Names that begin with …', 'aria-label': 'Names that begin with', value: prefix, 'data-find': true,
    input: (e) => { prefix = e.target.value; offset = 0; load(); } });
  const chips = h('div', { class: 'chips', role: 'group', 'aria-label': 'View' }, [['#/queues', 'Each queue', !grouped && !prefix], ['#/queues?g', 'By prefix', grouped]].map(([href, text, on]) => h('a', { href, 'aria-current': on ? 'true' : null }, text)));
  async function load() {
    if (busy) return;
    busy = true;
    try {
      const by = grouped && !prefix, page = await api('GET', `${by ? 'queue-groups' : 'queues'}?limit=${size}&offset=${offset}` + (prefix ? '&prefix=' + encodeURIComponent(prefix) : '')), rows = by ? page.groups.map(groupRow) : page.queues.map(queueRow);
      put(list, h('section', { class: 'panel flush' }, rows.length ? table(QUEUE_HEADS, rows) :
        empty(prefix ? 'No such queue' : 'No queue yet', prefix ? 'No name begins with this.' : 'A queue comes to be with its first task.'),
        page.total > size && pager(offset, size, page.total, (to) => { offset = to; load(); })));
    } finally { busy = false; }
  }
  return { title: 'Queues', node: [h('div', { class: 'top' }, h('h1', null, 'Queues'), h('span', { class: 'sub' }, 'those in trouble first'), h('div', { class: 'acts' }, find)), chips, list], tick: load, first: load };
}

const rateText = (r) => r ? `${r.count}/${r.period_ms % 1000 ? r.period_ms + 'ms' : r.period_ms / 1000 + 's'}` + (r.burst && r.burst !== r.count ? ':' + r.burst : '') : '';
// Limits of a queue, of each of its groups, or of one group; an empty field is no limit.
async function limitsDialog(name, then) {
  let i;
  try { i = await api('GET', queuePath(name)); } catch (e) { toast(e.message, true); return; } // (a snapshot may be older than the last change)
  const field = (label, value, attributes) => [label, h('input', { type: 'text', autocomplete: 'off', value: value || '', placeholder: 'no limit', ...attributes }), value || ''];
  const parts = [['The queue', {}, i], ['Each of its groups', { each_group: true }, i.each_group || {}]].map(([title, body, now_]) => ({ title, body,
    fields: [field('Tasks at a time', now_.concurrency, { inputmode: 'numeric' }), field('Starts in a period, such as 100/1s or 5/m:20', rateText(now_.rate))] }));
  ask(`Limits of ${name}`, parts.map((part) => h('fieldset', null, h('legend', null, part.title), part.fields.map(([label, input]) => h('label', null, label, input)))), ['Keep them', ''], ['Change', 'main', async () => {
    let changed = 0;
    for (const { body, fields: [[, many, had], [, starts, was]] } of parts) {
      const change = { ...body };
      if (many.value.trim() !== String(had)) change.concurrency = many.value.trim() === '' ? null : Number(many.value);
      if (starts.value.trim() !== was) change.rate = starts.value.trim() || null;
      if (!('concurrency' in change) && !('rate' in change)) continue;
      try { await api('POST', queuePath(name) + '/limits', change); changed++; } catch (e) { toast(e.message, true); return false; }
    }
    if (changed) { toast(`${name}: limits changed`); await then(); }
  }]);
}
const REASON_LIMIT = (i) => [i.concurrency && `${i.concurrency} at a time`, i.rate && `${i.rate.count} starts in ${span(i.rate.period_ms)}`].filter(Boolean).join(', ');

function queue(parts) {
  const name = parts[1], facts_ = h('div'), why = h('div'), stats = h('div'), limits = h('div'), acts = h('div', { class: 'acts' }), tiles = h('div', { class: 'tiles' });
  let busy = false, slow = 0;
  async function load() {
    if (busy) return;
    busy = true;
    try {
      const i = await api('GET', queuePath(name));
      const paused = i.paused || i.pause_until_ms > now();
      put(acts, may('operator') && (paused ? h('button', { type: 'button', class: 'main', click: () => act('POST', queuePath(name) + '/resume', `${name} resumed`, load) }, 'Resume') :
        h('button', { type: 'button', click: () => act('POST', queuePath(name) + '/pause', `${name} paused`, load) }, 'Pause')),
        may('operator') && h('button', { type: 'button', click: () => limitsDialog(name, load) }, 'Limits'), h('a', { class: 'button', href: tasksLink(name) }, 'Tasks'));
      put(tiles, STATES.map((state) => tile(state, count(i[state]), tasksLink(name, 'state:' + state), state === 'dead' && i.dead > 0)));
      put(facts_, panel('Now', facts([['State', paused ? [badge('paused'), i.pause_until_ms ? [' until ', when(i.pause_until_ms)] : null] : 'leases tasks'],
        ['Workers', i.workers], ['Next task enqueued', i.oldest_ready_ms && ago(i.oldest_ready_ms)], ['Next due', i.next_due_ms && ago(i.next_due_ms)],
        ['Limits', REASON_LIMIT(i)], ['Each group', REASON_LIMIT(i.each_group)], ['Completed ever', whole.format(i.completed_total)], ['Failed attempts ever', whole.format(i.failed_total)],
        ['Died ever', whole.format(i.dead_total)], ['Crashed ever', whole.format(i.crashed_total)]])));
      if (slow++ % 5 === 0) await rest();
    } finally { busy = false; }
  }
  async function rest() {
    const [reasons, day, limit] = await Promise.all([api('GET', queuePath(name) + '/why').catch(() => null), api('GET', queuePath(name) + '/stats?days=30'), api('GET', queuePath(name) + '/limits?limit=20')]);
    put(why, reasons && panel('What it waits for', reasons.why.map((r) => h('p', null, r.text))));
    const today = day.days[day.days.length - 1];
    put(stats, panel('Completed tasks in 30 days', days(day.days)), h('section', { class: 'panel flush' }, h('h2', null, 'Today by type'), today.types.length ?
      table(['Type', ['Done', 'num'], ['Failed', 'num'], ['Dead', 'num'], ['Mean wait', 'num'], ['Mean run', 'num']], today.types.map((t) => h('tr', { 'data-link': tasksLink(name, 'type:' + t.type) }, h('td', null, h('a', { href: tasksLink(name, 'type:' + t.type) }, t.type || 'others')), number(t.completed), number(t.failed), number(t.dead),
        h('td', { class: 'num' }, t.wait && t.wait.count ? span(t.wait.mean_ms) : '–'), h('td', { class: 'num' }, t.run && t.run.count ? span(t.run.mean_ms) : '–')))) : empty('Nothing ran today', 'Statistics come with the heartbeats of workers.')),
      today.run.count > 0 && panel('Times today', table(['', ['Mean', 'num'], ['Half within', 'num'], ['95 % within', 'num'], ['99 % within', 'num'], ['Longest', 'num']],
        [['Wait', today.wait], ['Run', today.run]].map(([label, t]) => h('tr', null, h('td', null, label), [t.mean_ms, t.p50_ms, t.p95_ms, t.p99_ms, t.max_ms].map((v) => h('td', { class: 'num' }, t.count ? span(v) : '–')))))));
    put(limits, limit.groups.length > 0 && h('section', { class: 'panel flush' }, h('h2', null, 'Groups with limits or parked tasks'), table(['Group', ['Running', 'num'], ['Parked', 'num'], 'Limits', 'Paused until'],
      limit.groups.map((g) => h('tr', { 'data-link': tasksLink(name, 'group:' + g.group) }, h('td', null, h('a', { href: tasksLink(name, 'group:' + g.group) }, g.group)), number(g.running), number(g.parked), h('td', null, REASON_LIMIT(g)), h('td', null, g.pause_until_ms ? when(g.pause_until_ms) : ''))))));
  }
  return { title: name, node: [h('div', { class: 'crumb' }, h('a', { href: '#/queues' }, 'Queues')), h('div', { class: 'top' }, h('h1', null, name), acts), tiles, h('div', { class: 'wide' }, h('div', null, stats, limits), h('div', null, why, facts_, panel('On the command line', command('reeve why ' + quote(name)))))], tick: load, first: load };
}

// ---- tasks ---------------------------------------------------------------------------------------------------------

const FILTERS = ['state', 'type', 'kind', 'tag', 'group', 'meta', 'worker', 'id-prefix', 'payload-has', 'failed', 'not-failed', 'older-than', 'enqueued-after', 'enqueued-before', 'due-after', 'due-before', 'ended-after', 'ended-before'];
const FLAGS = ['failed', 'not-failed'];

// "state:dead type:mail payload-has:"two words"" to [[name, value]].
function parseFilter(text) {
  const out = [];
  for (const m of text.matchAll(/([a-z-]+):(?:"([^"]*)"|(\S*))|(\S+)/g)) {
    if (m[4] !== undefined) out.push(FLAGS.includes(m[4]) ? [m[4], 'true'] : ['id-prefix', m[4]]);
    else out.push([m[1], m[2] !== undefined ? m[2] : m[3]]);
  }
  return out;
}
function showFilter(pairs) { return pairs.map(([k, v]) => FLAGS.includes(k) ? k : `${k}:${/\s/.test(v) ? `"${v}"` : v}`).join(' '); }
function filterCommand(verb, name, pairs) { return ['reeve', verb, quote(name), ...pairs.flatMap(([k, v]) => FLAGS.includes(k) ? ['--' + k] : ['--' + k, quote(v)])].join(' '); }
function filterObject(pairs) {
  const out = {};
  for (const [k, v] of pairs) if (k === 'meta') (out.meta = out.meta || []).push(v); else out[k] = v;
  return out;
}

function filterBar(text, values, go) {
  const list = h('ul', { role: 'listbox', id: 'suggest', hidden: true });
  let at = -1, items = [];
  const input = h('input', { type: 'text', value: text, placeholder: 'state:dead  type:…  kind:…  older-than:1h  or the beginning of an id', 'aria-label': 'Filter', 'aria-controls': 'suggest', autocomplete: 'off', spellcheck: 'false', 'data-find': true,
    input: suggest, blur: () => setTimeout(() => { list.hidden = true; }, 150), keydown: key });
  function word() { return input.value.slice(0, input.selectionStart).match(/\S*$/)[0]; }
  function suggest() {
    const w = word(), colon = w.indexOf(':');
    const all = colon < 0 ? FILTERS.map((f) => FLAGS.includes(f) ? f + ' ' : f + ':') : (values[w.slice(0, colon)] || []).map((v) => w.slice(0, colon + 1) + v + ' ');
    items = all.filter((x) => x.startsWith(w) && x.trim() !== w).slice(0, 12);
    at = -1;
    put(list, items.map((x, i) => h('li', { role: 'option', mousedown: (e) => { e.preventDefault(); take(i); } }, x)));
    list.hidden = !w || !items.length;
  }
  function take(i) {
    const w = word(), from = input.selectionStart - w.length;
    input.setRangeText(items[i], from, input.selectionStart, 'end');
    input.focus();
    suggest();
  }
  function key(e) {
    const open = !list.hidden;
    if (open && (e.key === 'ArrowDown' || e.key === 'ArrowUp')) {
      e.preventDefault();
      at = (at + (e.key === 'ArrowDown' ? 1 : items.length - 1) + (at < 0 && e.key === 'ArrowUp' ? 1 : 0)) % items.length;
      [...list.children].forEach((li, i) => li.setAttribute('aria-selected', i === at));
    } else if (open && (e.key === 'Tab' || (e.key === 'Enter' && at >= 0))) { e.preventDefault(); take(Math.max(0, at)); }
    else if (e.key === 'Enter') { list.hidden = true; go(input.value.trim()); }
    else if (e.key === 'Escape') { if (open) list.hidden = true; else input.blur(); }
  }
  return h('div', { class: 'bar', role: 'search' }, input, list, h('button', { type: 'button', click: () => go(input.value.trim()) }, 'Find'));
}

function lastTime(t) { return t.ended_ms || t.failed_ms || t.started_ms || t.due_ms || t.enqueued_ms; }

function tasks(parts, query) {
  const name = parts[1], text = query.get('f') || '', pairs = parseFilter(text), state = (pairs.find((p) => p[0] === 'state') || [])[1] || 'all';
  const rows = h('tbody'), note = h('span'), foot = h('div', { class: 'foot' }), holder = h('section', { class: 'panel flush' }), chips = h('div', { class: 'chips' }), selected = new Set();
  const values = { state: STATES.concat('all'), type: [], kind: [], 'older-than': ['5m', '1h', '1d', '7d'] };
  let cursor = null, seen = 0, shown = 0, total = 0, loading = false;
  const more = h('button', { type: 'button', click: () => load() }, 'More');
  const bulk = h('div', { class: 'acts' });
  const go = (f) => { location.hash = tasksLink(name, f).slice(1); };
  const withState = (s2) => showFilter([...(s2 === 'all' ? [] : [['state', s2]]), ...pairs.filter((p) => p[0] !== 'state')]);

  function row(t) {
    const box = h('input', { type: 'checkbox', 'aria-label': 'Select ' + t.id, change: (e) => { if (e.target.checked) selected.add(t.id); else selected.delete(t.id); acts(); } });
    return h('tr', { 'data-link': taskLink(t.handle) }, h('td', null, box), h('td', null, h('a', { class: 'mono', href: taskLink(t.handle) }, t.id)), h('td', null, t.type), h('td', null, badge(t.cancelling ? 'cancelling' : t.stalled ? 'stalled' : t.state)),
      h('td', { class: 'clip sub' }, t.error_kind ? [h('b', null, t.error_kind), ' ', t.error_message] : t.progress !== null ? `${t.progress} % ${t.progress_words || ''}` : ''), h('td', { class: 'num' }, t.failures + t.crashes || h('span', { class: 'zero' }, '0')), h('td', { class: 'num' }, ago(lastTime(t))));
  }
  async function each(verb, method, path) {
    let failed = 0;
    for (const id of selected) await api(method, taskPath({ queue: name, id }) + path).catch(() => failed++);
    toast(`${selected.size - failed} of ${selected.size} tasks: ${verb}`, failed > 0);
    route();
  }
  function acts() {
    const n = selected.size, all = state !== 'all' && state !== 'running';
    const retries = ['dead', 'cancelled', 'scheduled'].includes(state), cancels = ['blocked', 'scheduled', 'ready', 'parked'].includes(state);
    put(bulk, may('operator') && (n ? [h('button', { type: 'button', click: () => each('retried', 'POST', '/retry') }, `Retry ${n}`), h('button', { type: 'button', click: () => each('cancelled', 'POST', '/cancel') }, `Cancel ${n}`),
      may('admin') && h('button', { type: 'button', class: 'danger', click: () => each('deleted', 'DELETE', '') }, `Delete ${n}`)] :
      all && [retries && h('button', { type: 'button', click: () => operate(name, 'retry', pairs) }, 'Retry all that match'), cancels && h('button', { type: 'button', click: () => operate(name, 'cancel', pairs) }, 'Cancel all that match'),
        may('admin') && h('button', { type: 'button', class: 'danger', click: () => operate(name, 'delete', pairs) }, 'Delete all that match')]));
  }
  async function load() {
    if (loading) return;
    loading = true;
    try {
      const q = pairs.map(([k, v]) => encodeURIComponent(k) + '=' + encodeURIComponent(v)).join('&');
      const page = await api('GET', `${queuePath(name)}/tasks?limit=50&${q}` + (cursor ? '&cursor=' + encodeURIComponent(cursor) : ''));
      seen += page.seen; shown += page.tasks.length; total = page.total; cursor = page.cursor;
      for (const t of page.tasks) if (!values.type.includes(t.type)) values.type.push(t.type);
      rows.append(...page.tasks.map(row));
      if (!shown && !cursor) put(holder, empty('No task matches', text ? 'Try a wider filter.' : 'The queue is empty.', text ? null : `reeve enqueue ${quote(name)} TYPE PAYLOAD`));
      note.textContent = cursor ? `${whole.format(shown)} shown; looked at ${whole.format(seen)} of ${whole.format(total)}` : `${whole.format(shown)} tasks`;
      more.hidden = !cursor;
    } catch (e) { put(holder, empty('The filter is not valid', e.message)); } finally { loading = false; }
  }
  put(foot, note, h('div', { class: 'acts' }, more));
  put(holder, h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', null, h('thead', null, h('tr', null, h('th', { scope: 'col' }, h('input', { type: 'checkbox', 'aria-label': 'Select all that are shown', change: (e) => rows.querySelectorAll('input').forEach((box) => { if (box.checked !== e.target.checked) box.click(); }) })),
    ['Id', 'Type', 'State', 'Last error or progress'].map((x) => h('th', { scope: 'col' }, x)), ['Failed', 'When'].map((x) => h('th', { scope: 'col', class: 'num' }, x)))), rows)), foot);
  put(chips, ['all', ...STATES].map((x) => h('a', { href: tasksLink(name, withState(x)), 'aria-current': x === state ? 'true' : null }, x)));
  api('GET', queuePath(name) + '/failures').then((f) => { values.kind = f.failures.map((x) => x.kind); }).catch(() => {});
  acts();
  return { title: name + ' tasks', first: load, node: [h('div', { class: 'crumb' }, h('a', { href: '#/queues' }, 'Queues'), ' / ', h('a', { href: queueLink(name) }, name)), h('div', { class: 'top' }, h('h1', null, 'Tasks'), bulk), filterBar(text, values, go), chips, holder, command(filterCommand('list', name, pairs))] };
}

// Everything that matches, by the server: counted first; to delete, the number is typed.
async function operate(name, action, pairs) {
  const body = { action, filter: filterObject(pairs) };
  let found;
  try { found = await api('POST', queuePath(name) + '/preview', body); } catch (e) { toast(e.message, true); return; }
  if (!found.count) { toast('No task matches'); return; }
  const typed = h('input', { type: 'text', inputmode: 'numeric', autocomplete: 'off' });
  const words = { retry: 'Retry', cancel: 'Cancel', delete: 'Delete' }[action];
  ask(`${words} ${whole.format(found.count)} tasks of ${name}?`, [h('p', { class: 'mono' }, showFilter(pairs)), h('p', { class: 'sub' }, 'The server does it, also if this page is closed.'),
    action === 'delete' && h('label', null, `Type ${found.count} to delete them; this cannot be undone.`, typed)],
  ['Keep them', ''], [words, action === 'delete' ? 'danger' : 'main', async () => {
    if (action === 'delete' && typed.value.trim() !== String(found.count)) { typed.focus(); return false; }
    try {
      await api('POST', queuePath(name) + '/operations', action === 'delete' ? { ...body, expected: found.count } : body);
      location.hash = '#/operations';
    } catch (e) { toast(e.message, true); }
  }]);
}

// ---- one task ------------------------------------------------------------------------------------------------------

// The name of a worker that lives, else its id.
function workerName(id) { return h('a', { href: '#/workers?p=' + encodeURIComponent((workerNames.get(id) || '')) }, workerNames.get(id) || `worker ${id}`); }
const workerNames = new Map();

function story(t) {
  const list = [h('li', null, 'Enqueued ', ago(t.enqueued_ms))];
  const kinds = { retry: 'bad', failed: 'bad', dead: 'bad', recovered: 'bad', retried: 'now', cancelled: 'bad' };
  for (const e of t.history || []) {
    list.push(h('li', { class: kinds[e.event] || '' }, h('b', null, e.event), ' ', ago(e.at_ms), e.delay_ms !== null && e.delay_ms !== undefined && e.event === 'retry' ? ` again in ${span(e.delay_ms)}` : '', e.worker ? h('span', { class: 'sub' }, ' by ', workerName(e.worker)) : null,
      (e.kind || e.message) && h('div', { class: 'msg' }, e.kind && h('b', null, e.kind + ': '), e.message)));
  }
  if (t.state === 'running') list.push(h('li', { class: 'now' }, h('b', null, 'Running'), t.started_ms ? [' since ', ago(t.started_ms)] : null, t.worker ? h('span', { class: 'sub' }, ' in ', workerName(t.worker)) : null));
  else if (t.state === 'scheduled' || (t.state === 'blocked' && t.due_ms)) list.push(h('li', { class: 'now' }, h('b', null, 'Due '), ago(t.due_ms)));
  else if (t.ended_ms && !(t.history || []).some((e) => e.event === t.state)) list.push(h('li', { class: t.state === 'completed' ? 'good' : 'bad' }, h('b', null, t.state[0].toUpperCase() + t.state.slice(1)), ' ', ago(t.ended_ms), t.run_ms !== null ? ` after ${span(t.run_ms)}` : ''));
  return h('ul', { class: 'time' }, list);
}
function content(title, t, key) {
  const text = t[key], coded = t[key + '_base64'];
  if (coded) return panel(title + ' (base64: it is no text)', h('pre', null, coded));
  return text === null || text === undefined ? null : panel(title, text === '' ? h('span', { class: 'sub' }, 'empty') : pretty(text));
}

function task(parts) {
  const t0 = { queue: parts[1], id: parts[2] }, handle = t0.queue + '/' + t0.id, holder = h('div'), acts = h('div', { class: 'acts' }), state = h('span'), lately = h('div');
  let busy = false, last = '', raw = false, ended = false, known = false;
  function buttons(t) {
    const open = ['blocked', 'scheduled', 'ready', 'parked', 'running'].includes(t.state);
    const path = taskPath(t0);
    put(acts, may('operator') && [['dead', 'cancelled', 'scheduled'].includes(t.state) && h('button', { type: 'button', class: 'main', click: () => act('POST', path + '/retry', 'Ready again', load) }, t.state === 'scheduled' ? 'Run now' : 'Retry'),
      t.state === 'completed' && h('button', { type: 'button', click: () => act('POST', path + '/retry?completed=1', 'Ready again', load) }, 'Run again'),
      open && h('button', { type: 'button', disabled: t.cancelling, click: () => act('POST', path + '/cancel', t.state === 'running' ? 'Asked to stop' : 'Cancelled', load) }, t.cancelling ? 'Cancelling…' : 'Cancel')],
    may('admin') && t.state !== 'running' && h('button', { type: 'button', class: 'danger', click: () => ask('Delete this task?', h('p', null, handle), ['Keep it', ''], ['Delete', 'danger', () => act('DELETE', path, 'Deleted', () => { location.hash = tasksLink(t0.queue); })]) }, 'Delete'),
    h('button', { type: 'button', click: () => { raw = !raw; last = ''; load(); } }, raw ? 'Story' : 'Raw JSON'));
  }
  async function load() {
    if (busy) return;
    busy = true;
    try {
      const text = await apiText('GET', taskPath(t0));
      if (text === last) return;
      last = text;
      const t = JSON.parse(text);
      ended = ['completed', 'dead', 'cancelled'].includes(t.state);
      const waits = t.parents && t.state === 'blocked' ? await api('GET', taskPath(t0) + '/parents').catch(() => null) : null;
      const log = t.logged ? (await api('GET', taskPath(t0) + '/log')).lines : [];
      put(state, badge(t.stalled ? 'stalled' : t.state));
      buttons(t);
      if (!known) { known = true; others(t); }
      put(holder, raw ? h('section', { class: 'panel' }, pretty(text)) : view(t, log, waits));
    } catch (e) {
      ended = e.code === 'not_found';
      put(holder, h('section', { class: 'panel' }, empty(ended ? 'There is no such task' : 'The task cannot be read', e.message)));
    } finally { busy = false; }
  }
  function view(t, log, waits) {
    return h('div', { class: 'wide' }, h('div', null, waits && panel('Waits for', members(waits)),
      t.progress !== null && panel('Progress', h('div', { class: 'progress', role: 'progressbar', 'aria-valuenow': t.progress, 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-label': 'Progress' }, bar(t.progress)), h('p', { class: 'sub' }, `${t.progress} % `, t.progress_words)),
      t.error_message && panel('Last error', h('p', null, badge('failed'), ' ', h('b', null, t.error_kind), ' ', ago(t.failed_ms)), h('pre', null, t.error_message)),
      panel('Story', story(t)), content('Payload', t, 'payload'), content('Result', t, 'result'),
      log.length > 0 && panel('Log', h('pre', null, log.map((l) => `${new Date(l.at_ms).toLocaleTimeString()}  ${l.text}\n`))),
      (t.parents || t.children) && panel('Parents and children', family(t, innerWidth > 960 ? 0 : Math.max(280, innerWidth - 70)))),
    h('div', null, t.why && t.why.length > 0 && panel(t.state === 'running' ? 'Where it runs' : ended ? 'Why it ended' : 'Why it does not run', t.why.map((r) => h('p', null, r.text))),
      panel('Options', facts([['Type', h('a', { href: tasksLink(t.queue, 'type:' + t.type) }, t.type)], ['Priority', t.priority], ['Group', t.group && h('a', { href: tasksLink(t.queue, 'group:' + t.group) }, t.group)], ['Failed attempts', t.failures + (t.attempts ? ` of ${t.attempts}` : '')], ['Crashes', t.crashes],
        ['Time limit', t.timeout_ms && span(t.timeout_ms)], ['Backoff', t.backoff], ['Unique key', t.unique], ['Tags', t.tags && t.tags.map((x) => [h('a', { href: tasksLink(t.queue, 'tag:' + x) }, x), ' '])], ['Metadata', t.meta && Object.entries(t.meta).map(([k, v]) => h('div', { class: 'mono' }, `${k}=${v}`))],
        ['Deadline', t.deadline_ms && when(t.deadline_ms)], ['Enqueued', when(t.enqueued_ms)], ['Due', t.due_ms && when(t.due_ms)], ['Ended', t.ended_ms && when(t.ended_ms)], ['Cancelled because', t.cancel_reason], ['Checkpoint', t.checkpoint_bytes && bytes(t.checkpoint_bytes)], ['Lease until', t.lease_expires_ms && when(t.lease_expires_ms)]])),
      lately, panel('On the command line', command('reeve show ' + quote(handle)))));
  }
  // How the other tasks of the type ended.
  async function others(t) {
    const q = 'type=' + encodeURIComponent(t.type) + '&limit=5', of = (state) => api('GET', `${queuePath(t.queue)}/tasks?state=${state}&${q}`).then((p) => p.tasks, () => []);
    const list = (await Promise.all(['dead', 'completed', 'running'].map(of))).flat().filter((x) => x.id !== t.id).sort((a, b) => lastTime(b) - lastTime(a)).slice(0, 6);
    put(lately, list.length > 0 && panel(['Other tasks of type ', t.type], h('ul', { class: 'plainlist' }, list.map((x) => h('li', null, badge(x.state), ' ', h('a', { class: 'mono', href: taskLink(x.handle) }, x.id), h('span', { class: 'sub' }, ' ', ago(lastTime(x)), x.run_ms !== null && x.run_ms !== undefined ? `, ran ${span(x.run_ms)}` : ''))))));
  }
  return { title: t0.id, node: [h('div', { class: 'crumb' }, h('a', { href: queueLink(t0.queue) }, t0.queue), ' / ', h('a', { href: tasksLink(t0.queue) }, 'tasks')), h('div', { class: 'top' }, h('h1', { class: 'mono' }, t0.id), state, acts), holder], tick: () => { if (!ended) load(); }, first: load };
}
function bar(percent) { const node = h('div'); node.style.width = Math.max(0, Math.min(100, percent)) + '%'; return node; }

// ---- the other pages -----------------------------------------------------------------------------------------------

function dead(parts, query) {
  const holder = h('div'), byType = query.has('t');
  const chips = h('div', { class: 'chips', role: 'group', 'aria-label': 'View' }, [['#/dead', 'By kind of error', !byType], ['#/dead?t', 'By type', byType]].map(([href, text, on]) => h('a', { href, 'aria-current': on ? 'true' : null }, text)));
  const row = (f) => { const link = tasksLink(f.queue, byType ? `state:dead type:${f.type}` : `state:dead kind:${f.kind}`); return h('tr', { 'data-link': link },
    h('td', null, h('a', { class: 'name', href: link }, (byType ? f.type : f.kind) || '(none)')), h('td', null, f.queue), number(f.count), h('td', { class: 'clip sub' }, h('a', { href: taskLink(f.last_handle) }, f.last_message || f.last_handle)), h('td', null, byType ? f.last_kind : f.last_type), h('td', { class: 'num' }, ago(f.last_ms))); };
  async function load() {
    const page = await api('GET', 'queues?limit=200'), with_ = page.queues.map((q) => q.info).filter((i) => i.dead > 0).slice(0, byType ? 20 : 50);
    const found = await Promise.all(with_.map((i) => api('GET', queuePath(i.queue) + (byType ? '/dead-types' : '/failures?limit=50')))), all = found.flatMap((f) => byType ? f.types : f.failures).sort((a, b) => b.last_ms - a.last_ms);
    const [seen, total] = ['seen', 'total'].map((k) => found.reduce((n, f) => n + f[k], 0));
    put(holder, h('section', { class: 'panel flush' }, all.length ? table([byType ? 'Type' : 'Kind', 'Queue', ['Dead', 'num'], 'Last message', byType ? 'Kind' : 'Type', ['Last', 'num']], all.map(row)) :
      empty('No dead task', 'Tasks that fail for the last time come here, and can be retried.'), byType && seen < total && h('div', { class: 'foot' }, `Of the latest ${whole.format(seen)} of ${whole.format(total)} dead tasks.`)));
  }
  return { title: 'Dead', node: [h('div', { class: 'top' }, h('h1', null, 'Dead tasks'), h('span', { class: 'sub' }, 'the latest first')), chips, holder], first: load };
}

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
  ask(`Threads of ${w.name}`, pools.map(([p, field]) => h('label', null, p.name, h('span', { class: 'sub' }, ' ', (p.queues || []).join(', ')), field)), ['Keep them', ''], ['Change', 'main', async () => {
    for (const [p, field] of pools) {
      const n = Number(field.value);
      if (!Number.isInteger(n) || n < 1 || n > 1024) { field.focus(); return false; }
      if (n !== p.threads) await askWorker(w, 'threads', { pool: p.name, threads: n });
    }
  }]);
}
async function stackDialog(w) {
  try {
    const text = await apiText('GET', `workers/${encodeURIComponent(w.worker)}/stack`);
    ask(`Stacks of ${w.name}`, pretty(JSON.stringify(JSON.parse(text).stacks)), ['Close', 'main']);
  } catch (e) { toast(`${w.name}: ${e.message}`, true); }
}
function workerActs(w) {
  const button = (label, run, kind) => h('button', { type: 'button', class: kind, 'aria-label': `${label}: ${w.name}`, click: run }, label);
  return may('operator') && h('div', { class: 'acts end' }, w.state === 'quiet' ? button('Resume', () => askWorker(w, 'resume')) : button('Quiet', () => askWorker(w, 'quiet')), button('Threads', () => threadsDialog(w)), button('Stacks', () => stackDialog(w)),
    may('admin') && [button('Reload', () => askWorker(w, 'reload')), button('Stop', () => ask(`Stop ${w.name}?`, h('p', null, 'It takes no new tasks, lets running ones finish, and ends. Its supervisor may start it again.'), ['Keep it', ''], ['Stop', 'danger', () => askWorker(w, 'stop')]), 'danger')]);
}
function poolLine(p) {
  return h('div', { class: 'pool' }, h('b', null, p.name), h('span', { class: 'sub' }, `${p.threads} thread${p.threads === 1 ? '' : 's'}`), utilisation(p.utilisation === undefined ? null : p.utilisation),
    h('span', { class: 'sub' }, (p.queues || []).slice(0, 8).map((q, i) => [i ? ', ' : '', h('a', { href: queueLink(q) }, q)]), (p.queues || []).length > 8 ? ` and ${p.queues.length - 8} more` : ''));
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
    put(holder, list.length ? list.map((w) => workerPanel(w, at)) : h('section', { class: 'panel flush' }, text ? empty('No such worker', 'No name or host contains this.') : empty('No live worker', 'Workers show themselves with their first heartbeat.', 'reeve-worker -c worker.conf')),
      running.length > 0 && h('section', { class: 'panel flush' }, h('h2', null, 'Running, the longest first'), table(['Task', 'Type', 'Queue', 'Worker', 'Thread', ['For', 'num']], running.map((r) => h('tr', { 'data-link': taskLink(r.handle) }, h('td', null, h('a', { class: 'mono', href: taskLink(r.handle) }, r.id), r.stuck ? [' ', badge('stuck')] : null), h('td', null, r.type), h('td', null, r.queue), h('td', null, r.on), h('td', null, r.thread), h('td', { class: 'num' }, span(r.for_ms)))))));
    put(foot, total > size && h('section', { class: 'panel flush' }, pager(offset, size, total, (to) => { offset = to; drawn = ''; load(); })));
  }
  async function first() {
    await load();
    const list = (await api('GET', 'crashes')).crashes;
    put(crashes, list.length > 0 && h('section', { class: 'panel flush' }, h('h2', null, 'Last crashes'), table([['When', 'num'], 'Task', 'Type', 'What', ''], list.slice(0, 20).map((c) => h('tr', null, h('td', { class: 'num' }, ago(c.at_ms)), h('td', null, c.handle ? h('a', { class: 'mono', href: taskLink(c.handle) }, c.handle) : '–'), h('td', null, c.type), h('td', { class: 'clip' }, c.message),
      h('td', { class: 'num' }, c.backtrace && h('button', { type: 'button', click: () => ask('Backtrace', h('pre', null, c.backtrace), ['Close', 'main']) }, 'Backtrace')))))));
  }
  return { title: 'Workers', node: [h('div', { class: 'top' }, h('h1', null, 'Workers'), h('div', { class: 'acts' }, find)), holder, foot, crashes], tick: load, first };
}

// ---- batches and limits --------------------------------------------------------------------------------------------

function members(m) {
  const ended = m.members - m.left;
  return h('div', null, h('div', { class: 'progress', role: 'progressbar', 'aria-label': 'Members that have ended', 'aria-valuenow': ended, 'aria-valuemin': 0, 'aria-valuemax': m.members }, bar(m.members ? 100 * ended / m.members : 0)),
    h('span', { class: 'sub' }, `${whole.format(ended)} of ${whole.format(m.members)} ended`, m.dead ? `, ${whole.format(m.dead)} dead` : '', m.cancelled ? `, ${whole.format(m.cancelled)} cancelled` : '', m.failed ? `, ${whole.format(m.failed)} of the others have failed` : '', m.open ? '; open: members may still be added' : ''));
}
function batches() {
  const holder = h('div');
  async function load() {
    const with_ = (await api('GET', 'queues?limit=200')).queues.map((q) => q.info).filter((i) => i.blocked > 0).slice(0, 20);
    const found = (await Promise.all(with_.map((i) => api('GET', queuePath(i.queue) + '/tasks?state=blocked&limit=50')))).flatMap((p) => p.tasks).slice(0, 50);
    const counts = await Promise.all(found.map((t) => api('GET', taskPath(t) + '/parents').catch(() => null)));
    put(holder, h('section', { class: 'panel flush' }, found.length ? table(['Waiting task', 'Type', 'Queue', 'What it waits for', ['Enqueued', 'num']], found.map((t, i) => h('tr', { 'data-link': taskLink(t.handle) },
      h('td', null, h('a', { class: 'mono', href: taskLink(t.handle) }, t.id)), h('td', null, t.type), h('td', null, h('a', { href: tasksLink(t.queue, 'state:blocked') }, t.queue)), h('td', { class: 'grow' }, counts[i] ? members(counts[i]) : '–'), h('td', { class: 'num' }, ago(t.enqueued_ms))))) :
      empty('No task waits for others', 'The callbacks of batches, and tasks after others, are listed here.', 'reeve batch open --complete TASK')));
  }
  return { title: 'Batches', node: [h('div', { class: 'top' }, h('h1', null, 'Batches'), h('span', { class: 'sub' }, 'and other tasks that wait for tasks')), holder], first: load };
}
function limits() {
  const holder = h('div');
  let busy = false;
  const use = (running, of) => of ? [h('span', { class: 'util', 'aria-hidden': 'true' }, bar(100 * running / of)), `${whole.format(running)} of ${whole.format(of)}`] : whole.format(running);
  async function load(anyway) {
    if (busy || anyway !== true && holder.contains(document.activeElement)) return; // (a button that has the focus stays)
    busy = true;
    const list = (await api('GET', 'queues?limit=1000').finally(() => { busy = false; })).queues.map((q) => q.info).filter((i) => i.concurrency || i.rate || i.parked > 0 || REASON_LIMIT(i.each_group) || i.paused || i.pause_until_ms);
    put(holder, h('section', { class: 'panel flush' }, list.length ? table(['Queue', 'Running', 'Rate', 'Each group', ['Parked', 'num'], 'Paused', ''], list.map((i) => h('tr', { 'data-link': queueLink(i.queue) }, h('td', null, h('a', { class: 'name', href: queueLink(i.queue) }, i.queue)), h('td', null, use(i.running, i.concurrency)),
      h('td', null, i.rate ? `${whole.format(i.rate.count)} starts in ${span(i.rate.period_ms)}` : '–'), h('td', null, REASON_LIMIT(i.each_group) || '–'), number(i.parked), h('td', null, i.paused ? badge('paused') : i.pause_until_ms > now() ? ['until ', when(i.pause_until_ms)] : '–'),
      h('td', { class: 'num' }, may('operator') && h('button', { type: 'button', 'aria-label': `Change: ${i.queue}`, click: () => limitsDialog(i.queue, () => load(true)) }, 'Change'))))) :
      empty('No queue has a limit', 'Limits hold for all workers together: how many tasks run at a time, and how many start in a period.', 'reeve limit mail --concurrency 10 --rate 100/1s')));
  }
  return { title: 'Limits', node: [h('div', { class: 'top' }, h('h1', null, 'Limits')), holder], first: load, tick: load };
}

// A schedule in words; null where the fields say it shorter.
function inWords(spec) {
  const named = { '@hourly': 'every hour', '@daily': 'every day at 0:00', '@midnight': 'every day at 0:00', '@weekly': 'every Sunday at 0:00', '@monthly': 'on the 1st of each month at 0:00', '@yearly': 'on January 1 at 0:00', '@annually': 'on January 1 at 0:00', '@minutely': 'every minute' };
  const text = spec.trim().toLowerCase(), f = text.split(/\s+/);
  if (text.startsWith('every ') || named[text]) return named[text] || null;
  if (f.length === 6) { if (f[0] !== '0') return null; f.shift(); }
  const [minute, hour, day, month, weekday] = f, one = /^\d+$/, DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'], list = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  const dayOf = (x) => DAYS[one.test(x) ? x % 7 : list.indexOf(x)], step = (x) => (x.match(/^\*\/(\d+)$/) || [])[1];
  const many = (n, unit) => n === '1' ? `every ${unit}` : `every ${n} ${unit}s`;
  let days = 'every day';
  if (month !== '*') return null;
  if (weekday !== '*' && weekday !== '?') {
    if (day !== '*' && day !== '?') return null;
    const ends = weekday.split('-').map(dayOf), each = weekday.split(',').map(dayOf);
    if (ends.length === 2 && ends.every(Boolean)) days = `${ends[0]} to ${ends[1]}`;
    else if (each.every(Boolean)) days = 'every ' + each.join(' and '); else return null;
  } else if (day === 'l') days = 'on the last day of each month';
  else if (one.test(day)) days = `on day ${day} of each month`;
  else if (day !== '*' && day !== '?') return null;
  const onDays = days === 'every day' ? '' : ', ' + days;
  if (one.test(minute) && /^\d+(,\d+)*$/.test(hour)) return `${days} at ${hour.split(',').map((x) => `${Number(x)}:${minute.padStart(2, '0')}`).join(' and ')}`;
  if (hour === '*' && one.test(minute)) return `every hour at ${minute} past` + onDays;
  if (hour === '*' && (minute === '*' || step(minute))) return many(minute === '*' ? '1' : step(minute), 'minute') + onDays;
  if (one.test(minute) && step(hour)) return `${many(step(hour), 'hour')} at ${minute} past` + onDays;
  return null;
}
function cron() {
  const holder = h('div');
  async function load() {
    const { entries: list, slots } = await api('GET', 'cron'), path = (e) => `cron/${encodeURIComponent(e.queue)}/${encodeURIComponent(e.name)}/`;
    put(holder, h('section', { class: 'panel flush' }, list.length ? table(['Entry', 'Schedule', 'Type', 'Last task', 'Next', ''], list.map((e, i) => h('tr', null, h('td', null, h('span', { class: 'name' }, e.name), ' ', e.paused && badge('paused'), h('div', { class: 'sub' }, h('a', { href: queueLink(e.queue) }, e.queue))),
      h('td', null, inWords(e.spec) && h('div', null, inWords(e.spec)), h('code', null, e.spec), h('div', { class: 'sub' }, e.zone)), h('td', null, e.type), h('td', null, e.last_handle ? [h('a', { class: 'mono', href: taskLink(e.last_handle) }, e.last_handle.split('/')[1]), h('div', { class: 'sub' }, h('a', { href: tasksLink(e.queue, `id-prefix:cron:${e.name}`) }, 'all of them'))] : '–'), h('td', null, e.next_ms ? h('details', null, h('summary', null, ago(e.next_ms)), h('ol', null, (slots[i] || []).map((t) => h('li', null, when(t))))) : '–'),
      h('td', { class: 'num' }, may('operator') && [h('button', { type: 'button', click: () => act('POST', path(e) + 'run', `${e.name} enqueued`, load) }, 'Run now'), ' ', h('button', { type: 'button', click: () => act('POST', path(e) + (e.paused ? 'resume' : 'pause'), e.paused ? 'Resumed' : 'Paused', load) }, e.paused ? 'Resume' : 'Pause')])))) :
      empty('No recurring entry', 'An entry enqueues a task at each of its times.', "reeve cron add nightly '0 3 * * *' default report")));
  }
  return { title: 'Cron', node: [h('div', { class: 'top' }, h('h1', null, 'Recurring entries')), holder], first: load };
}

function operations() {
  const holder = h('div');
  let busy = false;
  async function load() {
    if (busy) return;
    busy = true;
    try {
      const list = (await api('GET', 'operations')).operations;
      put(holder, h('section', { class: 'panel flush' }, list.length ? table(['Operation', 'Filter', 'Progress', 'State', 'By', ['Began', 'num'], ''], list.map((o) => {
        const on = o.phase === 'running' || o.phase === 'counting', took = ((o.ended_ms || now()) - o.began_ms) / 1000;
        return h('tr', null, h('td', null, h('span', { class: 'name' }, o.action), ' ', h('a', { href: queueLink(o.queue) }, o.queue)), h('td', { class: 'mono clip' }, o.filter ? showFilter(Object.entries(o.filter).flatMap(([k, v]) => [].concat(v).map((x) => [k, String(x)]))) : ''),
          h('td', null, h('div', { class: 'progress', role: 'progressbar', 'aria-label': 'Progress', 'aria-valuenow': o.done, 'aria-valuemin': 0, 'aria-valuemax': o.total }, bar(o.total ? 100 * (o.done + o.refused) / o.total : o.phase === 'done' ? 100 : 0)), h('span', { class: 'sub' }, `${whole.format(o.done)} of ${whole.format(o.total)}`, o.refused ? `, ${whole.format(o.refused)} refused` : '', took > 0.2 ? `, ${rate(o.done / took)}/s` : '')),
          h('td', null, badge(o.phase), o.error && h('div', { class: 'sub' }, o.error)), h('td', null, o.user), h('td', { class: 'num' }, ago(o.began_ms)), h('td', { class: 'num' }, on && may('operator') && h('button', { type: 'button', click: () => act('POST', `operations/${o.operation}/cancel`, 'It stops', load) }, 'Cancel')));
      })) : empty('No operation yet', 'Changes of all tasks that match a filter are listed here, with who began them.')));
    } finally { busy = false; }
  }
  return { title: 'Operations', node: [h('div', { class: 'top' }, h('h1', null, 'Operations'), h('span', { class: 'sub' }, 'of this server; they go on when the page is closed')), holder], tick: load, first: load };
}

function health() {
  const holder = h('div');
  async function load() {
    const r = await api('GET', 'redis'), yes = (x) => x === null ? 'not known' : x ? 'yes' : 'no';
    put(holder, h('div', { class: 'two' }, panel('Redis', facts([['Version', `${r.version} (${r.role}, ${r.mode})`], ['Memory', bytes(r.used_bytes) + (r.max_bytes > 0 ? ` of ${bytes(r.max_bytes)}` : ', no limit')], ['Eviction', r.eviction], ['Evicted keys', whole.format(r.evicted)], ['User', r.user]])),
      panel('Durability', facts([['Append-only file', yes(r.append_only) + (r.append_only ? `, fsync ${r.fsync}` : '')], ['Save points', r.save || 'none'], ['Last append failed', yes(r.append_failed)], ['Last save failed', yes(r.save_failed)]])),
      panel('Latency and clock', facts([['Round trip', `${span(r.median_us / 1000)}, at best ${span(r.best_us / 1000)}`], ['Redis’s clock', `${r.clock_ahead_ms >= 0 ? '+' : ''}${r.clock_ahead_ms} ms, ± ${r.clock_about_ms} ms against this server`]])),
      panel('This server', facts([['Version', r.reeve], ['Since', when(r.started_ms)], ['Metrics', h('a', { href: 'metrics' }, 'metrics')]]), command('reeve doctor'))));
  }
  return { title: 'Health', node: [h('div', { class: 'top' }, h('h1', null, 'Health')), holder], first: load };
}

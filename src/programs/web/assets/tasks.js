// tasks.js - the tasks of a queue by a filter, and what is done to all that match.
'use strict';

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
  return h('div', { class: 'bar', role: 'search' }, input, list, button({ click: () => go(input.value.trim()) }, 'Find'));
}

function lastTime(t) { return t.ended_ms || t.failed_ms || t.started_ms || t.due_ms || t.enqueued_ms; }

function tasks(parts, query) {
  const name = parts[1], text = query.get('f') || '', pairs = parseFilter(text), state = (pairs.find((p) => p[0] === 'state') || [])[1] || 'all';
  const rows = h('tbody'), note = h('span'), foot = h('div', { class: 'foot' }), holder = flush(), chips = h('div', { class: 'chips' }), selected = new Set();
  const values = { state: STATES.concat('all'), type: [], kind: [], 'older-than': ['5m', '1h', '1d', '7d'] };
  let cursor = null, seen = 0, shown = 0, total = 0, loading = false;
  const more = button({ click: () => load() }, 'More');
  const bulk = h('div', { class: 'acts' });
  const go = (f) => { location.hash = tasksLink(name, f).slice(1); };
  const withState = (s2) => showFilter([...(s2 === 'all' ? [] : [['state', s2]]), ...pairs.filter((p) => p[0] !== 'state')]);

  function row(t) {
    const box = may('operator') && h('input', { type: 'checkbox', 'aria-label': 'Select ' + t.id, change: (e) => { if (e.target.checked) selected.add(t.id); else selected.delete(t.id); acts(); } });
    return h('tr', { 'data-link': taskLink(t.handle) }, box && td(box), td(taskName(t.handle, t.id)), td(t.type), td(badge(t.cancelling ? 'cancelling' : t.stalled ? 'stalled' : t.state)),
      h('td', { class: 'clip sub' }, t.error_kind ? [h('b', null, t.error_kind), ' ', t.error_message] : t.progress !== null ? `${t.progress} % ${t.progress_words || ''}` : ''), num(t.failures + t.crashes || h('span', { class: 'zero' }, '0')), num(ago(lastTime(t))));
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
    put(bulk, may('operator') && (n ? [button({ click: () => each('retried', 'POST', '/retry') }, `Retry ${n}`), button({ click: () => each('cancelled', 'POST', '/cancel') }, `Cancel ${n}`),
      may('admin') && button({ class: 'danger', click: () => each('deleted', 'DELETE', '') }, `Delete ${n}`)] :
      all && [retries && button({ click: () => operate(name, 'retry', pairs) }, 'Retry all that match'), cancels && button({ click: () => operate(name, 'cancel', pairs) }, 'Cancel all that match'),
        may('admin') && button({ class: 'danger', click: () => operate(name, 'delete', pairs) }, 'Delete all that match')]));
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
  put(holder, h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', null, h('thead', null, h('tr', null, may('operator') && h('th', { scope: 'col' }, h('input', { type: 'checkbox', 'aria-label': 'Select all that are shown', change: (e) => rows.querySelectorAll('input').forEach((box) => { if (box.checked !== e.target.checked) box.click(); }) })),
    ['Id', 'Type', 'State', 'Last error or progress'].map((x) => h('th', { scope: 'col' }, x)), ['Failed', 'When'].map((x) => h('th', { scope: 'col', class: 'num' }, x)))), rows)), foot);
  put(chips, ['all', ...STATES].map((x) => h('a', { href: tasksLink(name, withState(x)), 'aria-current': x === state ? 'true' : null }, x)));
  api('GET', queuePath(name) + '/failures').then((f) => { values.kind = f.failures.map((x) => x.kind); }).catch(() => {});
  acts();
  return { title: name + ' tasks', first: load, node: [h('div', { class: 'crumb' }, h('a', { href: '#/queues' }, 'Queues'), ' / ', h('a', { href: queueLink(name) }, name)), heading('Tasks', bulk), filterBar(text, values, go), chips, holder, command(filterCommand('list', name, pairs))] };
}

// How many match; null: it failed, or another page was opened, which ends the count.
async function countAll(name, body) {
  const leaving = new AbortController(), leave = () => leaving.abort(), slow = setTimeout(() => toast('Counting the tasks that match …'), 500);
  addEventListener('hashchange', leave);
  try { return await api('POST', queuePath(name) + '/preview', body, leaving.signal); } catch (e) { if (!leaving.signal.aborted) toast(e.message, true); return null; } finally {
    clearTimeout(slow);
    removeEventListener('hashchange', leave);
  }
}

// Everything that matches, by the server: counted first; to delete, the number is typed.
async function operate(name, action, pairs) {
  const body = { action, filter: filterObject(pairs) };
  const found = await countAll(name, body);
  if (!found) return;
  if (!found.count) { toast('No task matches'); return; }
  const typed = h('input', { type: 'text', inputmode: 'numeric', autocomplete: 'off' });
  const words = { retry: 'Retry', cancel: 'Cancel', delete: 'Delete' }[action];
  ask(`${words} ${whole.format(found.count)} tasks of ${name}?`, [h('p', { class: 'mono' }, showFilter(pairs)), h('p', { class: 'sub' }, 'The server does it, also if this page is closed.'),
    action === 'delete' && h('label', null, `Type ${found.count} to delete them; this cannot be undone.`, typed)],
  ['Keep them', ''], [words, action === 'delete' ? 'danger' : 'main', async () => {
    if (action === 'delete' && typed.value.replace(/\D/g, '') !== String(found.count)) { typed.focus(); return false; }
    try {
      await api('POST', queuePath(name) + '/operations', action === 'delete' ? { ...body, expected: found.count } : body);
      location.hash = '#/operations';
    } catch (e) { toast(e.message, true); }
  }]);
}

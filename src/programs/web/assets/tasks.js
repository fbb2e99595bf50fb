// tasks.js - the tasks of a queue by a filter, and what is done to all that match.
'use strict';

const FILTERS = ['state', 'type', 'kind', 'tag', 'group', 'meta', 'worker', 'id-prefix', 'payload-has', 'failed', 'not-failed', 'older-than', 'enqueued-after', 'enqueued-before', 'due-after', 'due-before', 'ended-after', 'ended-before'];
const FLAGS = ['failed', 'not-failed'];

// Filters of tasks in these states only. What no task in a state has is neither offered nor kept there; the server refuses it.
const ONLY = { due: ['scheduled'], ended: ['completed', 'dead', 'cancelled'], worker: ['running', 'completed'] };
function fits(name, state) { const only = ONLY[name.split('-')[0]]; return !only || state === 'all' || only.includes(state); }
const stateOf = (pairs) => (pairs.find((p) => p[0] === 'state') || [])[1] || 'all';

// "state:dead type:mail payload-has:"two words"" to [[name, value]]. A word that is no filter begins an id, which may have colons.
function parseFilter(text) {
  const out = [];
  for (const m of text.matchAll(/([a-z-]+):(?:"((?:[^"\\]|\\.)*)"|(\S*))|(\S+)/g)) {
    if (FLAGS.includes(m[4])) out.push([m[4], 'true']);
    else if (FILTERS.includes(m[1])) out.push([m[1], m[2] !== undefined ? m[2].replace(/\\(.)/g, '$1') : m[3]]);
    else out.push(['id-prefix', m[0]]);
  }
  return out;
}
function showFilter(pairs) { return pairs.map(([k, v]) => FLAGS.includes(k) ? k : `${k}:${/[\s"]/.test(v) ? `"${v.replace(/["\\]/g, '\\$&')}"` : v}`).join(' '); }
// The tasks of a queue that have these values.
const filterLink = (queue, values) => tasksLink(queue, showFilter(Object.entries(values).filter((p) => p[1])));
function filterCommand(verb, name, pairs) { return ['reeve', verb, quote(name), ...pairs.flatMap(([k, v]) => FLAGS.includes(k) ? ['--' + k] : ['--' + k, quote(v)])].join(' '); }
function filterObject(pairs) {
  const out = {};
  for (const [k, v] of pairs) if (k === 'meta') (out.meta = out.meta || []).push(v); else out[k] = k in out ? [].concat(out[k], v) : v; // (the server refuses several)
  return out;
}

function filterBar(text, values, go) {
  const list = h('ul', { role: 'listbox', id: 'suggest', hidden: true });
  let at = -1, items = [];
  const input = h('input', { type: 'text', value: text, placeholder: 'state:dead  type:…  kind:…  older-than:1h  or the beginning of an id', 'aria-label': 'Filter', 'aria-controls': 'suggest', autocomplete: 'off', spellcheck: 'false', 'data-find': true,
    input: suggest, blur: () => setTimeout(() => { list.hidden = true; }, 150), keydown: key });
  function word() { return input.value.slice(0, input.selectionStart).match(/\S*$/)[0]; }
  function suggest() {
    const w = word(), colon = w.indexOf(':'), name = w.slice(0, colon), end = input.selectionStart;
    const others = parseFilter(input.value.slice(0, end - w.length) + input.value.slice(end)), has = (f) => others.some((p) => p[0] === f);
    const offered = (f) => f === 'meta' || !has(f) && fits(f, stateOf(others)) && !(FLAGS.includes(f) && FLAGS.some(has));
    const all = colon < 0 ? FILTERS.filter(offered).map((f) => FLAGS.includes(f) ? f + ' ' : f + ':') :
      (values[name] || []).filter((v) => name !== 'state' || others.every((p) => fits(p[0], v))).map((v) => w.slice(0, colon + 1) + v + ' ');
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
  const name = parts[1], text = query.get('f') || '', pairs = parseFilter(text), state = stateOf(pairs);
  const rows = h('tbody'), note = h('span'), foot = h('div', { class: 'foot' }), holder = flush(), chips = h('div', { class: 'chips' }), selected = new Map();
  const values = { state: STATES.concat('all'), type: [], kind: [], get worker() { return [...workerNames.values()]; }, 'older-than': ['5m', '1h', '1d', '7d'] };
  let cursor = null, seen = 0, shown = 0, total = 0, loading = false;
  const more = button({ click: () => load() }, 'More');
  const bulk = h('div', { class: 'acts' });
  const go = (f) => { location.hash = tasksLink(name, f).slice(1); };
  const withState = (s2) => showFilter([...(s2 === 'all' ? [] : [['state', s2]]), ...pairs.filter((p) => p[0] !== 'state' && fits(p[0], s2))]);

  function row(t) {
    const box = may('operator') && h('input', { type: 'checkbox', 'aria-label': 'Select ' + t.id, change: (e) => { if (e.target.checked) selected.set(t.id, t.state); else selected.delete(t.id); acts(); } });
    return h('tr', { 'data-link': taskLink(t.handle) }, box && td(box), td(taskName(t.handle, t.id)), td(t.type), td(badge(t.cancelling ? 'cancelling' : t.stalled ? 'stalled' : t.state)),
      h('td', { class: 'clip sub' }, t.error_kind ? [h('b', null, t.error_kind), ' ', t.error_message] : t.progress !== null ? `${t.progress} % ${t.progress_words || ''}` : ''), num(t.failures + t.crashes || h('span', { class: 'zero' }, '0')), num(ago(lastTime(t))));
  }
  const retries = (x) => ['dead', 'cancelled', 'scheduled'].includes(x), cancels = (x) => ['blocked', 'scheduled', 'ready', 'parked'].includes(x);
  // A button for those of the selected tasks that this can be done to.
  function eachOf(label, can, verb, method, path, kind) {
    const ids = [...selected].filter(([, x]) => can(x)).map(([id]) => id), failed = [];
    return ids.length > 0 && button({ class: kind, click: async () => {
      for (const id of ids) await api(method, taskPath({ queue: name, id }) + path).catch((e) => failed.push(e.message));
      toast(`${ids.length - failed.length} of ${ids.length} tasks: ${verb}` + (failed.length ? `; ${failed[0]}` : ''), failed.length > 0);
      route();
    } }, `${label} ${ids.length}`);
  }
  function acts() {
    const all = state !== 'all' && state !== 'running';
    put(bulk, may('operator') && (selected.size ? [eachOf('Retry', retries, 'retried', 'POST', '/retry'), eachOf('Cancel', (x) => cancels(x) || x === 'running', 'cancelled', 'POST', '/cancel'),
      may('admin') && eachOf('Delete', (x) => x !== 'running', 'deleted', 'DELETE', '', 'danger')] :
      all && [retries(state) && button({ click: () => operate(name, 'retry', pairs) }, 'Retry all that match'), cancels(state) && button({ click: () => operate(name, 'cancel', pairs) }, 'Cancel all that match'),
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
      const odd = pairs.find((p) => p[0] === 'id-prefix' && /:./.test(p[1]) && !text.includes('id-prefix:'));
      if (!shown && !cursor) put(holder, empty('No task matches', odd ? `No id begins with ${odd[1]}, and ${odd[1].split(':')[0]} is no filter.` : text ? 'Try a wider filter.' : 'The queue is empty.', text ? null : `reeve enqueue ${quote(name)} TYPE PAYLOAD`));
      note.textContent = cursor ? `${whole.format(shown)} shown; looked at ${whole.format(seen)} of ${whole.format(total)}` : `${whole.format(shown)} task${shown === 1 ? '' : 's'}`;
      more.hidden = !cursor;
    } catch (e) { put(holder, empty('This cannot be shown', e.message)); } finally { loading = false; }
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

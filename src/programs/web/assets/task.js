// task.js - a task's story.
'use strict';

// The name of a worker that lives, else its id.
function workerName(id) { return h('a', { href: '#/workers?p=' + encodeURIComponent((workerNames.get(id) || '')) }, workerNames.get(id) || `worker ${id}`); }
const workerNames = new Map();

function story(t) {
  const list = [h('li', null, 'Enqueued ', ago(t.enqueued_ms))];
  const kinds = { retry: 'bad', failed: 'bad', dead: 'bad', recovered: 'bad', retried: 'now', cancelled: 'bad' };
  for (const e of t.history || []) {
    list.push(h('li', { class: kinds[e.event] || '' }, h('b', null, e.event), ' ', ago(e.at_ms), e.delay_ms !== null && e.delay_ms !== undefined && e.event === 'retry' ? ` again in ${span(e.delay_ms)}` : '', e.worker ? sub(' by ', workerName(e.worker)) : null,
      (e.kind || e.message) && h('div', { class: 'msg' }, e.kind && h('b', null, e.kind + ': '), e.message)));
  }
  if (t.state === 'running') list.push(h('li', { class: 'now' }, h('b', null, 'Running'), t.started_ms ? [' since ', ago(t.started_ms)] : null, t.worker ? sub(' in ', workerName(t.worker)) : null));
  else if (t.state === 'scheduled' || (t.state === 'blocked' && t.due_ms)) list.push(h('li', { class: 'now' }, h('b', null, 'Due '), ago(t.due_ms)));
  else if (t.ended_ms && !(t.history || []).some((e) => e.event === t.state)) list.push(h('li', { class: t.state === 'completed' ? 'good' : 'bad' }, h('b', null, t.state[0].toUpperCase() + t.state.slice(1)), ' ', ago(t.ended_ms), t.run_ms !== null ? ` after ${span(t.run_ms)}` : ''));
  return h('ul', { class: 'time' }, list);
}
function content(title, t, key) {
  const text = t[key], coded = t[key + '_base64'];
  if (coded) return panel(title + ' (base64: it is no text)', h('pre', null, coded));
  return text === null || text === undefined ? null : panel(title, text === '' ? sub('empty') : pretty(text));
}

function task(parts) {
  const t0 = { queue: parts[1], id: parts[2] }, handle = t0.queue + '/' + t0.id, holder = h('div'), acts = h('div', { class: 'acts' }), state = h('span'), lately = h('div');
  let last = '', raw = false, ended = false, known = false, named = -1;
  // Tasks that wait for it are cancelled, too, if the user says so.
  async function cancel(t, path, cascade) {
    try {
      await api('POST', path + '/cancel', cascade && { cascade });
      toast(t.state === 'running' ? 'Asked to stop' : 'Cancelled');
      await load();
    } catch (e) {
      if (e.code === 'state' && t.children && !cascade) ask('Cancel all?', h('p', null, e.message), ['Keep them', ''], ['Cancel all', 'danger', () => cancel(t, path, true)]);
      else toast(e.message, true);
    }
  }
  function buttons(t) {
    const open = ['blocked', 'scheduled', 'ready', 'parked', 'running'].includes(t.state);
    const path = taskPath(t0);
    put(acts, may('operator') && [['dead', 'cancelled', 'scheduled'].includes(t.state) && button({ class: 'main', click: () => act('POST', path + '/retry', 'Ready again', load) }, t.state === 'scheduled' ? 'Run now' : 'Retry'),
      t.state === 'completed' && button({ click: () => act('POST', path + '/retry?completed=1', 'Ready again', load) }, 'Run again'),
      open && button({ disabled: t.cancelling, click: () => cancel(t, path) }, t.cancelling ? 'Cancelling…' : 'Cancel')],
    may('admin') && t.state !== 'running' && button({ class: 'danger', click: () => ask('Delete this task?', h('p', null, handle), ['Keep it', ''], ['Delete', 'danger', () => act('DELETE', path, 'Deleted', () => { location.hash = tasksLink(t0.queue); })]) }, 'Delete'),
    button({ click: () => { raw = !raw; last = ''; load(); } }, raw ? 'Story' : 'Raw JSON'));
  }
  const load = loader(async (tick) => {
    try {
      const seconds = tick && 1, text = await lookText(taskPath(t0), seconds);
      if (text === last && named === workerNames.size) return;
      last = text;
      named = workerNames.size;
      const t = JSON.parse(text);
      ended = ['completed', 'dead', 'cancelled'].includes(t.state);
      const waits = t.parents && t.state === 'blocked' ? await look(taskPath(t0) + '/parents', seconds).catch(() => null) : null;
      const log = t.logged ? (await look(taskPath(t0) + '/log', seconds)).lines : [];
      put(state, badge(t.stalled ? 'stalled' : t.state));
      buttons(t);
      if (!known) { known = true; others(t); }
      put(holder, raw ? h('section', { class: 'panel' }, pretty(text)) : view(t, log, waits));
    } catch (e) {
      named = workerNames.size;
      ended = e.code === 'not_found';
      put(holder, h('section', { class: 'panel' }, empty(ended ? 'There is no such task' : 'The task cannot be read', e.message)));
    }
  });
  function view(t, log, waits) {
    return h('div', { class: 'wide' }, h('div', null, waits && panel('Waits for', members(waits)),
      t.progress !== null && panel('Progress', h('div', { class: 'progress', role: 'progressbar', 'aria-valuenow': t.progress, 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-label': 'Progress' }, bar(t.progress)), h('p', { class: 'sub' }, `${t.progress} % `, t.progress_words)),
      t.error_message && panel('Last error', h('p', null, badge('failed'), ' ', h('b', null, t.error_kind), ' ', ago(t.failed_ms)), h('pre', null, t.error_message)),
      panel('Story', story(t)), content('Payload', t, 'payload'), content('Result', t, 'result'),
      log.length > 0 && panel('Log', h('pre', null, log.map((l) => `${new Date(l.at_ms).toLocaleTimeString()}  ${l.text}\n`))),
      (t.parents || t.children) && panel('Parents and children', family(t, innerWidth > 960 ? 0 : Math.max(280, innerWidth - 70)))),
    h('div', null, t.why && t.why.length > 0 && panel(t.state === 'running' ? 'Where it runs' : ended ? 'Why it ended' : 'Why it does not run', t.why.map((r) => h('p', null, inZone(r.text)))),
      panel('Options', facts([['Type', h('a', { href: filterLink(t.queue, { type: t.type }) }, t.type)], ['Priority', t.priority], ['Group', t.group && h('a', { href: filterLink(t.queue, { group: t.group }) }, t.group)], ['Cost', t.cost], ['Limit keys', t.limit_keys && t.limit_keys.join(', ')], ['Failed attempts', t.failures + (t.attempts ? ` of ${t.attempts}` : '')], ['Crashes', t.crashes],
        ['Time limit', t.timeout_ms && span(t.timeout_ms)], ['Backoff', t.backoff], ['Unique key', t.unique], ['Tags', t.tags && t.tags.map((x) => [h('a', { href: filterLink(t.queue, { tag: x }) }, x), ' '])], ['Metadata', t.meta && Object.entries(t.meta).map(([k, v]) => h('div', { class: 'mono' }, `${k}=${v}`))],
        ['Deadline', t.deadline_ms && when(t.deadline_ms)], ['Enqueued', when(t.enqueued_ms)], ['Due', t.due_ms && when(t.due_ms)], ['Ended', t.ended_ms && when(t.ended_ms)], ['Cancelled because', t.cancel_reason], ['Checkpoint', t.checkpoint_bytes && bytes(t.checkpoint_bytes)], ['Lease until', t.lease_expires_ms && when(t.lease_expires_ms)]])),
      lately, panel('On the command line', command('reeve show ' + quote(handle)))));
  }
  // How the other tasks of the type ended.
  async function others(t) {
    const q = 'type=' + encodeURIComponent(t.type) + '&limit=5', of = (state) => api('GET', `${queuePath(t.queue)}/tasks?state=${state}&${q}`).then((p) => p.tasks, () => []);
    const list = (await Promise.all(['dead', 'completed', 'running'].map(of))).flat().filter((x) => x.id !== t.id).sort((a, b) => lastTime(b) - lastTime(a)).slice(0, 6);
    put(lately, list.length > 0 && panel(['Other tasks of type ', t.type], h('ul', { class: 'plainlist' }, list.map((x) => h('li', null, badge(x.state), ' ', taskName(x.handle, x.id), sub(' ', ago(lastTime(x)), x.run_ms !== null && x.run_ms !== undefined ? `, ran ${span(x.run_ms)}` : ''))))));
  }
  return { title: t0.id, node: [h('div', { class: 'crumb' }, h('a', { href: queueLink(t0.queue) }, t0.queue), ' / ', h('a', { href: tasksLink(t0.queue) }, 'tasks')), h('div', { class: 'top' }, h('h1', { class: 'mono' }, t0.id), state, acts), holder], tick: (snapshot) => { if (!ended || named < workerNames.size) load(snapshot); } /* (names come with the first snapshot) */, first: load };
}

// queues.js - the queues, a queue, and its limits.
'use strict';

// How many of those run that can.
function use(running, of, title) { return of ? h('span', { class: 'use', title }, h('span', { class: 'util', 'aria-hidden': 'true' }, bar(100 * running / of)), `${whole.format(running)} of ${whole.format(of)}`) : whole.format(running); }
function useOf(q) {
  const i = q.info, of = Math.min(i.concurrency || Infinity, q.threads || Infinity);
  return of < Infinity && (i.running || i.ready || i.concurrency) ? num(use(i.running, of, `${count(q.threads)} threads serve it` + (i.concurrency ? `; limit: ${i.concurrency} at a time` : ''))) : number(i.running);
}
function queueRow(q) {
  const i = q.info, limits = shortLimits(i);
  return h('tr', { 'data-link': queueLink(i.queue) },
    td(h('a', { class: 'name', href: queueLink(i.queue) }, i.queue), i.paused || i.pause_until_ms > now() ? [' ', badge('paused')] : null, limits && [' ', h('span', { class: 'sub', title: 'Limits: ' + REASON_LIMIT(i) }, limits)]),
    h('td', { class: 'hide' }, spark(q.spark)),
    num(rate(q.completed_per_s), sub(' /s')),
    number(i.ready), useOf(q), number(i.scheduled), number(i.dead),
    num(i.oldest_ready_ms ? span(Math.max(0, now() - i.oldest_ready_ms)) : h('span', { class: 'zero' }, '–')),
    h('td', { class: 'num hide' }, i.workers === 0 && i.ready ? h('span', { class: 'badge dead' }, 'none') : i.workers));
}
const QUEUE_HEADS = ['Queue', ['Last 5 minutes', 'hide'], ['Done', 'num'], ['Ready', 'num'], ['Running', 'num'], ['Scheduled', 'num'], ['Dead', 'num'], ['Oldest', 'num'], ['Workers', 'num hide']];

function groupRow(g) {
  if (!g.prefix) return queueRow(g.queues[0]);
  const link = '#/queues?p=' + encodeURIComponent(g.prefix);
  return h('tr', { 'data-link': link }, td(h('a', { class: 'name', href: link }, g.prefix + '*'), sub(` ${whole.format(g.count)} queues`), g.paused > 0 && [' ', badge('paused'), sub(` ${g.paused}`)]),
    h('td', { class: 'hide' }, spark(g.spark)), num(rate(g.completed_per_s), sub(' /s')), number(g.ready), number(g.running), number(g.scheduled), number(g.dead),
    num(g.oldest_ready_ms ? span(Math.max(0, now() - g.oldest_ready_ms)) : h('span', { class: 'zero' }, '–')), h('td', { class: 'num hide' }, g.unserved > 0 && h('span', { class: 'badge dead' }, `none for ${g.unserved}`)));
}
function queues(parts, query) {
  const list = h('div'), size = 50, grouped = query.has('g');
  let offset = 0, prefix = query.get('p') || '', busy = false;
  const find = h('input', { type: 'search', placeholder: 'Names that begin with …', 'aria-label': 'Names that begin with', value: prefix, 'data-find': true,
    input: (e) => { prefix = e.target.value; offset = 0; load(); } });
  const chips = choice('View', [['#/queues', 'Each queue', !grouped && !prefix], ['#/queues?g', 'By prefix', grouped]]);
  async function load() {
    if (busy) return;
    busy = true;
    try {
      const by = grouped && !prefix, page = await api('GET', `${by ? 'queue-groups' : 'queues'}?limit=${size}&offset=${offset}` + (prefix ? '&prefix=' + encodeURIComponent(prefix) : '')), rows = by ? page.groups.map(groupRow) : page.queues.map(queueRow);
      put(list, flush(rows.length ? table(QUEUE_HEADS, rows) :
        empty(prefix ? 'No such queue' : 'No queue yet', prefix ? 'No name begins with this.' : 'The first task of a queue creates it.'),
        page.total > size && pager(offset, size, page.total, (to) => { offset = to; load(); })));
    } finally { busy = false; }
  }
  return { title: 'Queues', node: [heading('Queues', sub('those in trouble first'), h('div', { class: 'acts' }, find)), chips, list], tick: load, first: load };
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
      if (many.value.trim() !== String(had)) change.concurrency = many.value.trim() === '' ? null : /^\d+$/.test(many.value.trim()) ? Number(many.value) : many.value;
      if (starts.value.trim() !== was) change.rate = starts.value.trim() || null;
      if (!('concurrency' in change) && !('rate' in change)) continue;
      try { await api('POST', queuePath(name) + '/limits', change); changed++; } catch (e) { toast(e.message, true); return false; }
    }
    if (changed) { toast(`${name}: limits changed`); await then(); }
  }]);
}
const shortLimits = (i) => [i.concurrency && `max ${i.concurrency}`, rateText(i.rate)].filter(Boolean).join(', ');
const REASON_LIMIT = (i) => [i.concurrency > 0 && `${i.concurrency} at a time`, i.strict && 'strict', i.rate && i.rate.count > 0 && `${i.rate.count} starts in ${span(i.rate.period_ms)}`].filter(Boolean).join(', ');

// A group, type or limit key with limits, and its tasks if a filter can find them.
const limitedLink = (name, g) => filterLink(name, g.type ? { type: g.type } : { group: g.group });
const limited = (name, g) => g.key ? 'key ' + g.key : h('a', { href: limitedLink(name, g) }, g.type ? 'type ' + g.type : g.group);

function queue(parts) {
  const name = parts[1], facts_ = h('div'), why = h('div'), stats = h('div'), limits = h('div'), acts = h('div', { class: 'acts' }), tiles = h('div', { class: 'tiles' });
  let slow = 0;
  const load = loader(async (tick) => {
    const i = await look(queuePath(name), tick && 1);
    const paused = i.paused || i.pause_until_ms > now();
    put(acts, may('operator') && (paused ? button({ class: 'main', click: () => act('POST', queuePath(name) + '/resume', `${name} resumed`, load) }, 'Resume') :
      button({ click: () => act('POST', queuePath(name) + '/pause', `${name} paused`, load) }, 'Pause')),
      may('operator') && button({ click: () => limitsDialog(name, load) }, 'Limits'), h('a', { class: 'button', href: tasksLink(name) }, 'Tasks'));
    put(tiles, STATES.map((state) => tile(state, count(i[state]), tasksLink(name, 'state:' + state), state === 'dead' && i.dead > 0)));
    put(facts_, panel('Now', facts([['State', paused ? [badge('paused'), i.pause_until_ms ? [' until ', when(i.pause_until_ms)] : null] : 'leases tasks'],
      ['Workers', i.workers], ['Next task enqueued', i.oldest_ready_ms && ago(i.oldest_ready_ms)], ['Next due', i.next_due_ms && ago(i.next_due_ms)],
      ['Limits', REASON_LIMIT(i)], ['Each group', REASON_LIMIT(i.each_group)], ['Completed ever', whole.format(i.completed_total)], ['Failed attempts ever', whole.format(i.failed_total)],
      ['Died ever', whole.format(i.dead_total)], ['Crashed ever', whole.format(i.crashed_total)]])));
    if (!tick) slow = 0;
    if (slow++ % 5 === 0) await rest(tick && 10);
  });
  async function rest(seconds) {
    const [reasons, day, limit] = await Promise.all([look(queuePath(name) + '/why', seconds).catch(() => null), look(queuePath(name) + '/stats?days=30', seconds), look(queuePath(name) + '/limits?limit=20', seconds)]);
    put(why, reasons && panel('What it waits for', reasons.why.map((r) => h('p', null, inZone(r.text)))));
    const today = day.days[day.days.length - 1];
    put(stats, h('section', { class: 'panel' }, h('div', { class: 'head' }, h('h2', null, 'The last 30 days (UTC)'), h('div', { class: 'legend' }, h('span', null, h('i'), 'completed'), h('span', null, h('i', { class: 'bad' }), 'dead'))), days(day.days)), flush(h('h2', null, 'Today by type'), today.types.length ?
      table(['Type', ['Done', 'num'], ['Failed', 'num'], ['Dead', 'num'], ['Mean wait', 'num'], ['Mean run', 'num']], today.types.map((t) => h('tr', { 'data-link': filterLink(name, { type: t.type }) }, td(h('a', { href: filterLink(name, { type: t.type }) }, t.type || 'others')), number(t.completed), number(t.failed), number(t.dead),
        num(t.wait && t.wait.count ? span(t.wait.mean_ms) : '–'), num(t.run && t.run.count ? span(t.run.mean_ms) : '–')))) : empty('Nothing ran today', 'Statistics come with the heartbeats of workers.')),
      today.run.count > 0 && panel('Times today', table(['', ['Mean', 'num'], ['Half within', 'num'], ['95 % within', 'num'], ['99 % within', 'num'], ['Longest', 'num']],
        [['Wait', today.wait], ['Run', today.run]].map(([label, t]) => h('tr', null, td(label), [t.mean_ms, t.p50_ms, t.p95_ms, t.p99_ms, t.max_ms].map((v) => num(t.count ? span(v) : '–')))))));
    put(limits, limit.groups.length > 0 && flush(h('h2', null, 'Groups with limits or parked tasks'), table(['Group', ['Running', 'num'], ['Parked', 'num'], 'Limits', 'Paused until'],
      limit.groups.map((g) => h('tr', g.key ? null : { 'data-link': limitedLink(name, g) }, td(limited(name, g)), number(g.running), number(g.parked), td(REASON_LIMIT(g)), td(g.pause_until_ms ? when(g.pause_until_ms) : ''))))));
  }
  return { title: name, node: [h('div', { class: 'crumb' }, h('a', { href: '#/queues' }, 'Queues')), heading(name, acts), tiles, h('div', { class: 'wide' }, h('div', null, stats, limits), h('div', null, why, facts_, panel('On the command line', command('reeve why ' + quote(name)))))], tick: load, first: load };
}


function limits() {
  const holder = h('div');
  let busy = false;
  async function load(anyway) {
    if (busy || anyway !== true && holder.contains(document.activeElement)) return; // (a button that has the focus stays)
    busy = true;
    const list = (await api('GET', 'queues?limit=1000').finally(() => { busy = false; })).queues.map((q) => q.info).filter((i) => i.concurrency || i.rate || i.parked > 0 || REASON_LIMIT(i.each_group) || i.paused || i.pause_until_ms);
    put(holder, flush(list.length ? table(['Queue', 'Running', 'Rate', 'Each group', ['Parked', 'num'], 'Paused', ''], list.map((i) => h('tr', { 'data-link': queueLink(i.queue) }, td(h('a', { class: 'name', href: queueLink(i.queue) }, i.queue)), td(use(i.running, i.concurrency)),
      td(i.rate ? `${whole.format(i.rate.count)} starts in ${span(i.rate.period_ms)}` : '–'), td(REASON_LIMIT(i.each_group) || '–'), number(i.parked), td(i.paused ? badge('paused') : i.pause_until_ms > now() ? ['until ', when(i.pause_until_ms)] : '–'),
      num(may('operator') && button({ 'aria-label': `Change: ${i.queue}`, click: () => limitsDialog(i.queue, () => load(true)) }, 'Change'))))) :
      empty('No queue has a limit', 'Limits hold for all workers together: how many tasks run at a time, and how many start in a period.', 'reeve limit mail --concurrency 10 --rate 100/1s')));
  }
  return { title: 'Limits', node: [heading('Limits'), holder], first: load, tick: load };
}

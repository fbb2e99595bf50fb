// overview.js - the first page: what is wrong, and what has happened in the last five minutes, hour, day or month.
'use strict';

const TROUBLES = {
  unserved: (t) => [`no worker serves it, and ${count(t.number)} tasks are ready`],
  dying: (t) => [`${rate(t.number)} tasks a minute die`],
  paused: (t) => [`paused, and ${count(t.number)} tasks are ready`],
  old: (t) => [`the next task has waited for ${span(t.number)}`],
  rising: (t) => [`the oldest wait rises: ${span(t.number)} now, ${span(t.before)} two to three minutes ago`],
  long_paused: (t) => [`paused for ${span(t.number)}`],
  crashing: (t) => [h('a', { href: '#/workers' }, 'workers or runners'), `crashed ${t.number} times in the last five minutes`],
  silent: (t) => [`no heartbeat for ${span(t.number)}`],
  redis_full: (t) => [`Redis uses ${t.number.toFixed(0)} % of its memory limit`],
  redis_evicts: () => ['Redis may evict keys: set maxmemory-policy to noeviction'],
  redis_unsaved: () => ['Redis could not save its data'],
};
function troubles(snapshot) {
  if (!snapshot.redis.connected) return h('ul', { class: 'trouble' }, h('li', { class: 'bad' }, 'Redis cannot be reached: ', snapshot.redis.error));
  if (!snapshot.trouble.length) return h('div', { class: 'fine' }, '✓', 'Nothing is wrong.');
  return h('ul', { class: 'trouble' }, snapshot.trouble.slice(0, 12).map((t) => h('li', { class: t.level },
    t.queue ? h('a', { href: t.what === 'dying' ? tasksLink(t.queue, 'state:dead') : queueLink(t.queue) }, t.queue) : t.worker ? h('a', { href: '#/workers' }, t.worker) : null,
    TROUBLES[t.what](t))), snapshot.trouble_count > 12 && h('li', null, `and ${whole.format(snapshot.trouble_count - 12)} more`));
}

// range: its label, what a point is, and the number of points between two labels of the axis; the same of the chart of times.
const RANGES = { minutes: ['5 min', '5 seconds', 12, 'five minutes', 3], hour: ['Hour', 'minute', 20, 'five minutes', 3], day: ['Day', 'quarter hour', 24, 'quarter hour', 24], month: ['Month', 'day (UTC)', 7, 'day (UTC)', 7] };
function throughput(range, rows, of) {
  const sum = (i) => count(rows.reduce((n, x) => n + x[i], 0)), [, each, every] = RANGES[range];
  return h('section', { class: 'panel' }, h('div', { class: 'head' }, h('h2', null, `Throughput by ${each}`), h('div', { class: 'legend' }, h('span', null, h('i'), `${sum(1)} completed`), h('span', null, h('i', { class: 'bad' }), `${sum(2)} failed attempts`), h('span', null, `${sum(3)} died`))),
    rows.length ? chart(rows.map((x) => x[0]), [{ values: rows.map((x) => x[1]), kind: 'main', area: true }, { values: rows.map((x) => x[2]), kind: 'badline' }], { range, every, label: `Completed tasks and failed attempts, a point for each ${each}` }) : h('p', { class: 'sub' }, 'No data yet.'),
    of && h('p', { class: 'sub' }, of));
}
// A row is [at, wait, run, wait, run, wait, run]: half, 95 and 99 % were within.
function times(range, rows, oldest) {
  const pick = (i) => rows.map((x) => x[i] || null), [, , , each, every] = RANGES[range], last = rows.filter((x) => x[5]).pop();
  return h('section', { class: 'panel' }, h('div', { class: 'head' }, h('h2', null, `Wait and run by ${each}`), h('div', { class: 'legend' }, [['blue', 'wait'], ['', 'run'], ['bad', 'oldest now']].map(([c, text]) => h('span', null, h('i', { class: c }), text)))),
    chart(rows.map((x) => x[0]), [['second', 1], ['main', 2], ['second thin', 3], ['main thin', 4]].map(([kind, i]) => ({ values: pick(i), kind })), { range: range === 'minutes' ? 'hour' : range, every, log: true, format: span, marker: oldest, label: `Wait and run times of each ${each} on a logarithmic axis: half and 95 % of the tasks were within` }),
    h('p', { class: 'sub' }, 'Thick: half within; thin: 95 % within. ', last && `Last, 99 % waited at most ${span(last[5])} and ran at most ${span(last[6])}.`));
}
const pointRow = (p) => [p.at_ms, p.completed, p.failed, p.dead];
const pointTimes = (p) => [p.at_ms, ...['p50_ms', 'p95_ms', 'p99_ms'].flatMap((k) => [p.wait[k], p.run[k]])];

// The day and the month are asked for when they are chosen, and then once a minute.
function history_(query) {
  const range = RANGES[query.get('r')] ? query.get('r') : 'hour', charts = h('div', { class: 'two' });
  const chips = choice('Range', Object.entries(RANGES).map(([name, [label]]) => ['#/?r=' + name, label, name === range]));
  let past = null, next = 0;
  function draw(snapshot) {
    const oldest = snapshot.totals.oldest_ready_ms ? now() - snapshot.totals.oldest_ready_ms : null, rows = past ? past.points.map(pointRow) : range === 'minutes' ? snapshot.seconds : snapshot.minutes, long = past ? past.points.map(pointTimes) : snapshot.times;
    chips.hidden = !snapshot.minutes.length;
    if (past || !['day', 'month'].includes(range)) put(charts, snapshot.minutes.length > 0 && [throughput(range, rows, past && past.of_queues > past.queues && `Of the ${past.queues} busiest of ${whole.format(past.of_queues)} queues.`), times(range, long, oldest)]);
  }
  return [chips, charts, (snapshot) => {
    draw(snapshot);
    if (!['day', 'month'].includes(range) || Date.now() < next) return;
    next = Date.now() + 60000;
    api('GET', 'history?range=' + range).then((p) => { past = p; draw(snapshot); }, (e) => { next = Date.now() + 5000; if (!past) put(charts, h('section', { class: 'panel' }, e.message)); });
  }];
}

function overview(parts, query) {
  const trouble = h('div'), tiles = h('div', { class: 'tiles' }), [chips, charts, drawHistory] = history_(query), queues = h('div');
  return {
    title: 'Overview',
    node: [heading('Overview'), trouble, tiles, chips, charts, queues],
    tick(snapshot) {
      const t = snapshot.totals;
      put(trouble, troubles(snapshot));
      if (!snapshot.redis.connected) return; // (what was read last stays)
      put(tiles, tile('done a second', rate(t.completed_per_s)), tile('ready', count(t.ready), '#/queues'), tile('running', count(t.running)), tile('scheduled', count(t.scheduled)),
        tile('failed a second', rate(t.failed_per_s), null, t.failed_per_s > 0), tile('dead', count(t.dead), '#/dead', t.dead > 0),
        tile(`of ${count(t.threads)} threads busy`, count(t.busy), '#/workers'));
      drawHistory(snapshot);
      put(queues, flush(h('h2', null, 'Queues'),
        snapshot.queues.length ? table(QUEUE_HEADS, snapshot.queues.slice(0, 12).map(queueRow)) :
          empty('No queue yet', 'The first task of a queue creates it.', "reeve enqueue default echo '{\"hello\":1}'"),
        snapshot.queues.length > 12 && h('div', { class: 'foot' }, h('a', { href: '#/queues' }, `All ${t.queues} queues`))));
    },
  };
}

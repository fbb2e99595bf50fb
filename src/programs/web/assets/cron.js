// cron.js - recurring entries.
'use strict';

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
  const life = renewed(10, async (age) => {
    const { entries: list, slots } = await look('cron', age), path = (e) => `cron/${part(e.queue)}/${part(e.name)}/`;
    put(holder, flush(list.length ? table(['Entry', 'Schedule', 'Type', 'Last task', 'Next', ''], list.map((e, i) => h('tr', null, td(h('span', { class: 'name' }, e.name), ' ', e.paused && badge('paused'), e.ended && badge('ended'), h('div', { class: 'sub' }, h('a', { href: queueLink(e.queue) }, e.queue))),
      td(inWords(e.spec) && h('div', null, inWords(e.spec)), h('code', null, e.spec), !/^(every|@every) /.test(e.spec) && h('div', { class: 'sub' }, e.zone)), td(e.type), td(e.last_handle ? [taskName(e.last_handle, e.last_handle.slice(e.last_handle.indexOf('/') + 1)), h('div', { class: 'sub' }, h('a', { href: filterLink(e.queue, { 'id-prefix': `cron:${e.name}:` }) }, 'all of them'))] : '–'), td(e.next_ms ? h('details', null, h('summary', null, ago(e.next_ms)), h('ol', null, (slots[i] || []).map((t) => h('li', null, when(t))))) : '–'),
      num(may('operator') && [button({ click: () => act('POST', path(e) + 'run', `${e.name} enqueued`, life.first) }, 'Run now'), ' ', !e.ended && button({ click: () => act('POST', path(e) + (e.paused ? 'resume' : 'pause'), e.paused ? 'Resumed' : 'Paused', life.first) }, e.paused ? 'Resume' : 'Pause')])))) :
      empty('No recurring entry', 'An entry enqueues a task at each of its times.', "reeve cron add nightly '0 3 * * *' default report")));
  });
  return { title: 'Cron', node: [heading('Recurring entries'), holder], ...life };
}

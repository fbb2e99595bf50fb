// charts.js - lines, bars and sparklines as SVG.
'use strict';

function spark(values, width = 110, height = 22) {
  const top = Math.max(1, ...values), step = width / 59, from = 60 - values.length;
  const points = values.map((v, i) => ((from + i) * step).toFixed(1) + ',' + (height - 1.5 - v / top * (height - 4)).toFixed(1));
  return s('svg', { class: 'spark', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Completed tasks in the last five minutes' },
    s('line', { class: 'grid', x1: 0, x2: width, y1: height - 1, y2: height - 1 }),
    values.length > 1 && s('polyline', { class: 'main', points: points.join(' '), 'stroke-width': 1.4 }));
}

// Round numbers for an axis from 0 to at least top.
function ticks(top) {
  const size = 10 ** Math.floor(Math.log10(top || 1));
  const step = [0.25, 0.5, 1, 2, 2.5].map((x) => x * size).find((x) => top / x <= 4) || size * 2.5;
  const list = [];
  for (let v = 0; v < top + step; v += step) list.push(v);
  return list;
}

// series: {name, values, kind, area}; values are numbers or null; the last one is not finished, and dashed.
function chart(times, series, { log = false, label, format = count, marker = null } = {}) {
  const width = 640, height = 190, left = 48, right = 10, base = height - 24, high = 10;
  const all = series.flatMap((one) => one.values).filter((v) => v !== null && v > 0);
  if (marker) all.push(marker);
  const top = Math.max(...all, log ? 1 : 0);
  const marks = log ? [1, 10, 100, 1e3, 1e4, 6e4, 6e5, 36e5, 36e6, 864e6].filter((v, i, list) => i === 0 || list[i - 1] < top) : ticks(top || 4);
  const end = marks[marks.length - 1], low = log ? 0.5 : 0;
  const x = (i) => left + i * (width - left - right) / Math.max(1, times.length - 1);
  const y = (v) => log ? base - Math.log(Math.max(v, low) / low) / Math.log(end / low) * (base - high) : base - v / end * (base - high);
  const grid = marks.map((v) => [s('line', { class: 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v) }),
    s('text', { x: left - 8, y: y(v) + 4, 'text-anchor': 'end' }, format(v))]);
  const labels = times.map((t, i) => i % 15 === 0 || i === times.length - 1 ?
    s('text', { x: x(i), y: height - 6, 'text-anchor': i === 0 ? 'start' : i === times.length - 1 ? 'end' : 'middle' },
      i === times.length - 1 ? 'now' : new Date(t).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })) : null);
  const lines = series.map((one) => {
    const known = one.values.map((v, i) => v === null ? null : [x(i).toFixed(1), y(v).toFixed(1)]);
    const path = (list) => list.filter(Boolean).map((p) => p.join(',')).join(' ');
    const done = known.slice(0, -1), last = known.slice(-2);
    return [one.area && s('polygon', { class: 'area', points: `${left},${base} ${path(done)} ${x(done.length - 1)},${base}` }),
      s('polyline', { class: one.kind, points: path(done) }),
      last.every(Boolean) && s('polyline', { class: one.kind + ' dash', points: path(last) })];
  });
  return s('svg', { viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'img', 'aria-label': label }, grid, labels, lines,
    marker && s('line', { class: 'badline dash', x1: left, x2: width - right, y1: y(marker), y2: y(marker) }));
}

function days(list) {
  const width = 640, height = 120, base = height - 20, top = Math.max(1, ...list.map((d) => d.completed + d.dead));
  const each = width / list.length;
  return s('svg', { viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'img', 'aria-label': 'Completed and dead tasks of each day' },
    list.map((d, i) => {
      const done = d.completed / top * (base - 8), dead = d.dead / top * (base - 8);
      return s('g', null, s('title', null, `${d.day}: ${whole.format(d.completed)} completed, ${whole.format(d.dead)} dead`),
        s('rect', { x: i * each, y: 0, width: each, height: base, fill: 'transparent' }),
        s('rect', { class: 'barfill', x: i * each + 1, y: base - done, width: Math.max(1, each - 3), height: done, rx: 2 }),
        s('rect', { class: 'badfill', x: i * each + 1, y: base - done - dead, width: Math.max(1, each - 3), height: dead, rx: 2 }));
    }),
    s('line', { class: 'grid', x1: 0, x2: width, y1: base, y2: base }),
    s('text', { x: 0, y: height - 4 }, list[0].day), s('text', { x: width, y: height - 4, 'text-anchor': 'end' }, 'today'));
}

// A task between its parents and its children.
function family(task) {
  const parents = (task.parents || []).slice(0, 8), children = (task.children || []).slice(0, 8);
  const rows = Math.max(parents.length, children.length, 1), height = rows * 40 + 10, width = 720;
  const box = (x, y, text, state, link) => {
    const node = s('g', null, s('rect', { x, y, width: 190, height: 30, rx: 8, fill: link ? 'var(--soft)' : 'var(--accent-soft)', stroke: 'var(--line)' }),
      s('text', { x: x + 10, y: y + 19 }, text.length > 27 ? text.slice(0, 26) + '…' : text), s('title', null, state ? `${text}: ${state}` : text));
    return link ? s('a', { href: link }, node) : node;
  };
  const place = (i, n) => (height - n * 40) / 2 + i * 40 + 5, middle = height / 2;
  const wire = (x1, y1, x2, y2) => s('path', { class: 'grid', fill: 'none', d: `M${x1},${y1} C${(x1 + x2) / 2},${y1} ${(x1 + x2) / 2},${y2} ${x2},${y2}` });
  return s('svg', { viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'group', 'aria-label': 'Parents and children' },
    parents.map((p, i) => [wire(200, place(i, parents.length) + 15, 265, middle), box(10, place(i, parents.length), p.handle, p.ended || p.state, taskLink(p.handle))]),
    children.map((c, i) => [wire(455, middle, 520, place(i, children.length) + 15), box(520, place(i, children.length), c, '', taskLink(c))]),
    box(265, middle - 15, task.id, task.state, null));
}

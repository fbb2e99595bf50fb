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

// series: {values, kind, area}; values are numbers or null; the last one is not finished, and dashed. range: a key of RANGES; every: points
// between two labels.
function chart(times, series, { range = 'hour', every: apart, log = false, label, format = count, marker = null } = {}) {
  const small = innerWidth < 704, every = apart * (small && range === 'minutes' ? 2 : 1), clock = range === 'month' ? { day: 'numeric', month: 'short', timeZone: 'UTC' } : { hour: '2-digit', minute: '2-digit', second: range === 'minutes' ? '2-digit' : undefined };
  const width = small ? 380 : 640, height = 190, left = 60, right = 10, base = height - 24, high = 10;
  const all = series.flatMap((one) => one.values).filter((v) => v !== null && v > 0);
  if (marker) all.push(marker);
  const top = Math.max(...all, log ? 1 : 0);
  const marks = log ? [1, 10, 100, 1e3, 1e4, 6e4, 6e5, 36e5, 36e6, 864e6].filter((v, i, list) => i === 0 || list[i - 1] < top) : ticks(top || 4);
  const end = marks[marks.length - 1], low = log ? 0.5 : 0;
  const x = (i) => left + i * (width - left - right) / Math.max(1, times.length - 1);
  const y = (v) => log ? base - Math.log(Math.max(v, low) / low) / Math.log(end / low) * (base - high) : base - v / end * (base - high);
  const grid = marks.map((v) => [s('line', { class: 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v) }),
    s('text', { x: left - 8, y: y(v) + 4, 'text-anchor': 'end' }, format(v))]);
  const labels = times.map((t, i) => (times.length - 1 - i) % every === 0 ?
    s('text', { x: x(i), y: height - 6, 'text-anchor': i === 0 ? 'start' : i === times.length - 1 ? 'end' : 'middle' },
      i === times.length - 1 ? range === 'month' ? 'today' : 'now' : new Date(t).toLocaleString(undefined, clock)) : null);
  const lines = series.map((one) => {
    const known = one.values.map((v, i) => v === null ? null : [x(i).toFixed(1), y(v).toFixed(1)]);
    const path = (list) => list.filter(Boolean).map((p) => p.join(',')).join(' ');
    const done = known.slice(0, -1), last = known.slice(-2), runs = [[]];
    for (const point of done) if (point) runs[runs.length - 1].push(point); else if (runs[runs.length - 1].length) runs.push([]);
    return [one.area && s('polygon', { class: 'area', points: `${left},${base} ${path(done)} ${x(done.length - 1)},${base}` }),
      runs.map((run) => run.length === 1 ? s('circle', { class: one.kind + ' dot', cx: run[0][0], cy: run[0][1], r: 2 }) : run.length > 1 && s('polyline', { class: one.kind, points: path(run) })),
      last.every(Boolean) ? s('polyline', { class: one.kind + ' dash', points: path(last) }) : last[1] && s('circle', { class: one.kind + ' dot', cx: last[1][0], cy: last[1][1], r: 2 })];
  });
  return s('svg', { viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'img', 'aria-label': label }, grid, labels, lines,
    marker && s('line', { class: 'badline dash', x1: left, x2: width - right, y1: y(marker), y2: y(marker) }));
}

function days(list) {
  const width = innerWidth < 704 ? 380 : 640, height = 120, base = height - 20, top = Math.max(1, ...list.map((d) => d.completed + d.dead));
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

// A task between its parents and its children. It is moved with the pointer, the arrow keys, and made larger or smaller with + and -.
const viewOf = { handle: '', x: 0, y: 0, scale: 1 }; // (stays while the page of a task is drawn anew)
function family(task, width) {
  const parents = (task.parents || []).slice(0, 200), children = (task.children || []).slice(0, 200), BOX = 210, GAP = 90, ROW = 40;
  const rows = Math.max(parents.length, children.length, 1), height = rows * ROW + 10, whole_ = 3 * BOX + 2 * GAP + 20, shown = Math.min(height, 420), middle = height / 2;
  const view = Math.min(width || whole_, whole_), start = { x: (whole_ - view) / 2, y: Math.max(0, (height - shown) / 2), scale: 1 };
  const box = (column, y, text, state, link) => {
    const x = 10 + column * (BOX + GAP);
    const node = s('g', { class: 'node' }, s('rect', { x, y, width: BOX, height: 30, rx: 8, class: link ? '' : 'self' }), state && s('circle', { cx: x + 15, cy: y + 15, r: 4, class: 'state ' + state }),
      s('text', { x: x + (state ? 27 : 12), y: y + 19 }, text.length > 25 ? text.slice(0, 24) + '…' : text), s('title', null, state ? `${text}: ${state}` : text));
    return link ? s('a', { href: link }, node) : node;
  };
  const place = (i, n) => (height - n * ROW) / 2 + i * ROW + 5;
  const wire = (column, y1, y2) => { const x1 = 10 + BOX + column * (BOX + GAP), x2 = x1 + GAP; return s('path', { class: 'wire', d: `M${x1},${y1} C${x1 + GAP / 2},${y1} ${x1 + GAP / 2},${y2} ${x2},${y2}` }); };
  if (viewOf.handle !== task.handle) Object.assign(viewOf, start, { handle: task.handle });
  const svg = s('svg', { width: '100%', height: shown, tabindex: 0, class: 'graph', role: 'group', 'aria-label': 'Parents and children; arrow keys move it', keydown: key, pointerdown: grab },
    parents.map((p, i) => [wire(0, place(i, parents.length) + 15, middle), box(0, place(i, parents.length), p.handle, p.ended || p.state, taskLink(p.handle))]),
    children.map((c, i) => [wire(1, middle, place(i, children.length) + 15), box(2, place(i, children.length), c, '', taskLink(c))]),
    box(1, middle - 15, task.id, task.state, null));
  function show() {
    const w = view / viewOf.scale, h_ = shown / viewOf.scale;
    viewOf.x = Math.max(Math.min(0, whole_ - w), Math.min(Math.max(0, whole_ - w), viewOf.x));
    viewOf.y = Math.max(Math.min(0, height - h_), Math.min(Math.max(0, height - h_), viewOf.y));
    svg.setAttribute('viewBox', `${viewOf.x} ${viewOf.y} ${w} ${h_}`);
  }
  function key(e) {
    const by = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] }[e.key], size = { '+': 1.25, '-': 0.8 }[e.key];
    if (by) { viewOf.x += by[0]; viewOf.y += by[1]; } else if (size) viewOf.scale = Math.max(0.3, Math.min(3, viewOf.scale * size)); else if (e.key === '0') Object.assign(viewOf, start); else return;
    e.preventDefault();
    show();
  }
  function grab(e) {
    const from = { x: e.clientX, y: e.clientY, left: viewOf.x, top: viewOf.y }, perPixel = view / viewOf.scale / (svg.clientWidth || view);
    let moved = false;
    const move = (m) => {
      if (!moved && Math.hypot(m.clientX - from.x, m.clientY - from.y) < 5) return;
      moved = true;
      viewOf.x = from.left - (m.clientX - from.x) * perPixel; viewOf.y = from.top - (m.clientY - from.y) * perPixel;
      show();
    };
    const stop = () => {
      removeEventListener('pointermove', move); removeEventListener('pointerup', stop); removeEventListener('pointercancel', stop);
      if (!moved) return;
      const swallow = (c) => { c.preventDefault(); c.stopPropagation(); }; // (a link under the pointer stays closed)
      svg.addEventListener('click', swallow, { capture: true, once: true });
      setTimeout(() => svg.removeEventListener('click', swallow, true), 50);
    };
    addEventListener('pointermove', move); addEventListener('pointerup', stop); addEventListener('pointercancel', stop);
    if (e.target.closest('a')) e.preventDefault(); // (no drag of the link itself)
  }
  show();
  const more = (task.parents || []).length + (task.children || []).length - parents.length - children.length;
  return [svg, more > 0 && h('p', { class: 'sub' }, `and ${whole.format(more)} more`)];
}

// parts.js - addresses, and the parts that pages are made of. A page is a function of its path and query; it returns
// {title, node, tick, leave}. tick is called with each snapshot.
'use strict';

const STATES = ['ready', 'running', 'scheduled', 'blocked', 'parked', 'completed', 'dead', 'cancelled'];
// A part of a path. The browser would take "." and ".." out of it.
const part = (text) => /^\.\.?$/.test(text) ? '~' + text : encodeURIComponent(text);
const queueLink = (name) => '#/queue/' + encodeURIComponent(name);
const tasksLink = (name, filter) => '#/tasks/' + encodeURIComponent(name) + (filter ? '?f=' + encodeURIComponent(filter) : '');
const taskLink = (handle) => { const at = handle.indexOf('/'); return '#/task/' + encodeURIComponent(handle.slice(0, at)) + '/' + encodeURIComponent(handle.slice(at + 1)); };
const queuePath = (name) => 'queues/' + part(name);
const taskPath = (task) => `tasks/${part(task.queue)}/${part(task.id)}`;

// ---- what many pages have ------------------------------------------------------------------------------------------

function td(...content) { return h('td', null, content); }
function num(...content) { return h('td', { class: 'num' }, content); }
function sub(...content) { return h('span', { class: 'sub' }, content); }
function button(attributes, ...content) { return h('button', { type: 'button', ...attributes }, content); }
function heading(title, ...content) { return h('div', { class: 'top' }, h('h1', null, title), content); }
function taskName(handle, text) { return h('a', { class: 'mono', href: taskLink(handle) }, text); }
// Views of a page: [address, text, whether it is this one].
function choice(label, list) { return h('div', { class: 'chips', role: 'group', 'aria-label': label }, list.map(([href, text, on]) => h('a', { href, 'aria-current': on ? 'true' : null }, text))); }
function flush(...content) { return h('section', { class: 'panel flush' }, content); }
function panel(title, ...content) { return h('section', { class: 'panel' }, title && h('h2', null, title), content); }
function empty(title, text, code) { return h('div', { class: 'empty' }, h('strong', null, title), text, code && h('div', null, h('code', null, code))); }
function table(heads, rows) {
  return h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', null,
    h('thead', null, h('tr', null, heads.map((head) => { const [text, kind] = Array.isArray(head) ? head : [head]; return h('th', { scope: 'col', class: kind }, text); }))),
    h('tbody', null, rows)));
}
function pager(offset, size, total, go) {
  return h('div', { class: 'foot' }, `${whole.format(offset + 1)}–${whole.format(Math.min(total, offset + size))} of ${whole.format(total)}`,
    h('div', { class: 'acts' }, button({ disabled: offset === 0, click: () => go(Math.max(0, offset - size)) }, 'Back'),
      button({ disabled: offset + size >= total, click: () => go(offset + size) }, 'More')));
}
function facts(pairs) {
  return h('dl', { class: 'facts' }, pairs.filter((p) => p && p[1] !== null && p[1] !== undefined && p[1] !== '').map(([k, v]) => [h('dt', null, k), h('dd', null, v)]));
}
function tile(label, value, link, bad) {
  return h(link ? 'a' : 'div', { class: bad ? 'tile bad' : 'tile', href: link }, h('div', { class: 'n' }, value), h('div', { class: 'l' }, label));
}
function bar(percent) { const node = h('div'); node.style.width = Math.max(0, Math.min(100, percent)) + '%'; return node; }

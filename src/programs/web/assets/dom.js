// dom.js - elements, texts, numbers and times. Values become text nodes or attributes, never markup.
'use strict';

const SVG = 'http://www.w3.org/2000/svg';

// Characters that reorder what stands beside them are shown as escapes, as the command line does.
function visible(text) { return String(text).replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')); }
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return node;
}
function h(tag, attributes, ...children) { return fill(document.createElement(tag), attributes, children); }
function s(tag, attributes, ...children) { return fill(document.createElementNS(SVG, tag), attributes, children); }
// What had the focus has it again when it is drawn anew; another page (main) begins without.
const nameOf = (x) => x.getAttribute('href') || x.getAttribute('aria-label') || x.textContent;
function put(node, ...children) {
  const focus = document.activeElement, name = focus !== node && node.id !== 'main' && node.contains(focus) && nameOf(focus);
  node.replaceChildren(...children.flat(Infinity).filter((x) => x !== null && x !== undefined && x !== false).map((x) => x instanceof Node ? x : visible(x)));
  const again = name && [...node.querySelectorAll('a, button, [tabindex]')].find((x) => nameOf(x) === name);
  if (again) again.focus({ preventScroll: true });
}

const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
function count(n) { return n >= 100000 ? short.format(n) : whole.format(n); }
function number(n) {
  return h('td', { class: n ? 'num' : 'num zero', title: n >= 100000 ? whole.format(n) : null }, count(n || 0));
}
function rate(n) { return n >= 100 ? count(Math.round(n)) : n >= 10 ? n.toFixed(0) : n > 0 ? n.toFixed(n < 0.1 ? 2 : 1) : '0'; }
function bytes(n) {
  if (n === null || n === undefined || n < 0) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (n >= 1024 && at < 4) { n /= 1024; at++; }
  return (at && n < 100 ? n.toFixed(1) : Math.round(n)) + ' ' + units[at];
}
function span(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1) return (ms * 1000).toFixed(0) + ' µs';
  if (ms < 1000) return (ms < 10 ? ms.toFixed(1).replace(/\.0$/, '') : Math.round(ms)) + ' ms';
  for (const [unit, size, next] of [['s', 1e3, 6e4], ['m', 6e4, 36e5], ['h', 36e5, 864e5], ['d', 864e5, Infinity]])
    if (ms < next) { const n = ms / size; return (n < 10 ? n.toFixed(1).replace(/\.0$/, '') : Math.floor(n)) + '\u00a0' + unit; }
}
let ahead = 0; // Redis's server against this browser
function now() { return Date.now() + ahead; }
function when(ms) { return new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' }); }
function ago(ms) {
  if (ms === null || ms === undefined) return '–';
  const d = now() - ms;
  const text = Math.abs(d) < 1000 ? 'now' : d > 0 ? span(d) + ' ago' : 'in ' + span(-d);
  return h('time', { datetime: new Date(ms).toISOString(), title: when(ms) }, text);
}
// The times of a sentence, which are UTC, in the viewer's zone.
function inZone(text) { return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (t) => when(t)); }
function badge(state) { return h('span', { class: 'badge ' + state }, state); }

// JSON as it is written, indented: numbers keep all their digits.
function pretty(text) {
  const out = [], token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  let depth = 0, match, previous = '';
  try { JSON.parse(text); } catch { return h('pre', null, text); }
  const pad = () => '\n' + '  '.repeat(depth);
  while ((match = token.exec(text)) !== null) {
    const t = match[0];
    const following = text.slice(token.lastIndex).match(/^\s*(.)/)?.[1];
    if (t === '{' || t === '[') { out.push(t); depth++; if (following !== '}' && following !== ']') out.push(pad()); }
    else if (t === '}' || t === ']') { depth--; if (previous !== '{' && previous !== '[') out.push(pad()); out.push(t); }
    else if (t === ',') out.push(',', pad());
    else if (t === ':') out.push(': ');
    else out.push(h('span', { class: t[0] === '"' ? (following === ':' ? 'k' : 's') : 'v' }, t));
    previous = t;
  }
  return h('pre', { class: 'json' }, out);
}

function toast(text, bad) {
  const node = h('div', { class: bad ? 'toast bad' : 'toast' }, text);
  const all = document.getElementById('toasts');
  while (all.children.length > 3) all.firstChild.remove(); // (more would cover the page)
  all.append(node);
  setTimeout(() => node.remove(), bad ? 8000 : 3500);
}

// Also where the clipboard of the browser is not available (without HTTPS).
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea', { readonly: true, 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  toast('Copied');
}
function command(text) {
  return h('div', { class: 'cmd' }, h('code', null, text), h('button', { type: 'button', click: () => copy(text) }, 'Copy'));
}
function quote(text) { return /^[\w.:/=@-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'"; }

// dialog: title, content, [label, class, function] for each button; a function that returns false keeps it open.
function ask(title, content, ...buttons) {
  const dialog = document.getElementById('dialog');
  const acts = buttons.map(([label, kind, act]) =>
    h('button', { type: 'button', class: kind, click: async () => { if (!act || (await act()) !== false) dialog.close(); } }, label));
  put(dialog, h('h2', { id: 'dialog-title' }, title), content, h('div', { class: 'acts' }, acts));
  dialog.setAttribute('aria-labelledby', 'dialog-title');
  dialog.showModal();
}

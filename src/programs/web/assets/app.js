// app.js - calls of the API, the stream of snapshots, pages by the address, keys.
'use strict';

const PAGES = [['overview', 'Overview', '', 'o', overview], ['queues', 'Queues', 'queues', 'q', queues], ['dead', 'Dead', 'dead', 'd', dead], ['batches', 'Batches', 'batches', 'b', batches], ['limits', 'Limits', 'limits', 'l', limits],
  ['workers', 'Workers', 'workers', 'w', workers], ['cron', 'Cron', 'cron', 'c', cron], ['operations', 'Operations', 'operations', 'p', operations], ['health', 'Health', 'health', 'h', health]];
const DEEP = { queue: ['queues', queue], tasks: ['queues', tasks], task: ['queues', task] };
const ROLES = ['nobody', 'viewer', 'operator', 'admin'];
const main = document.getElementById('main');
let session = null, page = null, snapshot = null, source = null, number_ = 0;

function may(role) { return session && !session.read_only && ROLES.indexOf(session.role) >= ROLES.indexOf(role); }

// Tells this page from others of the same machine, so that none keeps another one's counts waiting.
const PAGE = Math.random().toString(36).slice(2);

async function apiText(method, path, body, signal, cache) {
  const headers = { 'X-Reeve-Page': PAGE };
  if (cache) headers['Cache-Control'] = cache;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const answer = await fetch('api/v1/' + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: 'same-origin', signal });
  const text = await answer.text();
  if (answer.ok) return text;
  let fault = {};
  try { fault = JSON.parse(text); } catch { /* a proxy's page */ }
  if (answer.status === 401 && path !== 'login') { session = null; start(); }
  throw Object.assign(new Error(fault.message || `the server answered ${answer.status}`), { code: fault.error });
}
async function api(method, path, body, signal) { return JSON.parse(await apiText(method, path, body, signal)); }

// What a page reads again by itself may be an answer that other viewers share: about so many seconds old, and older when there are many.
async function lookText(path, seconds) { return apiText('GET', path, undefined, undefined, seconds && `max-age=${seconds}, max-stale`); }
async function look(path, seconds) { return JSON.parse(await lookText(path, seconds)); }
// Runs `read` once at a time: with true at a tick; at other times, such as after an action, it reads anew, after one that runs.
function loader(read) {
  let busy = false, due = false;
  return async function load(snapshot) {
    if (busy) { due = due || !snapshot; return; }
    busy = true;
    try {
      await read(!!snapshot);
      while (due) { due = false; await read(false); }
    } finally { busy = false; }
  };
}

// A page that reads anew after so many snapshots, but not while something on it is open.
function renewed(every, read) {
  let turn = 0;
  const load = loader(async (tick) => { turn = 0; await read(tick && every); });
  return { first: () => load(), tick: (s) => ++turn < every || main.querySelector('details[open]') ? null : load(s) };
}

async function act(method, path, words, then) {
  try {
    await api(method, path);
    toast(words);
    if (then) await then();
  } catch (e) { toast(e.message, true); }
}

// ---- the stream ----------------------------------------------------------------------------------------------------

function live(state, text) {
  const node = document.getElementById('live');
  node.className = 'live ' + state;
  put(node, h('b', null, text));
}
function take(text) {
  snapshot = JSON.parse(text);
  ahead = snapshot.at_ms - Date.now();
  live(snapshot.redis.connected ? 'on' : 'off', snapshot.redis.connected ? 'live' : 'Redis is away');
  const r = snapshot.redis;
  put(document.getElementById('foot'), h('span', null, `reeve ${session.version}`), h('span', null, `Redis ${r.version || '–'}, round trip ${span(r.round_trip_us / 1000)}, ${bytes(r.used_bytes)}`),
    h('span', null, `the last snapshot took ${span(snapshot.took_us / 1000)}, for ${snapshot.viewers === 1 ? 'one viewer' : `${snapshot.viewers} viewers together`}`));
  for (const w of snapshot.workers) workerNames.set(w.worker, w.name);
  drawNav(snapshot.bad_count);
  if (page && page.tick && !selecting() && !pressed) Promise.resolve(page.tick(snapshot)).catch(() => {});
}
// What is pressed stays until it is let go: a new one in its place would not be clicked.
let pressed = false;
addEventListener('pointerdown', (e) => { pressed = e.button === 0; }, true);
for (const e of ['pointerup', 'pointercancel']) addEventListener(e, () => setTimeout(() => { pressed = false; }), true);
// Text that is being selected stays.
function selecting() { const chosen = getSelection(); return chosen && !chosen.isCollapsed && main.contains(chosen.anchorNode); }
function listen() {
  if (source || document.hidden || !session || session.role === 'nobody') return;
  source = new EventSource('api/v1/events');
  source.onmessage = (e) => take(e.data);
  source.onerror = () => { live('off', 'reconnecting'); if (source && source.readyState === 2) { source = null; setTimeout(again, 2000); } };
}
// After an answer that is no stream, such as that of a proxy while the server starts, the browser does not connect again.
async function again() {
  if (source || document.hidden || !session) return;
  try { session = await api('GET', 'session'); } catch { setTimeout(again, 2000); return; }
  if (session.role === 'nobody') start();
  else listen();
}
function hush() { if (source) source.close(); source = null; live('', 'paused'); }
document.addEventListener('visibilitychange', () => document.hidden ? hush() : listen());

// ---- pages ---------------------------------------------------------------------------------------------------------

// An address that somebody typed may have an escape that is not valid.
function decoded(text) { try { return decodeURIComponent(text); } catch { return text; } }
let navBad = -1, navAt = '';
function drawNav(bad) {
  const at = page ? page.nav : '';
  if (bad === navBad && at === navAt) return;
  navBad = bad; navAt = at;
  put(document.getElementById('nav'), PAGES.map(([name, label, path]) => h('a', { href: '#/' + path, 'aria-current': name === at ? 'page' : null }, label, name === 'overview' && bad > 0 && h('span', { class: 'count', 'aria-label': `${bad} problems` }, bad))));
  const nav = document.getElementById('nav'), link = nav.querySelector('[aria-current]'); // (on a phone they do not all fit)
  if (link) nav.scrollLeft = link.offsetLeft - nav.offsetLeft - (nav.clientWidth - link.clientWidth) / 2;
}
function route() {
  if (!session) return;
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?'), parts = path.split('/').map(decoded);
  if (parts[0] === 'task' && !parts[2]) parts[0] = 'tasks'; // (the queue alone)
  const found = DEEP[parts[0]] && parts[1] ? DEEP[parts[0]] : (PAGES.find((p) => p[2] === parts[0]) || PAGES[0]).filter((x, i) => i === 0 || i === 4);
  const mine = ++number_;
  page = found[1](parts, new URLSearchParams(query || ''));
  page.nav = found[0];
  document.title = page.title + ' · reeve';
  put(main, page.node);
  at = -1;
  drawNav(Math.max(0, navBad));
  const first = page.first ? page.first() : null;
  if (first) first.catch((e) => { if (mine === number_) main.append(h('div', { class: 'empty' }, h('strong', null, 'This cannot be shown'), e.message)); });
  if (snapshot && page.tick) page.tick(snapshot);
  window.scrollTo(0, 0);
}
addEventListener('hashchange', route);

function login() {
  const user = h('input', { name: 'user', autocomplete: 'username', required: true }), password = h('input', { name: 'password', type: 'password', autocomplete: 'current-password', required: true });
  put(document.getElementById('nav'));
  put(main, h('form', { class: 'panel login', submit: async (e) => {
    e.preventDefault();
    try { await api('POST', 'login', { user: user.value, password: password.value }); start(); } catch (fault) { toast(fault.message, true); password.value = ''; password.focus(); }
  } }, h('h1', null, 'Log in'), h('label', null, 'Name', user), h('label', null, 'Password', password), h('button', { class: 'main' }, 'Log in')));
  user.focus();
}
async function start() {
  hush();
  try { session = await api('GET', 'session'); } catch (e) { put(main, empty('The server cannot be reached', e.message)); setTimeout(start, 2000); return; }
  put(document.getElementById('who'), session.authentication && session.user ? [session.user, ' ', sub(session.role), session.login && h('button', { class: 'plain', type: 'button', click: async () => { await api('POST', 'logout'); session = null; snapshot = null; start(); } }, 'Log out')] : session.read_only ? 'read-only' : '');
  document.getElementById('toasts').replaceChildren(); // (such as that of a wrong password)
  if (session.role === 'nobody') {
    put(document.getElementById('live'));
    if (session.login) login();
    else put(main, empty('This server takes a token', 'Reach it by the proxy that authenticates you.'));
    return;
  }
  navBad = -1;
  route();
  listen();
}

// ---- keys ----------------------------------------------------------------------------------------------------------

const KEYS = [['g then o q d b l w c p h', 'Overview, queues, dead, batches, limits, workers, cron, operations, health'], ['/', 'Go to the filter'], ['j  k', 'Next and previous row'], ['Enter', 'Open the row'], ['x', 'Select the row'], ['r', 'Load the page again'], ['Esc', 'Leave a field, close a dialog'], ['?', 'This list']];
function showKeys() { ask('Keyboard', h('div', { class: 'keys' }, KEYS.map(([k, v]) => [h('span', null, k.split(' ').filter(Boolean).map((x) => x === 'then' ? ' then ' : [h('kbd', null, x), ' '])), h('span', null, v)])), ['Close', 'main']); }
document.getElementById('help').addEventListener('click', showKeys);
document.getElementById('theme').addEventListener('click', () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('theme', root.dataset.theme); } catch { /* private mode */ }
});
try { const theme = localStorage.getItem('theme'); if (theme) document.documentElement.dataset.theme = theme; } catch { /* private mode */ }

let at = -1, went = 0;
function rowsNow() { return [...main.querySelectorAll('tbody tr')]; }
function move(by) {
  const list = rowsNow();
  if (!list.length) return;
  at = Math.max(0, Math.min(list.length - 1, at + by));
  list.forEach((row, i) => row.classList.toggle('at', i === at));
  list[at].scrollIntoView({ block: 'nearest' });
}
addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || document.getElementById('dialog').open || !session || session.role === 'nobody') return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.type !== 'checkbox') return;
  const row = rowsNow()[at];
  if (Date.now() - went < 1500) {
    const to = PAGES.find((p) => p[3] === e.key);
    went = 0;
    if (to) { location.hash = '#/' + to[2]; e.preventDefault(); return; }
  }
  if (e.key === 'g') went = Date.now();
  else if (e.key === '/') { const find = main.querySelector('[data-find]'); if (find) { e.preventDefault(); find.focus(); find.select(); } }
  else if (e.key === 'j') move(1);
  else if (e.key === 'k') move(-1);
  else if (e.key === 'x' && row) { const box = row.querySelector('input[type=checkbox]'); if (box) box.click(); }
  else if (e.key === 'Enter' && row && row.dataset.link && e.target === document.body) location.hash = row.dataset.link;
  else if (e.key === 'r') route();
  else if (e.key === '?') showKeys();
});
main.addEventListener('click', (e) => {
  const row = e.target.closest('tr[data-link]');
  if (row && !e.target.closest('a, button, input') && !selecting()) location.hash = row.dataset.link;
});
// A snapshot draws rows anew: the row that was chosen stays so.
new MutationObserver(() => { const row = rowsNow()[at]; if (row && !row.classList.contains('at')) row.classList.add('at'); }).observe(main, { childList: true, subtree: true });
start();

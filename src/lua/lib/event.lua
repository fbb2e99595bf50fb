-- Events: while settings.in_force contains an "e", each transition adds an entry to the stream `events`: its name, the
-- ids of the tasks, and further fields. A script that has read settings.in_force passes it to know_in_force, so that it
-- is not read again; a script that acts for a session calls act_as.
--
-- requires: base
-- gives: act_as, acting, in_force_of, know_in_force, tell, tell_as, telling, tells

local EVENTS = @EVENTS_DEFAULT@
local telling, actor = {}, {}

local function know_in_force(P, in_force)
  telling[P] = in_force or ''
end

-- Returns settings.in_force, '' if it is absent.
local function in_force_of(P)
  if not telling[P] then know_in_force(P, call('HGET', P .. 'settings', 'in_force')) end
  return telling[P]
end

local function tells(P)
  return find(in_force_of(P), 'e', 1, true)
end

-- From now on transitions are those of a session. running: its hash running:<session>; false: of no session.
local function act_as(running)
  if actor.running ~= running then actor = {running = running} end
end

-- The id of the worker of that session, "" if it is not known; nil if there is no session.
local function acting()
  if not actor.running then return nil end
  if not actor.worker then
    local about = call('HGET', actor.running, '#')
    actor.worker = about and match(about, '"worker":"([^"]*)"') or ''
  end
  return actor.worker
end

-- Adds an event. ids: one id, or a list; `...`: names and values of further fields.
local function tell(P, event, ids, ...)
  if not tells(P) then return end
  local list = type(ids) == 'table'
  if list and #ids == 0 then return end
  local most = call('HGET', P .. 'settings', 'events')
  -- A failure is ignored: no transition fails because the user has no right to XADD, or the key has a wrong type.
  redis.pcall('XADD', P .. 'events', 'MAXLEN', '~', most or EVENTS, '*', 'event', event, 'id',
    list and table.concat(ids, ' ') or ids,
    ...)
end

-- The same, with the session and the worker.
local function tell_as(P, event, ids, ...)
  if not tells(P) then return end
  local worker, said = acting(), {...}
  said[#said + 1], said[#said + 2] = 'session', match(actor.running, ':([^:]*)$')
  if worker ~= '' then said[#said + 1], said[#said + 2] = 'worker', worker end
  tell(P, event, ids, unpack(said))
end

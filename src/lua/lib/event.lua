-- Events: while settings.in_force has an "e", every transition is an entry of the stream `events`: its name, the ids
-- that it happened to, and what there is to say. Whoever has read settings.in_force says so with know_in_force; who
-- acts in a session says so with act_as.
--
-- requires: base
-- gives: act_as, acting, know_in_force, tell, tell_as, telling, tells

local EVENTS = @EVENTS_DEFAULT@
local telling, actor = {}, {}

local function know_in_force(P, in_force)
  telling[P] = in_force and find(in_force, 'e', 1, true) and true or false
end

local function tells(P)
  if telling[P] == nil then know_in_force(P, call('HGET', P .. 'settings', 'in_force')) end
  return telling[P]
end

-- running: the session's hash, or false.
local function act_as(running)
  if actor.running ~= running then actor = {running = running} end
end

-- The id of the worker whose session acts, "" when it is not known; nil when nobody's does.
local function acting()
  if not actor.running then return nil end
  if not actor.worker then
    local about = call('HGET', actor.running, '#')
    actor.worker = about and match(about, '"worker":"([^"]*)"') or ''
  end
  return actor.worker
end

-- ids: one, or a list of them. Then names and values.
local function tell(P, event, ids, ...)
  if not tells(P) then return end
  local list = type(ids) == 'table'
  if list and #ids == 0 then return end
  local most = call('HGET', P .. 'settings', 'events')
  -- An event is a notice: a user without rights to XADD, or a stream of another type, stops no transition.
  redis.pcall('XADD', P .. 'events', 'MAXLEN', '~', most or EVENTS, '*', 'event', event, 'id',
    list and table.concat(ids, ' ') or ids,
    ...)
end

-- The same, of a session that acts.
local function tell_as(P, event, ids, ...)
  if not tells(P) then return end
  local worker, said = acting(), {...}
  said[#said + 1], said[#said + 2] = 'session', match(actor.running, ':([^:]*)$')
  if worker ~= '' then said[#said + 1], said[#said + 2] = 'worker', worker end
  tell(P, event, ids, unpack(said))
end

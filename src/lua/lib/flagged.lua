-- Leasing tasks with marked envelopes: they have failed or crashed, or have other data in info:<id>.
--
-- requires: allowed, base, event, schedule, attempt_info
-- gives: flagged, flagged.off, flagged.weigh
-- fields: put_off, weigh

-- Releases a unique key that the task holds until it is leased for the first time. The lease is written afterwards, so
-- rights that it needs are checked here.
local function start_unlocks(P, id, envelope)
  local at = find(envelope, '"until":"started"', 1, true)
  if at and at < (find(envelope, '\n', 1, true) or 0) then
    local o = header(envelope)
    if o['until'] and call('GET', P .. 'unique:' .. o.unique) == id then
      local refusal = rights_fault(P, 'HSET ZREMRANGEBYRANK')
      if refusal then error({err = refusal}) end
      call('DEL', P .. 'unique:' .. o.unique)
    end
  end
end

-- A task with one crash is leased alone, so that another crash affects no other task of a batch. A task with two or
-- more crashes is a suspect. A session holds at most one suspect at a time, whatever its other threads lease. Its
-- worker runs the suspect alone if it can, and reports that (suspect.lua); a crash in this time counts for the suspect
-- only. Another suspect at the head of the queue is postponed for a second. Tasks with one crash are not postponed: a
-- killed worker leaves many of them, which are to run at once.
--
--   #suspect  in running:<session>: "<id>" when it was leased and has not begun, "<id> alone" or "<id> beside" since it
--             runs, or ""
local flagged = {put_off = @PUT_OFF_MS@}

local function holds_another(running, id)
  local held, how = match(call('HGET', running, '#suspect') or '', '^(%S+) ?(%a*)$')
  return held and how ~= 'beside' and held ~= id and call('HEXISTS', running, held) == 1
end

-- A session whose lease of the task was ended by hand does not lease it again while its outcome may be on its way
-- (lib/revoke.lua).
--
-- Decides whether this marked task may be leased. 'take': yes; 'alone': yes, and no other task with it; 'stop': not in
-- this call, as other tasks come before it; 'off': not by this session, so that it is postponed. When it may, adds its
-- data to extras.
function flagged.weigh(P, running, id, envelope, first, extras)
  local extra = attempt_info(P, id)
  local crashed, suspect, revoked = extra[3] > 0, extra[3] > 1, extra.revoked == running
  if (crashed or revoked) and not first then return 'stop' end
  if revoked or suspect and holds_another(running, id) then return 'off' end
  extras[#extras + 1] = extra
  start_unlocks(P, id, envelope)
  if not crashed then return 'take' end
  if suspect then call('HSET', running, '#suspect', id) end
  return 'alone'
end

-- Postpones a task. At its time it gets its former place again, unless the scores of the queue have begun again since:
-- `epoch` tells.
function flagged.off(P, id, place, now)
  call('HSETNX', P .. 'sequence', 'epoch', text(now) .. ':' .. id)
  call('HSET', P .. 'info:' .. id, 'place', text(place) .. ' ' .. call('HGET', P .. 'sequence', 'epoch'))
  schedule(P, id, now + flagged.put_off)
  tell(P, 'scheduled', id, 'due', text(now + flagged.put_off))
end

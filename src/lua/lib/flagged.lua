-- Leasing tasks that have more to tell (their envelopes are marked).
--
-- requires: allowed, base, event, schedule, attempt_info
-- gives: flagged, flagged.off, flagged.weigh
-- fields: put_off, weigh

-- A unique key that was held until the start is free now. The lease is written afterwards: what would refuse it does so here.
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

-- A task that a crash left behind is leased alone, so that the next crash finds fewer suspects: those that its worker's
-- threads ran. Of tasks that two crashes left behind, or more, a session holds one at a time, whatever its other
-- threads lease; its worker runs that one alone, as far as it can, and says so (suspect.lua): a crash meanwhile is that
-- task's. Another one that comes first is put off for a second. (Not after one crash: a worker that was killed leaves
-- many tasks, which are to run again at once.)
--
--   #suspect  in running:<session>: "<id>" when it was leased and has not begun, "<id> alone" or "<id> beside" since it
--             runs, or ""
local flagged = {put_off = @PUT_OFF_MS@}

local function holds_another(running, id)
  local held, how = match(call('HGET', running, '#suspect') or '', '^(%S+) ?(%a*)$')
  return held and how ~= 'beside' and held ~= id and call('HEXISTS', running, held) == 1
end

-- A session whose lease of the task was ended by hand does not lease it again while its outcome may be on its way (lib/revoke.lua).
--
-- May this marked task be leased? 'stop': not now, it must be alone; 'off': not by this session, put it off; 'alone':
-- yes, and nothing with it; 'take': yes. Adds to extras what it has to tell.
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

-- When its time has come it is to stand where it stood, unless the order has begun again meanwhile: `epoch` goes with it.
function flagged.off(P, id, place, now)
  call('HSETNX', P .. 'sequence', 'epoch', text(now) .. ':' .. id)
  call('HSET', P .. 'info:' .. id, 'place', text(place) .. ' ' .. call('HGET', P .. 'sequence', 'epoch'))
  schedule(P, id, now + flagged.put_off)
  tell(P, 'scheduled', id, 'due', text(now + flagged.put_off))
end

-- The queue's limit of the length of payloads, settings.payload_max, which all producers keep to. Whoever enqueues does
-- not read `settings`: the field `payload_max` of `sequence` is the same, and there is no field `next` while it is set,
-- so that no task comes by the first step of enqueue.lua. The key `payload_limited` exists as long, so that no task is
-- handed over (lib/hand.lua).
--
-- requires: base, sequence
-- gives: switch_payload_limit

-- value: the limit in bytes, as text; "": none.
local function switch_payload_limit(P, value)
  if value == '' then
    call('HDEL', P .. 'sequence', 'payload_max')
    call('UNLINK', P .. 'payload_limited')
  else
    end_next(P)
    call('HSET', P .. 'sequence', 'payload_max', value)
    call('SET', P .. 'payload_limited', '1')
  end
end

-- Records which messages of other queues (outbox.lua) were received, so that each takes effect once, however often and
-- late carriers deliver it.
--
--   received:<queue>  zset  of messages of that queue: their numbers, each with itself as its score; "<number>
--                           <answer>", with the same score, of one that was answered; "U <child> <id>" -> the number of
--                           the last one that took that edge away; `floor` -> the lowest number that its outbox and its
--                           `unread` held when a carrier looked. Expires when none come any more.
--
-- The numbers of the messages of a queue grow (lib/retention.lua). A message leaves `outbox` and `unread` only after it
-- was delivered, or for good if `unread` is too long. So a message with a number below the floor was received before,
-- or is not to be received. The numbers from the floor on are recorded one by one. They are few, unless a message that
-- nobody can deliver stays in the outbox; then the last RECEIVED_MOST numbers are recorded.
--
-- requires: base
-- gives: note_received, was_received

local RECEIVED_MOST, RECEIVED_EXPIRES = @RECEIVED_MAX@, '@RECEIVED_S@'

-- Whether the message was received before. number: text.
local function was_received(P, source, number)
  local known = call('ZMSCORE', P .. 'received:' .. source, 'floor', number)
  return known[1] and tonumber(number) < tonumber(known[1]) or not not known[2]
end

-- Records a message. floor: text, "0" or "" if it is not known. answer: the reply to it, which is repeated if it is
-- delivered again, or nil.
local function note_received(P, source, number, floor, answer)
  local key = P .. 'received:' .. source
  local known = tonumber(call('ZSCORE', key, 'floor')) or 0
  local lowest = math.max(known, math.min(tonumber(floor) or 0, tonumber(number)))
  call('ZADD', key, number, number, text(lowest), 'floor')
  if answer then call('ZADD', key, number, number .. ' ' .. answer) end
  if lowest > known then
    call('ZREMRANGEBYSCORE', key, '-inf', '(' .. text(lowest))
  else
    -- The members to remove begin behind the floor, and behind the message that has this number, and its answer.
    local excess = call('ZCARD', key) - RECEIVED_MOST
    if excess > 0 then
      local first = call('ZCOUNT', key, '-inf', text(lowest))
      call('ZREMRANGEBYRANK', key, text(first), text(first + excess - 1))
    end
  end
  call('EXPIRE', key, RECEIVED_EXPIRES)
end

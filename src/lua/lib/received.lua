-- Messages of other queues (outbox.lua), each of which counts once, however many carriers bring it and however late.
--
--   received:<queue>  zset  of messages of that queue: their numbers, each with itself as its score; "<number>
--                           <answer>", with the same score, of one that was answered; "U <child> <id>" -> the number of
--                           the last one that took that edge away; `floor` -> the lowest number that its outbox and its
--                           `unread` held when a carrier looked. Expires when none come any more.
--
-- The numbers of a queue's messages grow (lib/dependency_edges.lua), and a message leaves these two only after it was
-- carried, or when `unread` has too many, for good. So one below the floor is not to be received: it is not there any
-- more. Those from the floor on are told apart one by one; there are few of them, unless a message stays there because
-- nobody can carry it. Then the last RECEIVED_MOST count.
--
-- requires: base
-- gives: note_received, was_received

local RECEIVED_MOST, RECEIVED_EXPIRES = @RECEIVED_MAX@, '@RECEIVED_S@'

-- number: text; floor: text, "0" or "" when it is not known.
local function was_received(P, source, number)
  local known = call('ZMSCORE', P .. 'received:' .. source, 'floor', number)
  return known[1] and tonumber(number) < tonumber(known[1]) or not not known[2]
end

-- answer: what is to be said of it whenever it comes again, or nil.
local function note_received(P, source, number, floor, answer)
  local key = P .. 'received:' .. source
  local known = tonumber(call('ZSCORE', key, 'floor')) or 0
  local lowest = math.max(known, math.min(tonumber(floor) or 0, tonumber(number)))
  call('ZADD', key, number, number, text(lowest), 'floor')
  if answer then call('ZADD', key, number, number .. ' ' .. answer) end
  if lowest > known then
    call('ZREMRANGEBYSCORE', key, '-inf', '(' .. text(lowest))
  else
    -- Behind the floor and what has that very number: a message and its answer.
    local excess = call('ZCARD', key) - RECEIVED_MOST
    if excess > 0 then
      local first = call('ZCOUNT', key, '-inf', text(lowest))
      call('ZREMRANGEBYRANK', key, text(first), text(first + excess - 1))
    end
  end
  call('EXPIRE', key, RECEIVED_EXPIRES)
end

-- Messages to other queues, in the list `outbox` (outbox.lua), and the handles of tasks, "<queue>/<id>".
--
-- requires: base, retention
-- gives: own_queue, parts, send

local function own_queue(P)
  return match(P, '{(.*)}:$')
end

-- A handle's queue and id.
local function parts(handle)
  return match(handle, '^([^/]+)/(.+)$')
end

-- Returns the message's number.
local function send(P, letter, words)
  local number = serial(P)
  call('RPUSH', P .. 'outbox', letter .. ' ' .. number .. ' ' .. words)
  return number
end

-- Messages to other queues, in the list `outbox` (outbox.lua), and the handles of tasks, "<queue>/<id>".
--
-- requires: base, retention
-- gives: canonical, own_queue, parts, send

local function own_queue(P)
  return match(P, '{(.*)}:$')
end

-- A handle as queues tell it to each other: "mail~0" is another name of the queue mail, of its partition 0.
local function canonical(handle)
  return (string.gsub(handle, '^([^/]*)~0/', '%1/'))
end

-- Returns the queue and the id of a handle; nil if it has none, as a placeholder or a signal.
local function parts(handle)
  return match(string.gsub(handle, '^([^/]*)~0/', '%1/'), '^([^/]+)/(.+)$')
end

-- Adds a message to the outbox. Returns its number.
local function send(P, letter, words)
  local number = serial(P)
  call('RPUSH', P .. 'outbox', letter .. ' ' .. number .. ' ' .. words)
  return number
end

local call, unpack = redis.call, unpack
local byte, sub, find = string.byte, string.sub, string.find

-- A whole number as text. Numbers go to Redis this way: left to itself, Lua prints them as floating point, slowly.
local function text(number)
  return string.format('%d', number)
end

-- The latest time there is: beyond it numbers are not whole any more.
local LATEST = 9007199254740991

-- Redis's own clock, in milliseconds since the epoch: the only clock of the protocol.
local function clock()
  local t = call('TIME')
  return t[1] * 1000 + (t[2] - t[2] % 1000) / 1000
end

-- The options in an envelope's header (its first line).
local function header(envelope)
  return cjson.decode(sub(envelope, 1, find(envelope, '\n', 1, true) - 1))
end

-- An envelope that says "look into info:<id>, too" starts with {"info":1, and any other with {"at":
local INFO = 105 -- 'i'
local function has_info(envelope)
  return byte(envelope, 3) == INFO
end
local function mark_info(P, id, envelope)
  if not has_info(envelope) then
    call('HSET', P .. 'tasks', id, '{"info":1,' .. sub(envelope, 2))
  end
end

-- The packet in which a task came, if it did (lib/packet.lua), whose members of `ready` begin with '+'.
local PACKET = 43
local function packet_of(envelope)
  return string.match(envelope, '^{[%w":,]-"at":%d+,"p":(%d+),')
end

-- A queue that ever held an envelope of this many bytes says so in settings.large; calls that read many envelopes then
-- bound themselves by bytes, too. Costs nothing elsewhere.
local LARGE = 65536

-- include: lib/wake.lua

-- Sends a notice. It cannot fail: a user without rights to the channel (Redis 7 gives a new user none) or to PUBLISH
-- changes tasks all the same, and whoever waits for the notice looks from time to time.
local function publish(channel, message)
  redis.pcall('PUBLISH', channel, message)
end

-- Sends a notice "<verb> <queue> <words>" to all workers.
local function publish_control(P, verb, words)
  local ns, queue = string.match(P, '^(.*):{(.*)}:$')
  if ns then publish(ns .. ':control', verb .. ' ' .. queue .. ' ' .. words) end
end

-- Tells the schedulers of all workers that something of this queue is due at a time they may not know of.
local function announce_due(P, due)
  publish_control(P, 'due', text(due))
end

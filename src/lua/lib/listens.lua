-- Who listens for a session that stands (session), as `listeners`: nil where an access list forbids to ask. A worker
-- listens on a channel of its own, which ends with its process. A session's id begins with its worker's, before a '-'.
-- (A part of functions and scripts, as to make one more function costs as much as the question.)
local seek, cut = string.find, string.sub
local worker = cut(session, 1, (seek(session, '-', 1, true) or 0) - 1)
local channel = cut(P, 1, seek(P, ':{', 1, true)) .. 'alive:' .. worker
local listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)[2]

#!lua flags=no-writes
-- list: a page of the tasks in one state.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the state
-- ARGV[2]  how many to skip
-- ARGV[3]  how many to return, at most 1000
-- ARGV[4]  dead: only those of this kind; "" or absent: of any
-- ARGV[5]  ready: "" or absent, or what the last reply said where it was a text
-- reply    where there are many segments before the page: a text, and the same call is to be sent again with it as
--          ARGV[5]. Else [1] how many there are
--          [2...] each as in show.lua; fewer than asked for, but at least one, when they are large
--
-- Waiting tasks come in the order in which they will run (those of a segment together, lib/segment.lua), ended ones
-- newest first, running ones by session. Sent twice: it only reads.
-- require: base, absent, whole, task_page

local P, state, skip, most = KEYS[1], ARGV[1], whole(ARGV[2], 0, LATEST), whole(ARGV[3], 0, LATEST)
local STATES = ' @STATE_NAMES@ '
if not P or not skip or not most or not find(STATES, ' ' .. state .. ' ', 1, true) or
  (ARGV[4] or '') ~= '' and state ~= 'dead' then
  return redis.error_reply('ERR @NAME@: ARGV[1] to ARGV[3] are a state, how many to skip and how many to return; only dead ones have a kind')
end
return task_page(P, state, skip, most, ARGV[4] or '', ARGV[5] or '')

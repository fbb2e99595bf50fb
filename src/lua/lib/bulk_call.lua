-- What the calls of a bulk operation have in common, whether they change tasks (bulk_update.lua) or count them
-- (bulk_look.lua).
--
-- requires: base, budget, bulk_cursor, filter, whole
-- gives: begin_bulk, visit_page

local STATES, PLACED = ' @STATE_NAMES@ ', ' @PLACED_STATES@ '

-- Checks the arguments and the user's rights. given: the arguments from the state on: state, cursor, how many tasks to
-- look at, kind, type, tag, age in ms, and what lib/filter.lua names. search: ended tasks come newest first, and
-- running ones have their turn, too. Returns the bulk update and tasks to look at; or nil and the script's reply: an
-- error, or `empty` where no task is in that state.
local function begin_bulk(P, given, now, empty, search)
  local filter = filter_of(given, 8)
  local state, cursor, max, age = given[1] or '', given[2] or '-', whole(given[3], 1, INT64), whole(given[7], 0, INT64)
  if not max or not age or not filter or not find(search and STATES or PLACED, ' ' .. state .. ' ', 1, true) or
    cursor ~= '' and not find(cursor, '^%d+ [%d.e+-]+ [%d.einf+-]+ .*$') then
    return nil, redis.error_reply('ERR @NAME@: it takes a state, a cursor, how many tasks to look at, and a filter')
  end
-- require: expect
  local fault = unfit(P)
  if fault then return nil, fault end
  -- Tasks are read here one by one, with all of their headers: Redis needs two to three times as long for each command.
  -- Each takes two at least.
  budget.left = math.floor(budget.left * 2 / 5)
  max = math.min(max, @CALL_MAX@, math.floor(budget.left / 2))
  if call('HGET', P .. 'settings', 'large') then max = math.min(max, 50) end
  local bulk = bulk_of(P, given, now, age, filter, search)
  if not bulk then return nil, empty end
  return bulk, max
end

-- Visits the next members in their order, from the rank `first` on. It stops where is_full() holds, or visit(id, score)
-- returns false: what follows is for the next call. Returns whether the bulk update is at its end.
local function visit_page(bulk, first, max, is_full, visit)
  local page = call(bulk.reversed and 'ZREVRANGE' or 'ZRANGE', bulk.set, first, first + max - 1, 'WITHSCORES')
  for i = 1, #page, 2 do
    local id, score = page[i], tonumber(page[i + 1])
    if score > bulk.limit and not bulk.reversed then return true end
    if bulk.is_late(score) then return bulk.skip_late() end
    if is_full() or visit(id, page[i + 1]) == false then return false end
  end
  return #page < 2 * max
end

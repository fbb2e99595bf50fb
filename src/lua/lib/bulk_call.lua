-- What the calls of a bulk operation have in common, whether they change tasks (bulk_update.lua) or count them (bulk_look.lua).
--
-- requires: base, sweep, whole
-- gives: begin_bulk, visit_page

local STATES = ' blocked ready scheduled parked completed dead cancelled '

-- Checks the arguments and the user's rights. given: the arguments from the state on: state, cursor, how many tasks to look at,
-- kind, type, tag, age in ms. Returns the sweep and how many tasks to look at; or nil and the script's reply: an error, or
-- `empty` where no task is in that state.
local function begin_bulk(P, given, now, empty)
  local state, cursor, max, age = given[1] or '', given[2] or '-', whole(given[3], 1, INT64), whole(given[7], 0, INT64)
  if not max or not age or not find(STATES, ' ' .. state .. ' ', 1, true) or
    cursor ~= '' and not find(cursor, '^%d+ [%d.e+-]+ [%d.einf+-]+ .*$') then
    return nil, redis.error_reply('ERR @NAME@: it takes a state, a cursor, how many tasks to look at, and a filter')
  end
-- require: expect
  local fault = unfit(P)
  if fault then return nil, fault end
  max = math.min(max, @CALL_MAX@)
  if call('HGET', P .. 'settings', 'large') then max = math.min(max, 50) end
  local sweep = sweep_of(P, given, now, age)
  if not sweep then return nil, empty end
  return sweep, max
end

-- Visits the next members in their order, from the rank `first` on. It stops where is_full() holds, or visit(id, score) returns
-- false: what follows is for the next call. Returns whether the sweep is at its end.
local function visit_page(sweep, first, max, is_full, visit)
  local page = call('ZRANGE', sweep.set, first, first + max - 1, 'WITHSCORES')
  for i = 1, #page, 2 do
    local id, score = page[i], tonumber(page[i + 1])
    if score > sweep.limit then return true end
    if sweep.is_late(score) then return sweep.skip_late() end
    if is_full() or visit(id, page[i + 1]) == false then return false end
  end
  return #page < 2 * max
end

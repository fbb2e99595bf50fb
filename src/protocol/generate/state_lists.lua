-- Lists of states that scripts take from the definition: texts of Lua by the name that stands between @ and @ in a script.
--   @STATE_SETS@      the sorted sets of the states that users see, in the order in which a task is looked for
--   @WAITING_SETS@    those in which a task waits, in that order
--   @ENDED_SETS@      those in which a task has ended; @RETAINED_SETS@: and those that users see as another state
--   @COUNTED_SETS@    all but `ready`, which may have segments
--   @SHOWN_STATES@    the states that users see, in the order of the definition
--   @STATE_NAMES@     their names, separated by blanks; @PLACED_STATES@: without `running`
--   @WAITING_STATES@  state = true, ... of those in which a task waits; @ENDED_STATES@: in which it has ended
local states = require('states')

-- The keys of states that are chosen, as a list of texts.
local function sets(is_chosen)
  local chosen, list = {}, {}
  for _, row in ipairs(states) do
    if row.rank and is_chosen(row) then chosen[#chosen + 1] = row end
  end
  table.sort(chosen, function(a, b) return a.rank < b.rank end)
  for i, row in ipairs(chosen) do list[i] = "'" .. row.key .. "'" end
  return table.concat(list, ', ')
end

-- Those of the states that users see, running not among them, as fields of a table.
local function fields(is_ended)
  local list = {}
  for _, row in ipairs(states) do
    if row.rank and not row.shown and (row.ended or false) == is_ended then list[#list + 1] = row.name .. ' = true' end
  end
  return table.concat(list, ', ')
end

-- The names of states that users see, each as `format` has it.
local function names(format, separator, has_running)
  local list = {}
  for _, row in ipairs(states) do
    if not row.shown and (has_running or row.rank) then list[#list + 1] = format:format(row.name) end
  end
  return table.concat(list, separator)
end

return function()
  return {
    SHOWN_STATES = names("'%s'", ', ', true),
    STATE_NAMES = names('%s', ' ', true),
    PLACED_STATES = names('%s', ' ', false),
    STATE_SETS = sets(function(row) return not row.shown end),
    WAITING_SETS = sets(function(row) return not row.ended end),
    WAITING_STATES = fields(false),
    ENDED_STATES = fields(true),
    ENDED_SETS = sets(function(row) return row.ended and not row.shown end),
    RETAINED_SETS = sets(function(row) return row.ended end),
    COUNTED_SETS = sets(function(row) return row.name ~= 'ready' end),
  }
end

-- The budget of a call: a number of commands, so that one call does not block Redis for long. A command takes about 2
-- us, together with the Lua code around it. When the budget is used up, the call leaves the rest of its work to the
-- next call.
--
-- In a script with this module, `call` counts commands, and long replies more; `header` counts by the length of the
-- header, because Lua copies it. A script that needs many commands for each task checks the budget after each task
-- (budget.is_over). A command with many arguments counts as one, so the script subtracts its cost from budget.left
-- itself. Scripts that are called often, such as turn.lua, do not use this module.
--
-- requires: base
-- gives: budget, budget.left, budget.room, budget.is_over, budget.fit
-- replaces: call, header

local budget = {left = 800}
do
  local run, decode = call, header
  call = function(...)
    local reply = run(...)
    budget.left = budget.left - 1 - (type(reply) == 'string' and math.floor(#reply / 512) or 0)
    return reply
  end
  header = function(envelope, id)
    budget.left = budget.left - 1 - math.floor((find(envelope, '\n', 1, true) or 0) / 48)
    return decode(envelope, id)
  end
end

-- Whether the call has to stop after `count` tasks, because the budget is used up. A call handles at least 10 tasks,
-- unless they are large or have many tags.
function budget.is_over(count)
  return budget.left <= (count < 10 and -200 or 0)
end

-- For queues with large envelopes: returns how many of the first ids to read with one command, at least one, and
-- subtracts the cost of their bytes from the budget.
function budget.fit(P, ids)
  for i, id in ipairs(ids) do
    local cost = math.floor(call('HSTRLEN', P .. 'tasks', id) / 512)
    if i > 1 and budget.left < cost then return i - 1 end
    budget.left = budget.left - cost
  end
  return #ids
end

-- The number of tasks that the budget allows if each takes `cost` commands. It is at least `least`, so that each kind
-- of work goes on even if the others use up the budget, and at most `most`.
function budget.room(cost, least, most)
  return max(min(least, most), min(most, math.floor(budget.left / cost)))
end

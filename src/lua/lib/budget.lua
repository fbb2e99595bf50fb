-- What a call does at most before it leaves the rest to the next one, so that Redis soon serves others: so many
-- commands, which with what Lua does around them take Redis some 2 us each. From here on `call` counts them: a script
-- that has much to do for each of its tasks looks between two of them whether any are left; what works on many at once
-- (one command with many arguments) takes off budget.left what that is worth. A header that is decoded counts by its
-- length, and an envelope by its own: Lua copies it, once or several times. (No script of a hot path has this.)
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

-- Whether the budget is used up by so many tasks. At least 10 have their turn, unless they are large or have many tags.
function budget.is_over(count)
  return budget.left <= (count < 10 and -200 or 0)
end

-- How many of the first ids to read at once where envelopes may be large, at least one; for their bytes budget.left
-- goes down.
function budget.fit(P, ids)
  for i, id in ipairs(ids) do
    local cost = math.floor(call('HSTRLEN', P .. 'tasks', id) / 512)
    if i > 1 and budget.left < cost then return i - 1 end
    budget.left = budget.left - cost
  end
  return #ids
end

-- How many tasks there is room for, of so many commands each: at least `least`, so that each kind of work goes on
-- however much there is of the others.
function budget.room(cost, least, most)
  return max(min(least, most), min(most, math.floor(budget.left / cost)))
end

-- What a call does at most before it leaves the rest to the next one, so that Redis soon serves others: so many commands,
-- which with what Lua does around them take Redis some 2 us each. From here on `call` counts them: a script that has much
-- to do for each of its tasks looks between two of them whether any are left; what works on many at once (one command with
-- many arguments) takes off budget.left what that is worth. A header that is decoded counts by its length. (No script of a hot path has this.)
--
-- requires: base
-- gives: budget, budget.left, budget.room
-- replaces: call, header

local budget = {left = 800}
do
  local run, decode = call, header
  call = function(...)
    budget.left = budget.left - 1
    return run(...)
  end
  header = function(envelope, id)
    budget.left = budget.left - 1 - math.floor((find(envelope, '\n', 1, true) or 0) / 48)
    return decode(envelope, id)
  end
end

-- How many tasks there is room for, of so many commands each: at least `least`, so that each kind of work goes on however
-- much there is of the others.
function budget.room(cost, least, most)
  return max(min(least, most), min(most, math.floor(budget.left / cost)))
end

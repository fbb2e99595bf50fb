# st_lua_inline.sh - what expands the steps of scripts (src/protocol/generate/inline.lua) does not change what a script does, and
# refuses steps and calls that it cannot expand.
. "$(dirname "$0")/lib.sh"

EMBED="${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}/src/protocol/generate/embed.lua"
LUA=$(command -v lua5.1 || command -v lua || command -v luajit) || fail "there is no Lua"
mkdir -p "$TEST_DIR/lua/lib"

# script: its text is the input. module NAME: likewise.
script() { cat >"$TEST_DIR/lua/script.lua"; }
module() { cat >"$TEST_DIR/lua/lib/$1.lua"; }
# put_together: what the tool says of the script.
put_together() { "$LUA" "$EMBED" "$TEST_DIR/lua/script.lua" "$TEST_DIR/script.lua" 2>&1 | sed "s:$TEST_DIR/lua/::g"; }
# expect_refused WORDS
expect_refused() { expect_eq "$(put_together)" "embed: $1"; }
# say FILE: what it writes with redis.log.
say() { "$LUA" -e "redis = {log = print, call = function(...) print('call', ...) return ... end} dofile('$1')" 2>&1; }
# expect_same [COUNT]: the script does what it does without the marks; COUNT functions are left in it.
expect_same() {
    expect_eq "$(put_together)" ""
    sed -e 's/ -- inline.*$//' "$TEST_DIR/lua/script.lua" >"$TEST_DIR/plain.lua"
    expect_eq "$(say "$TEST_DIR/script.lua")" "$(say "$TEST_DIR/plain.lua")"
    expect_eq "$(grep -c 'function' "$TEST_DIR/script.lua")" "${1:-0}"
}

# Results, also of an early return; arguments that are names, constants and calls, or left out.
script <<'END'
local log = redis.log
-- The larger one first.
local function ordered(a, b) -- inline
  -- Both are there.
  if not b then return a end
  if a < b then
    return b, a
  end
  return a, b
end
local x, y = ordered(1, 2)
log(x, y)
x, y = ordered(x, y)
log(x, y)
x = ordered(redis.call(5), 9)
log(x)
local b = ordered(y)
ordered(1, redis.call(2))
for i = 1, 3 do
  local a, other = ordered(i, b)
  log(a, other)
  if i == 2 then ordered(x, y) else x = ordered(i, x) end
end
log(x, y, b)
END
expect_same
expect_eq "$(grep -c 'The larger one' "$TEST_DIR/script.lua")" 0
expect_eq "$(grep -c 'Both are there' "$TEST_DIR/script.lua")" 8

# A parameter that the step assigns does not change the caller's variable; the step's names do not hide the caller's.
script <<'END'
local log, n, found = redis.log, 3, 'outer'
local function factorial(n) -- inline
  local found = 1
  while n > 1 do
    found = found * n
    n = n - 1
  end
  return found
end
local m = factorial(n)
log(m, n, found)
local result = {factor = 2}
result.factor = n
local function described(text, size) -- inline
  local found = #text + size
  return text .. ':' .. size, text:upper(), found, found
end
local a, c, d = described('abc', 1)
log(a, c, d, found)
a, found = described(found, n)
log(a, found)
END
expect_same

# An argument that is more than a name stands where it is used, if it is used once, and nothing is called or decided before.
script <<'END'
local log, call = redis.log, redis.call
local function pair(a) return a, a + 1 end
local function once(key, value) -- inline
  log('once', key .. ':', value)
end
local function last(value) -- inline
  log('last', value)
end
local function behind(value) -- inline
  log(call('behind'), value)
end
local function twice(value) -- inline
  log(value, value)
end
local function in_loop(limit) -- inline
  local n = 0
  while n < math.min(limit, 3) do n = n + 1 end
  log(n)
end
local function if_wanted(wanted, value) -- inline
  log(wanted and tostring(value))
end
local function joined(value) -- inline
  log(tostring(value) .. '!')
end
local value = 'outer'
once('k', #value + 1)
once(value .. value, (call(2)))
once(tostring(1), tostring(2))
last(pair(7))
last({value} and value)
behind(call('first'))
twice(call('x'))
in_loop(call(2))
if_wanted(false, call('y'))
joined(pair(8))
log(value)
END
expect_same 1
expect_eq "$(grep -c 'local [a-z]*_*2* = call(' "$TEST_DIR/script.lua")" 4

# A step of a step; a step that is returned, with a return in a loop; in a function.
script <<'END'
local log = redis.log
local function twice(n) -- inline
  local double = 2 * n
  return double
end
local function first_over(list, limit) -- inline
  local double = twice(limit)
  for _, n in ipairs(list) do
    if n > double then return n, double end
  end
end
local function search(limit)
  if limit == 0 then return end
  return first_over({1, 5, 9}, limit)
end
log(search(2))
log(search(0))
log(search(5))
local function nothing() -- inline
  log('nothing')
end
local x = 1
x = nothing()
log(x)
END
expect_same 1

# A step that is a function in functions.
script <<'END'
local log, calls = redis.log, 0
-- Adds.
local function add(a, b) -- inline, else a function
  if not b then return a end
  return a + b
end
local function rare(what)
  local function inside() return add(what, 2) end
  return add(inside(), add(1)) + calls
end
local sum = add(1, 2)
log(sum, rare(4))
END
expect_same 3
expect_eq "$(sed -n '/function rare/,$p' "$TEST_DIR/script.lua" | grep -c 'function add')" 1

# A module's step, which uses what the module hides.
module steps <<'END'
-- gives: counted, plain

local hidden = 100

-- Counts.
local function counted(n) -- inline
  return n + hidden
end

local function plain(n) return n end
END
script <<'END'
-- require: steps
local n = counted(1)
redis.log(n, plain(1))
END
expect_eq "$(put_together)" ""
expect_eq "$(say "$TEST_DIR/script.lua")" "101	1"

# What is refused.
script <<'END'
local function step(n) -- inline
  return n + 1
end
redis.log(step(1))
END
expect_refused "script.lua:4: step is inline: a call of it must be a statement, or all that is assigned or returned"

script <<'END'
local function step(n) -- inline
  return n + 1
end
local n = step(1) + 1
END
expect_refused "script.lua:4: step is inline: a call of it must be a statement, or all that is assigned or returned"

script <<'END'
local function step(n) -- inline
  return n + 1
end
local t = {}
t.n = step(1)
END
expect_refused "script.lua:5: step is inline: a call of it must be a statement, or all that is assigned or returned"

script <<'END'
local function step(list) -- inline
  for _, n in ipairs(list) do
    if n then return n end
  end
end
local n = step({})
END
expect_refused "script.lua:3: step is inline: it must not return in a loop"

script <<'END'
local function step(...) -- inline
  return select(1, ...)
end
step()
END
expect_refused 'script.lua:1: step is inline: it must not have "..."'

script <<'END'
local function step(list) -- inline
  table.sort(list, function(a, b) return a < b end)
end
step({})
END
expect_refused "script.lua:2: step is inline: it must not make a function"

script <<'END'
local function step(n) -- inline
  return step(n - 1)
end
step(1)
END
expect_refused "script.lua:2: step is inline: it must not call itself"

script <<'END'
local count = 0
local function step() -- inline
  count = count + 1
end
step()
END
expect_refused "script.lua:3: step is inline: it must not set count, which is not its own"

script <<'END'
local function step(n) -- inline
  return n
end
step(1, 2)
END
expect_refused "script.lua:4: step is inline: it is given too many arguments"

script <<'END'
local function step(a, b) -- inline
  return a, b
end
step(redis.call(1))
END
expect_refused "script.lua:4: step is inline: it is given fewer arguments than it has, and the last one may be several"

script <<'END'
local limit = 1
local function step(n) -- inline
  return n + limit
end
do
  local limit = 2
  step(limit)
end
END
expect_refused "script.lua:7: step is inline, and uses limit, which is another name at this call"

script <<'END'
local function step(n) -- inline
  return n + 1
end
local n = 1
do
  local n = step(n)
end
END
expect_refused "script.lua:6: step is inline: the call declares n, which its arguments use"

script <<'END'
local limit = 1
local function step(n) -- inline, else a function
  return n + limit
end
local function rare(limit) return step(limit) end
rare(1)
END
expect_refused "script.lua:5: step is inline, and uses limit, which is another name in rare"

printf -- '-- gives: counted\n\nlocal function counted(n) -- inline\n  return n + own\nend\n' | module steps
printf -- 'local own = 1\n-- require: steps\ncounted(own)\n' | script
expect_refused "lib/steps.lua:4: uses own, a local name of the script script"

# st_lua_unused.sh - the build leaves out of a script what it does not use (src/protocol/generate/unused.lua), nothing that it
# uses, and writes small constants out (literal.lua).
. "$(dirname "$0")/lib.sh"

EMBED="${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}/src/protocol/generate/embed.lua"
LUA=$(command -v lua5.1 || command -v lua || command -v luajit) || fail "there is no Lua"
mkdir -p "$TEST_DIR/lua/lib"

# expect_left: what is left of the script, whose text is the first part of the input; the second part, behind "----".
expect_left() {
    sed "/^----$/,\$d;w $TEST_DIR/lua/script.lua" >"$TEST_DIR/lua/rest" <<<"$1"
    "$LUA" "$EMBED" "$TEST_DIR/lua/script.lua" "$TEST_DIR/script.lua" || fail "embed fails"
    # (Short statements share lines.)
    expect_eq "$(tr '\n' ' ' <"$TEST_DIR/script.lua")" "$(sed '1,/^----$/d' <<<"$1" | tr '\n' ' ')"
}

expect_left "local call, find, sub = redis.call, string.find, string.sub
-- Is used by what is not used.
local function first(a) return a end
-- Is not used.
local function second(a)
  return first(sub(a, 1))
end
local function third(a) return find(a, '.') end
third(call, third(call))
----
local call, find = redis.call, string.find
local function third(a) return find(a, '.') end
third(call, third(call))"

# Functions that call each other; a function that is declared before it is defined.
expect_left "local later, other, value
local function one() return later() end
function later() return one() end
local function two() return other() end
function other() return 1 end
value = two() + two()
return value
----
local other, value
local function two() return other() end
function other() return 1 end
value = two() + two()
return value"

# Fields of a table are used one by one, or all where the table is used by itself.
expect_left "local list, whole = {}, {}
function list.add() return list.size() end
function list.size() return 1 end
function list.drop() return 2 end
function whole.one() return 1 end
redis.call(whole)
return list.add()
----
local list, whole = {}, {}
function list.add() return list.size() end
function list.size() return 1 end
function whole.one() return 1 end
redis.call(whole)
return list.add()"

# A value that calls something stays, as does a name that is assigned.
expect_left "local made = redis.call('TIME')
local count, names = 1, {'a', n = {1, 2}}
local gone = {1, made.x, {}}
count = 2
----
local made = redis.call('TIME')
local count = 1
count = 2"

# Small constants are written where they are used.
expect_left "local PAUSED, IN_FORCE = 5, 6
local LONG, name, SET = 123456, 7, 8
SET = 9
local list = redis.call('HMGET', LONG, name)
return list[IN_FORCE] .. PAUSED .. SET
----
local LONG, name, SET = 123456, 7, 8
SET = 9
local list = redis.call('HMGET', LONG, name)
return list[6] .. 5 .. SET"

# st_lua_modules.sh - what puts the scripts together (src/protocol/generate/modules.lua) refuses modules that do not fit, and says
# where.
. "$(dirname "$0")/lib.sh"

EMBED="${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}/src/protocol/generate/embed.lua"
LUA=$(command -v lua5.1 || command -v lua || command -v luajit) || fail "there is no Lua"

# module NAME: its text is the input.
module() { cat >"$TEST_DIR/lua/lib/$1.lua"; }

# begin_case: two modules and a script that fit.
begin_case() {
    rm -rf "$TEST_DIR/lua"
    mkdir -p "$TEST_DIR/lua/lib"
    printf -- '-- gives: one\n\nlocal hidden = 1\nlocal function one() return hidden end\n' | module first
    printf -- '-- requires: first\n-- gives: two, list, list.add\n\nlocal list = {}\nfunction list.add() return one(), one() end\nlocal function two() return list end\n' |
        module second
    printf -- '-- require: second\nreturn two()\n' >"$TEST_DIR/lua/script.lua"
}

# put_together: what the tool says of the script.
put_together() { "$LUA" "$EMBED" "$TEST_DIR/lua/script.lua" "$TEST_DIR/script.lua" 2>&1 | sed "s:$TEST_DIR/lua/::g"; }

# expect_refused WORDS
expect_refused() { expect_eq "$(put_together)" "embed: $1"; }

begin_case
expect_eq "$(put_together)" ""
expect_eq "$(cat "$TEST_DIR/script.lua" | grep -c 'local function one')" 1
printf -- '-- require: second\n-- require: first\ndo\n-- require: second\nend\nreturn two() + one()\n' >"$TEST_DIR/lua/script.lua"
expect_eq "$(put_together)" ""
expect_eq "$(cat "$TEST_DIR/script.lua" | grep -c 'local function one')" 1

# Declared fields have short names where they are sent, but for those that are also a text. The installed file keeps them.
begin_case
printf -- '-- gives: make\n-- fields: of_this, of_text\n\nlocal function make() return {of_this = 1, of_text = 2, other = 3} end\n' | module first
printf -- "-- require: first\nlocal o = make()\nreturn o.of_this + o.of_text + o['of_text'] + o.other + string.len('')\n" \
    >"$TEST_DIR/lua/script.lua"
"$LUA" "$EMBED" "$TEST_DIR/lua/script.lua" "$TEST_DIR/script.lua" "$TEST_DIR/script.c" || fail "declared fields are refused"
"$LUA" - "$TEST_DIR/script.c" >"$TEST_DIR/sent" <<'END'
local source = io.open(arg[1]):read('*a'):match('text%[%] = {(.-)\n0};')
for code in source:gmatch('%d+') do io.write(string.char(code)) end
END
expect_eq "$(grep -c 'of_this' "$TEST_DIR/sent")" 0
expect_eq "$(grep -o 'of_text\|other\|string.len' "$TEST_DIR/sent" | sort | uniq -c | xargs)" "3 of_text 2 other 1 string.len"
expect_eq "$(grep -o 'of_this' "$TEST_DIR/script.lua" | wc -l)" 2
expect_eq "$(grep -c 'fields:' "$TEST_DIR/script.lua")" 0
expect_eq "$("$LUA" -e "print(dofile('$TEST_DIR/sent'))" 2>&1)" "8"

begin_case
printf -- '-- require: third\n' >"$TEST_DIR/lua/script.lua"
expect_refused "script.lua:1: requires third, and there is no such module in lib"

begin_case
printf -- '-- requires: second\n-- gives: one\n\nlocal function one() return two() end\n' | module first
expect_refused "lib/first.lua: requires second, which requires it, in a circle"

begin_case
printf -- '-- gives: one, other\n\nlocal function one() end\n' | module first
expect_refused "lib/first.lua: gives other, but does not define it"

begin_case
printf -- 'local function one() end\n' | module first
expect_refused "lib/first.lua: the module does not say what it gives"

begin_case
printf -- '-- requires: first\n-- gives: two\n\nlocal hidden\nlocal function two() return one() end\n' | module second
expect_refused "lib/second.lua:4: defines hidden, as does lib/first.lua, which script has, too"

begin_case
printf -- '-- require: second\nreturn three()\n' >"$TEST_DIR/lua/script.lua"
expect_refused "script.lua:2: uses three, which is neither local nor given by a module that it requires"

begin_case
printf -- '-- require: second\nreturn one()\n' >"$TEST_DIR/lua/script.lua"
expect_refused "script.lua:2: uses one of the module first, which it does not require"

begin_case
printf -- '-- require: first\nreturn hidden\n' >"$TEST_DIR/lua/script.lua"
expect_refused "script.lua:2: uses hidden, which the module first does not give"

begin_case
printf -- '-- require: first\none = 2\n' >"$TEST_DIR/lua/script.lua"
expect_refused "script.lua:2: sets one of the module first"

begin_case
printf -- '-- requires: first\n-- gives: two\n\nlocal function two() end\n' | module second
expect_refused "lib/second.lua: requires first, of which it uses nothing"

begin_case
printf -- 'local now = 1\n-- require: first\nreturn one()\n' >"$TEST_DIR/lua/script.lua"
printf -- '-- gives: one\n\nlocal function one() return now end\n' | module first
expect_refused "lib/first.lua:3: uses now, a local name of the script script"

begin_case
printf -- 'do\n-- require: first\n  one()\nend\n-- require: first\nreturn one()\n' >"$TEST_DIR/lua/script.lua"
expect_refused "script.lua:5: requires first, which script has in a block that has ended: require it before both"

begin_case
printf -- '-- require: second\nreturn list.take()\n' >"$TEST_DIR/lua/script.lua"
expect_refused "script.lua:2: uses list.take, which no module of the script script gives"

begin_case
printf -- '-- require: second\nreturn two(\n' >"$TEST_DIR/lua/script.lua"
put_together | grep -q '^embed: script.lua' || fail "a fault of grammar is not refused: $(put_together)"

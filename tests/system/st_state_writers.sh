# st_state_writers.sh - a task changes its state in one module: no other file writes the key of a state, but for those named here.
. "$(dirname "$0")/lib.sh"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"

# writers DIR: "<file> <key>" for each command of the scripts in DIR that writes the key of a state. The keys are those of
# definition/states.lua. "<state>": the script chooses the key. Fields of a session's hash that begin with '#' are no tasks.
writers() {
    (cd "$REEVE_SOURCE/src/protocol/definition" && lua5.1 - "$1" "$REEVE_SOURCE/src/protocol/generate") <<'END'
package.path = arg[2] .. '/?.lua;./?.lua'
local names = require('lua_names')
local keys, found = {}, {}
for _, row in ipairs(require('states')) do keys[row.key:match('^[^<]+')] = true end
keys['lost:'] = true
local RUNNING = {running = true, lost = true, lost_key = true}
local WRITES = {}
for name in ('ZADD ZREM ZINCRBY ZPOPMIN ZPOPMAX ZREMRANGEBYRANK ZREMRANGEBYSCORE HSET HSETNX HDEL RENAME DEL UNLINK'):gmatch('%S+') do
  WRITES["'" .. name .. "'"] = true
end

local function look(path, name)
  local file = assert(io.open(path))
  local tokens = {}
  names.each_token(file:read('*a'), function(kind, text)
    if kind ~= 'comment' then tokens[#tokens + 1] = {kind = kind, text = text} end
  end)
  file:close()
  local function text_at(i) return tokens[i] and tokens[i].text or '' end
  for i in ipairs(tokens) do
    local calls = (text_at(i) == 'call' or text_at(i) == 'pcall' or text_at(i) == 'run') and text_at(i + 1) == '(' and WRITES[text_at(i + 2)]
    if calls and RUNNING[text_at(i + 4)] and not text_at(i + 6):find("^'#") then found[name .. ' running:'] = true end
    if calls and text_at(i + 4) == 'P' and text_at(i + 5) == '..' then
      local key = text_at(i + 6):match("^'(.*)'$")
      if key and keys[key] then found[name .. ' ' .. key] = true end
      if not key and text_at(i + 7) ~= '..' then found[name .. ' <state>'] = true end
    end
  end
end

local listing = io.popen("cd '" .. arg[1] .. "' && ls *.lua lib/*.lua")
for name in listing:lines() do look(arg[1] .. '/' .. name, name:match('^(.*)%.lua$')) end
local list = {}
for line in pairs(found) do list[#list + 1] = line end
table.sort(list)
print(table.concat(list, '\n'))
END
}

# Beside lib/transitions, and lib/transitions_plain with the plain forms for the hot path: commands whose key is chosen, but is that
# of no state.
cat >"$TEST_DIR/allowed" <<'END'
forget <state>
lib/fan_out <state>
lib/forget_past <state>
lib/limit_state <state>
lib/repair_segments <state>
settings <state>
END
writers "$REEVE_SOURCE/src/lua" | grep -vE '^lib/transitions(_plain)? ' >"$TEST_DIR/found"
diff "$TEST_DIR/allowed" "$TEST_DIR/found" || fail "write keys of states in lib/transitions.lua and lib/transitions_plain.lua only"

# Each state that a task can enter has its writer there.
for key in blocked scheduled ready parked running: completed dead cancelled retained; do
    writers "$REEVE_SOURCE/src/lua" | grep -qE "^lib/transitions ($key|<state>)\$" || fail "no transition writes $key"
done

# A new writer is found.
mkdir -p "$TEST_DIR/lua/lib"
echo "call('ZADD', P .. 'dead', '0', id)" >"$TEST_DIR/lua/new.lua"
echo "redis.pcall('HDEL', running, id) call('HSET', running, '#flushed', '1')" >"$TEST_DIR/lua/lib/other.lua"
echo "call('ZREM', P .. set, id) call('ZREM', P .. 'deadlines', id)" >"$TEST_DIR/lua/lib/third.lua"
expect_eq "$(writers "$TEST_DIR/lua")" "lib/other running:
lib/third <state>
new dead"

# st_lua_names.sh - every script, with its modules put in, uses only names that are known where they are used: those of a
# module that was left out, or comes too late, would be met only when that line runs.
. "$(dirname "$0")/lib.sh"

KNOWN="KEYS ARGV redis cjson string math table ipairs pairs next tonumber tostring type unpack select pcall error"

# unknown SCRIPT...: "SCRIPT: name" for each global name in them that is not known, or is set.
unknown() {
    luac5.1 -p -l "$@" >"$TEST_DIR/listing" || fail "a script does not compile"
    awk -v known="$KNOWN" '
        BEGIN { n = split(known, word, " "); for (i = 1; i <= n; i++) is_known[word[i]] = 1 }
        /^(main|function) </ { script = $2; sub(/^</, "", script); sub(/:[0-9]+,[0-9]+>$/, "", script); sub(/.*\//, "", script) }
        $3 == "GETGLOBAL" && !($NF in is_known) { found[script ": " $NF] }
        $3 == "SETGLOBAL" { found[script ": " $NF ($NF in is_known ? " (set)" : "")] }
        END { for (line in found) print line }' "$TEST_DIR/listing" | sort
}

# The scripts as they are installed. The build directory may hold older ones that are none any more.
SCRIPTS=() INSTALLED=() SENT=()
mkdir "$TEST_DIR/installed" "$TEST_DIR/sent"
for script in "$(dirname "$0")"/../../src/lua/*.lua; do
    name=${script##*/}
    SCRIPTS+=("$REEVE_BUILD/src/lua/$name")
    INSTALLED+=("$TEST_DIR/installed/$name") SENT+=("$TEST_DIR/sent/$name")
done
awk -v to="$TEST_DIR/installed/" '
    FNR == 1 { if (file) close(file); file = FILENAME; sub(/.*\//, to, file); sub(/^#!.*/, "") }
    { print > file }' "${SCRIPTS[@]}"
expect_eq "$(unknown "${INSTALLED[@]}")" "" "names that are not known"
# (What it looks for is found.)
echo 'local known = 1; unheard_of(known); pcall = known' >"$TEST_DIR/bad.lua"
expect_eq "$(unknown "$TEST_DIR/bad.lua" "${INSTALLED[0]}")" $'bad.lua: pcall (set)\nbad.lua: unheard_of'

# Whoever begins a session may run each command that any script calls (lib/rights.lua). TIME needs no right to a key.
needed=$(sed -n '/^local COMMANDS/,$p' "$(dirname "$0")/../../src/lua/lib/rights.lua" | tr -cs 'A-Z' '\n' |
    grep -E '^[A-Z]{3,}$' | grep -v '^COMMANDS$' | sort -u)
called=$(grep -ohE "[^p]call\(('[A-Z]+'|[a-z_]+ and '[A-Z]+' or '[A-Z]+')" "${SCRIPTS[@]}" | grep -oE "'[A-Z]+'" | tr -d "'" |
    grep -v '^TIME$' | sort -u)
expect_eq "$needed" "$called"

# What the build puts into the texts is there.
expect_eq "$(grep -l '@[A-Z_]*@' "${SCRIPTS[@]}")" ""

# What is sent to Redis is the installed script, but for comments, blanks, names of variables and of declared fields: it compiles to
# the same code, and each name in it stands for one name.
cat >"$TEST_DIR/sent.lua" <<'END'
local to = arg[1]
for i = 2, #arg do
  local source = io.open(arg[i]):read('*a'):match('text%[%] = {(.-)\n0};')
  local text = source:gsub('%s', ''):gsub('(%d+),?', function(code) return string.char(code) end)
  io.open(to .. '/' .. arg[i]:match('([^/]+)%.c$') .. '.lua', 'w'):write((text:gsub('^#![^\n]*', '', 1)))
end
END
"$(lua)" "$TEST_DIR/sent.lua" "$TEST_DIR/sent" "${SCRIPTS[@]/%.lua/.c}" || fail "what is sent cannot be read"

# listing SCRIPT...: the instructions of scripts, and their constants in their order, without names of variables and files.
listing() { luac5.1 -s -o "$TEST_DIR/compiled" "$@" && luac5.1 -l -l -p "$TEST_DIR/compiled"; }
listing "${INSTALLED[@]}" >"$TEST_DIR/installed.listing" && listing "${SENT[@]}" >"$TEST_DIR/sent.listing" ||
    fail "a script does not compile"

# Two listings line by line. A chunk is a script: main, of no line. Constants that are names may differ, but none is two others.
cat >"$TEST_DIR/same.lua" <<'END'
local a, b, scripts = io.open(arg[1]):lines(), io.open(arg[2]):lines(), {select(3, unpack(arg))}
local chunk, names, to, from = -1, 0, {}, {}
local function plain(line)
  return (line:gsub('^(%a+) <[^>]*>', '%1'):gsub('0x%x+', ''):gsub('\t%[[%d-]+%]', ''):gsub('\t; .*', ''))
end
local function is(condition, ...)
  if not condition then io.stderr:write((scripts[chunk] or '?'), ' is not sent as it is installed: ', ...) os.exit(1) end
end
local function finished() is(chunk < 1 or names > 0, 'no names of it were found\n') end
for one in a do
  local other = b()
  if one:find('^main <') then
    finished()
    chunk, names, to, from = chunk + 1, 0, {}, {}
  end
  local name, short = one:match('\t"([%a_][%w_]*)"$'), other and other:match('\t"([%a_][%w_]*)"$')
  is(other and (name == nil) == (short == nil), one, '\n')
  if name then
    is((to[name] or short) == short and (from[short] or name) == name, name, ' is ', short, '\n')
    to[name], from[short], names = short, name, names + 1
    one, other = one:match('^.*\t'), other:match('^.*\t')
  end
  is(plain(one) == plain(other), one, '\n', other, '\n')
end
finished()
is(b() == nil and chunk == #scripts, chunk, ' scripts were compared\n')
END
same() { "$(lua)" "$TEST_DIR/same.lua" "$1" "$2" "${SCRIPTS[@]##*/}"; }
same "$TEST_DIR/installed.listing" "$TEST_DIR/sent.listing" || exit 1
# (A difference in the last of them is found.)
last=${SENT[-1]}
cp "$last" "$TEST_DIR/last"
{ echo 'if KEYS[2] then return end'; cat "$TEST_DIR/last"; } >"$last"
listing "${SENT[@]}" >"$TEST_DIR/sent.listing"
same "$TEST_DIR/installed.listing" "$TEST_DIR/sent.listing" 2>/dev/null && fail "another instruction is not found"
cp "$TEST_DIR/last" "$last"

# The description of the script stands behind its code.
awk '
    FNR == 1 { script = FILENAME; sub(/.*\//, "", script); installed = FILENAME ~ /\/installed\// }
    installed { if ($0 != "" && $0 !~ /^--/) code[script] = FNR; next }
    { sent[script] = FNR }
    END { for (script in code) if (code[script] != sent[script]) { print script ": " code[script] " lines, and " sent[script]; bad = 1 }
        exit bad }' "${INSTALLED[@]}" "${SENT[@]}" || fail "a script that is sent has more lines, or fewer, than the code of the installed one"

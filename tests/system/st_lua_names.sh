# st_lua_names.sh - every script, with its modules put in, uses only names that are known where they are used: those of a
# module that was left out, or comes too late, would be met only when that line runs.
. "$(dirname "$0")/lib.sh"

KNOWN="KEYS ARGV redis cjson string math table ipairs pairs next tonumber tostring type unpack select pcall error"

# names SCRIPT: "what name" for each use of a global name in it.
names() {
    sed 's/^#!.*//' "$1" >"$TEST_DIR/script.lua"
    luac5.1 -p -l "$TEST_DIR/script.lua" >"$TEST_DIR/listing" || fail "$1 does not compile"
    sed -n 's/^.*\([GS]\)ETGLOBAL.*; \(.*\)$/\1 \2/p' "$TEST_DIR/listing" | sort -u
}

# unknown SCRIPT: the names in it that are not known, or are set.
unknown() {
    local what name
    names "$1" | while read -r what name; do
        case " $KNOWN " in
        *" $name "*) [ "$what" = G ] || echo "$name (set)" ;;
        *) echo "$name" ;;
        esac
    done
}

# The scripts as they are installed. The build directory may hold older ones that are none any more.
SCRIPTS=()
for script in "$(dirname "$0")"/../../src/lua/*.lua; do SCRIPTS+=("$REEVE_BUILD/src/lua/$(basename "$script")"); done
for script in "${SCRIPTS[@]}"; do
    found=$(unknown "$script")
    [ -z "$found" ] || fail "$(basename "$script") uses names that are not known: $found"
done
# (What it looks for is found.)
echo 'local known = 1; unheard_of(known)' >"$TEST_DIR/bad.lua"
expect_eq "$(unknown "$TEST_DIR/bad.lua")" unheard_of

# Whoever begins a session may run each command that any script calls (lib/rights.lua). TIME needs no right to a key.
needed=$(sed -n '/^local COMMANDS/,$p' "$(dirname "$0")/../../src/lua/lib/rights.lua" | tr -cs 'A-Z' '\n' |
    grep -E '^[A-Z]{3,}$' | grep -v '^COMMANDS$' | sort -u)
called=$(grep -ohE "[^p]call\(('[A-Z]+'|[a-z_]+ and '[A-Z]+' or '[A-Z]+')" "${SCRIPTS[@]}" | grep -oE "'[A-Z]+'" | tr -d "'" |
    grep -v '^TIME$' | sort -u)
expect_eq "$needed" "$called"

# What the build puts into the texts is there.
expect_eq "$(grep -l '@[A-Z_]*@' "${SCRIPTS[@]}")" ""

# code TEXT: the instructions of a script, and its constants in their order. Fields that modules declare have other names where they
# are sent, so names stand apart: one a line in TEXT.names.
code() {
    luac5.1 -s -o "$TEST_DIR/compiled" "$1" && luac5.1 -l -l -p "$TEST_DIR/compiled" >"$1.listing" || return 1
    sed -E 's/^(main|function) <[^>]*>/\1/; s/0x[0-9a-f]+//g; s/\t\[[0-9-]+\]//; s/\t; .*//; s/\t"[A-Za-z_][A-Za-z0-9_]*"$/\tNAME/' "$1.listing"
    sed -nE 's/^.*\t"([A-Za-z_][A-Za-z0-9_]*)"$/\1/p' "$1.listing" >"$1.names"
}

# What is sent to Redis is the installed script, but for comments, blanks, names of variables and of declared fields: it compiles to
# the same code, and each name in it stands for one name.
cat >"$TEST_DIR/sent.lua" <<'END'
local source = io.open(arg[1]):read('*a'):match('text%[%] = {(.-)\n0};')
for code in source:gmatch('%d+') do io.write(string.char(code)) end
END
for script in "${SCRIPTS[@]}"; do
    "$(lua)" "$TEST_DIR/sent.lua" "${script%.lua}.c" | sed 's/^#!.*//' >"$TEST_DIR/sent"
    sed 's/^#!.*//' "$script" >"$TEST_DIR/installed"
    code "$TEST_DIR/sent" >"$TEST_DIR/sent.code" && code "$TEST_DIR/installed" >"$TEST_DIR/installed.code" ||
        fail "$script does not compile"
    paste -d ' ' "$TEST_DIR/installed.names" "$TEST_DIR/sent.names" | sort -u >"$TEST_DIR/pairs"
    for field in 1 2; do expect_eq "$(cut -d ' ' -f $field "$TEST_DIR/pairs" | sort | uniq -d)" ""; done
    [ -s "$TEST_DIR/installed.names" ] || fail "no names of $script were found"
    cmp "$TEST_DIR/sent.code" "$TEST_DIR/installed.code" || fail "$(basename "$script") is not sent as it is installed"
    # The description of the script stands behind its code.
    expect_eq "$(wc -l <"$TEST_DIR/sent")" "$(grep -nvE '^(--.*)?$' "$TEST_DIR/installed" | tail -n 1 | cut -d : -f 1)"
done

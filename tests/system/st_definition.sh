# st_definition.sh - the definition of the protocol (src/protocol/definition), what is made from it, and the scripts agree.
. "$(dirname "$0")/lib.sh"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"

# check SCRIPTS [SOURCE]: the scripts in a directory against the definition of a source tree.
check() {
    lua5.1 "${2:-$REEVE_SOURCE}/src/protocol/generate/check.lua" "$1"
}

# Documents are up to date.
"$REEVE_SOURCE/scripts/generate" --check || fail "documents are out of date: run scripts/generate"

# The scripts use what is in the tables, and the tables have what the scripts use.
found=$(check "$REEVE_BUILD/src/lua") || fail "$found"

# A header of C is made anew whenever a table changes.
cp "$REEVE_BUILD/src/generated/protocol/definition.h" "$TEST_DIR/definition.h"
lua5.1 "$REEVE_SOURCE/src/protocol/generate/main.lua" header "$TEST_DIR/definition.h"
cmp -s "$TEST_DIR/definition.h" "$REEVE_BUILD/src/generated/protocol/definition.h" || fail "definition.h is out of date: build"

# What the build replaces is replaced everywhere, and the large constants are written nowhere else.
expect_eq "$(grep -lE '@[A-Z_]+@' "$REEVE_BUILD"/src/lua/*.lua)" ""
for number in 1099511627776 70368744177664 9007199254740991; do
    expect_eq "$(cd "$REEVE_SOURCE" && grep -rlw "$number" src tests/model --include='*.lua' --include='*.[ch]')" \
        src/protocol/definition/constants.lua
done

# ---- each fault is found ------------------------------------------------------------------------------------------------

cp -r "$REEVE_BUILD/src/lua" "$TEST_DIR/lua"
mkdir -p "$TEST_DIR/tree/src"
cp -r "$REEVE_SOURCE/src/protocol" "$TEST_DIR/tree/src/protocol"
definition="$TEST_DIR/tree/src/protocol/definition"

# expect_fault WORDS: the check of the copies fails with these words.
expect_fault() {
    check "$TEST_DIR/lua" "$TEST_DIR/tree" >"$TEST_DIR/found" && fail "not found: $1"
    grep -qF "$1" "$TEST_DIR/found" || fail "expected \"$1\", found: $(cat "$TEST_DIR/found")"
}

echo "local P = KEYS[1]; redis.call('SET', P .. 'unheard', '1')" >"$TEST_DIR/lua/new.lua"
expect_fault "keys: scripts use unheard, which is not in the table"
echo "tell(P, 'surprised', id)" >"$TEST_DIR/lua/new.lua"
expect_fault "events: scripts tell of surprised, which is not in the table"
rm "$TEST_DIR/lua/new.lua"

# without FILE NAME: the row of that name leaves a table.
without() {
    cp "$REEVE_SOURCE/src/protocol/definition/$1" "$definition/$1"
    sed -i "/{name = '$2'/s/{name = '$2'/{name = 'other_$2'/" "$definition/$1"
}
without keys.lua wake
expect_fault "keys: scripts use wake, which is not in the table"
expect_fault "keys: no script uses other_wake"
cp "$REEVE_SOURCE/src/protocol/definition/keys.lua" "$definition"
without events.lua retried
expect_fault "events: scripts tell of retried"
cp "$REEVE_SOURCE/src/protocol/definition/events.lua" "$definition"
without envelope.lua weight
expect_fault "envelope: scripts check weight"
cp "$REEVE_SOURCE/src/protocol/definition/envelope.lua" "$definition"
without outcomes.lua snooze
expect_fault "outcomes: turn knows snooze"
cp "$REEVE_SOURCE/src/protocol/definition/outcomes.lua" "$definition"
sed -i "s/by = {'turn', 'enqueue', 'lease_task'}/by = {'turn', 'unheard'}/" "$definition/transitions.lua"
expect_fault "there is no script unheard"

# st_arrows.sh - the rooms of src use one another one way: a file includes headers of its own room and of those that its room
# may use. st_names.sh has the rules of names.
. "$(dirname "$0")/lib.sh"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
cd "$REEVE_SOURCE/src" || exit 1

# room: the rooms that it may use. All may use the public headers (reeve/).
RULE="
base:
redis: base
protocol: base redis
client: base redis protocol
handlers: base redis protocol
testing: base redis protocol client handlers
isolation: base protocol handlers
running: base redis protocol handlers isolation
upkeep: base redis protocol client handlers running
worker: base redis protocol handlers isolation running upkeep
consumer: base redis protocol client handlers running upkeep
config: base redis protocol
web: base
programs/cli: base redis protocol client
programs/bench: base client programs/cli
programs/log: base config running
programs/web: base protocol client web programs/cli programs/log
programs/run: base protocol handlers testing isolation running programs/cli programs/worker
programs/reeve: base redis programs/cli programs/bench
programs/worker: base redis protocol client handlers isolation running worker config web programs/log programs/web
programs/runner: base isolation running programs/worker
"

# (In the shell itself: a process for each include would take half a minute.)
declare -A MAY_USE=()
while IFS=: read -r room rooms; do [ -z "$room" ] || MAY_USE[$room]=" $rooms "; done <<<"$RULE"

# may_use ROOM ROOM
may_use() { [ "$1" = "$2" ] || [[ ${MAY_USE[$1]:-} == *" $2 "* ]]; }

# room_of ROOM INCLUDE: sets TO to the room of what a file of a room includes; to nothing for a public header.
room_of() {
    local here=$1 dir=${2%/*}
    TO=
    case $2 in
    reeve/*) [ -d "../include/reeve" ] && [ -f "../include/$2" ] && return 0 ;;
    esac
    if [ "$dir" = "$2" ]; then TO=$here && return 0; fi
    if [ -f "$2" ] && ! { [ "${here%%/*}" = programs ] && [ -f "programs/$2" ]; }; then TO=$dir && return 0; fi
    # (Also what the build generates belongs to the room of its path.)
    if [ "${here%%/*}" = programs ] && { [ -f "programs/$2" ] || [ -d "programs/$dir" ]; }; then TO=programs/$dir && return 0; fi
    if [ -d "$dir" ]; then TO=$dir; else TO=nowhere; fi
}

# Each pair of a room and an include once.
check_arrows() {
    local room include
    grep -roE --include='*.[ch]' '^#include "[^"]+"' . | sed 's,^\./,,; s,/[^/:]*:#include ", ,; s/"$//' | sort -u >"$TEST_DIR/includes"
    [ -s "$TEST_DIR/includes" ] || fail "no includes were found"
    while read -r room include; do
        room_of "$room" "$include"
        [ -z "$TO" ] || may_use "$room" "$TO" || echo "a file of $room includes $include: its room may not use $TO"
    done <"$TEST_DIR/includes"
}

found=$(check_arrows)
[ -z "$found" ] || fail "$found"
# The list and the folders agree.
for room in base redis protocol client handlers testing running upkeep worker consumer config web programs/*/; do
    [ -n "${MAY_USE[${room%/}]:-}" ] || fail "room ${room%/} has no rule"
done
# What the test is for is found.
may_use base client && fail "base may use client"
may_use redis base || fail "redis may not use base"
exit 0

# st_example_cksum.sh - the long task of examples/cksum: killed at a checkpoint it goes on from there, and the sum is
# what cksum says; stopped it loses nothing; a file that has changed is begun anew.
. "$(dirname "$0")/lib.sh"

EXAMPLES="$REEVE_BUILD/examples"
[ -e "$EXAMPLES/cksum.so" ] || { echo "built without the examples: skipped"; exit 77; }

sed 's/session = 5; drain = 2/session = 1; drain = 0.1/' "$REEVE_SOURCE/examples/cksum/cksum.conf" \
    >"$TEST_DIR/disks.conf"
cd "$EXAMPLES" || exit 1
export REEVE_PLUGIN_DIR=$EXAMPLES
FILE=$TEST_DIR/large
SIZE=$((8 * 1024 * 1024 + 12345))
head -c $SIZE /dev/urandom >"$FILE"
SUM=$(cksum <"$FILE")

# start ID: slowly, so that there is time to kill.
start() { expect_status 0 reeve enqueue disks cksum "$FILE" --id "$1" --meta mib_per_second=2; }

# begin ID: and a checkpoint has been seen.
begin() {
    start "$1"
    wait_for 'reeve show "disks/'"$1"'" --json | grep -q "\"checkpoint_bytes\":[1-9]"' 60
}

# place_of ID: where the checkpoint that it left is.
place_of() { redis HGET 'reeve:{disks}:info:'"$1" checkpoint | cut -d' ' -f2; }

# ended ID ATTEMPTS FROM: the sum is right, and the last of its attempts read from there on.
ended() {
    expect_status 0 reeve wait "disks/$1" --timeout 60
    expect_has "$OUT" "$SUM"
    expect_eq "$(of_task "disks/$1" progress)" 100
    expect_status 0 reeve show "disks/$1" --log
    expect_eq "$(grep -c 'begins at byte' <<<"$OUT")" "$2" "attempts"
    expect_has "$(head -1 <<<"$OUT")" "begins at byte 0"
    expect_has "$(grep 'begins' <<<"$OUT" | tail -1)" "begins at byte $3"
    expect_has "$(tail -1 <<<"$OUT")" "read $((SIZE - $3)) bytes in this attempt"
}

start_redis

# what it says while it runs, and a SIGKILL
start_alone disks
begin killed
expect_status 0 reeve show disks/killed
expect_has "$OUT" "progress:"
expect_has "$OUT" "of 8.0 MiB"
end "$WORKER_PID" KILL
place=$(place_of killed)
[ "$place" -gt 0 ] && [ "$place" -lt $SIZE ] || fail "a checkpoint at byte $place"
expect_eq "$(of_task disks/killed logged)" 1
start_alone disks
ended killed 2 "$place"
expect_eq "$(of_task disks/killed crashes)" 1
expect_eq "$(of_task disks/killed checkpoint_bytes)" null "it is done: nothing is left of it"

# a worker that stops, in the first second, leaves a checkpoint; and nothing is counted against the task
start stopped
wait_for '[ "$(of_task disks/stopped logged)" = 1 ]' 30
end "$WORKER_PID"
expect_eq "$ENDED" 0
expect_eq "$(of_task disks/stopped state)" '"ready"'
place=$(place_of stopped)
[ "$place" -gt 0 ] || fail "no checkpoint was left"
start_alone disks
ended stopped 2 "$place"
expect_eq "$(of_task disks/stopped crashes) $(of_task disks/stopped failures)" "0 0"

# the file is another one when the next attempt begins: what was left is of no use
begin changed
end "$WORKER_PID" KILL
head -c $SIZE /dev/urandom >"$FILE"
SUM=$(cksum <"$FILE")
start_alone disks
ended changed 2 0

# without a pace, and files at the edges
: >"$TEST_DIR/empty"
expect_status 0 reeve enqueue disks cksum "$TEST_DIR/empty" --wait=60
expect_has "$OUT" "$(cksum <"$TEST_DIR/empty")"
expect_status 0 reeve enqueue disks cksum "$FILE" --wait=60
expect_has "$OUT" "$SUM"
expect_status 5 reeve enqueue disks cksum "$TEST_DIR" --wait=60
expect_has "$ERR" "no regular file"
expect_status 5 reeve enqueue disks cksum large --wait=60
expect_has "$ERR" "absolute path"

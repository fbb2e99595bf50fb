# st_example_pull.sh - the example pull: a program takes tasks itself, and settles several in one call.
. "$(dirname "$0")/lib.sh"

PULL="$REEVE_BUILD/examples/pull"
[ -x "$PULL" ] || { echo "the examples are not built"; exit 77; }

start_redis
for n in "1 2 3" "40 2" ""; do reeve enqueue sums add "$n" >/dev/null || fail "not enqueued"; done
reeve enqueue sums add "no numbers" --id wrong >/dev/null
expect_status 0 "$PULL" sums 3
expect_has "$OUT" "3 tasks"
expect_eq "$(reeve list sums --state completed --json --limit 0 | sed 's/.*"result":"\([^"]*\)".*/\1/' | sort -n | tr '\n' ' ')" "0 6 42 "
expect_eq "$(of_task sums/wrong state)" '"ready"'

# It waits for more, and ends when none comes.
"$PULL" sums >"$TEST_DIR/out" 2>"$TEST_DIR/err" &
own $!
puller=$!
wait_for '[ "$(of_task sums/wrong state)" = "\"dead\"" ]' 20
expect_eq "$(of_task sums/wrong error_kind) $(of_task sums/wrong error_message)" '"payload" "\"no numbers\" is no number"'
reeve enqueue sums add "7" --id late >/dev/null
wait_for '[ "$(of_task sums/late result)" = "\"7\"" ]' 20
wait "$puller" || fail "it ended with $?"
expect_eq "$(tail -1 "$TEST_DIR/out")" "2 tasks"

expect_status 2 "$PULL"
exit 0

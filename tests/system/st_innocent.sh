#!/usr/bin/env bash
# A long good task beside tasks that bring their worker down, again and again: it is not taken for poison and gets its time,
# each of the others is dead after three crashes, and nobody else is.
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # (lib.sh looks at it)
SANITIZER_EXPECTED=1
start_redis
ulimit -c 0
write_conf w 'session = 1; log = { level = "warn"; };' 'pools = ( { queues = [ "q" ]; threads = 4; } );'

# keep_alive: starts the worker again when it has died.
WORKER_PID=0
keep_alive() {
    if [ "$WORKER_PID" != 0 ]; then
        kill -0 "$WORKER_PID" 2>/dev/null && return
        end "$WORKER_PID"
        echo "$ENDED" >>"$TEST_DIR/deaths"
    fi
    start_alone w
}

reeve enqueue q sleep '{"ms":10000}' --id long >/dev/null
crashes=0
keep_alive
wait_for '[ "$(of_task q/long state)" = "\"running\"" ]' 20
# A second crash stands ready before the first has happened; then one comes each second, as long as the good one has not ended.
until [ "$(of_task q/long state)" = '"completed"' ]; do
    [ "$(of_task q/long state)" != '"dead"' ] || fail "the good task died: $(reeve show q/long)"
    [ $crashes -lt 90 ] || fail "the good task gets no time: $(reeve show q/long)"
    crashes=$((crashes + 1))
    reeve enqueue q crash --id "crash$crashes" >/dev/null
    reeve enqueue q noop --id "noop$crashes" >/dev/null
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        keep_alive
        sleep 0.1
    done
done
during=$(wc -l <"$TEST_DIR/deaths")
[ "$during" -ge 2 ] || fail "only $during deaths meanwhile: the good task was in no danger"
wait_for 'keep_alive; is_still q $((crashes + 1)) $crashes' 120
expect_status 0 reeve list q --state dead --json
expect_lines "$crashes"
expect_eq "$(grep -c '"type":"crash"' "$TEST_DIR/out")" "$crashes" "dead tasks that crash"
expect_eq "$(grep -o '"crashes":[0-9]*' "$TEST_DIR/out" | sort | uniq -c | sed 's/^ *//')" "$crashes \"crashes\":3" "their crashes"
echo "$crashes tasks brought the worker down $(wc -l <"$TEST_DIR/deaths") times, $during of them before the good one had ended"

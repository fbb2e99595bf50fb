#!/usr/bin/env bash
# The log of reeve-worker when its reader goes away, stalls, or comes back: no task waits for it, nor does the end.
. "$(dirname "$0")/lib.sh"
cd "$TEST_DIR" || exit 1

start_redis
write_conf w 'session = 5; drain = 5; log = { flood = 0; };' 'pools = ( { name = "p"; queues = [ "q" ]; threads = 4; } );'
mkfifo gone stalled back

# log_to PIPE: a worker whose log goes there; something must read it.
log_to() {
    "$REEVE_WORKER" -c w.conf </dev/null >/dev/null 2>"$1" &
    WORKER_PID=$!
    own "$WORKER_PID"
}
expect_end() {
    local status=0
    kill -TERM "$WORKER_PID"
    wait_for '[ "$(cut -d" " -f3 "/proc/$WORKER_PID/stat" 2>/dev/null || echo Z)" = Z ]' 10
    wait "$WORKER_PID" || status=$?
    expect_eq "$status" 0 "exit status of the worker"
}
# fill N: so many tasks that die of a failure with a long message, a line of the log each.
fill() {
    local message
    message=$(printf '%0900d' 7)
    for ((i = 0; i < $1; i++)); do
        echo "{\"type\":\"fail\",\"attempts\":1,\"payload\":{\"kind\":\"k\",\"message\":\"$message\"}}"
    done | bulk q
}

# ---- the reader goes away: the worker drains as if it were there ------------------------------------------------------

head -n 1 <gone >first &
reader=$!
log_to gone
wait "$reader"
expect_has "$(cat first)" "event="
fill 10
wait_for '[ "$(in_queue q dead)" = 10 ]' 20
long=$(reeve enqueue q sleep '{"ms":1500}')
wait_for '[ "$(of_task "$long" state)" = "\"running\"" ]' 10
expect_end
expect_eq "$(of_task "$long" state)" '"completed"' "what ran when it was told to stop"
expect_eq "$(reeve workers --json | wc -l)" 0 "workers"

# ---- the reader stalls: tasks go on, and so does the end ---------------------------------------------------------------

# shellcheck disable=SC2217 # (it holds the pipe open and does not read)
sleep 1000 <stalled &
own $!
log_to stalled
# shellcheck disable=SC2034 # (the condition is evaluated)
before=$(in_queue q dead)
fill 3000
wait_for '[ "$(in_queue q dead)" = $((before + 3000)) ]' 60
expect_end

# ---- the reader comes back: what was dropped is counted -----------------------------------------------------------------

cat <back >all &
reader=$!
own "$reader"
log_to back
wait_for 'grep -q event=worker.started all' 20
kill -STOP "$reader"
# shellcheck disable=SC2034 # (the condition is evaluated)
before=$(in_queue q dead)
fill 4000
wait_for '[ "$(in_queue q dead)" = $((before + 4000)) ]' 60
kill -CONT "$reader"
wait_for 'grep -q event=log.dropped all' 20
expect_end
wait "$reader"
written=$(grep -c 'event=task.dead ' all)
dropped=$(sed -n 's/.*event=log.dropped .* lines=\([0-9]*\)$/\1/p' all | awk '{ n += $1 } END { print n + 0 }')
[ "$dropped" -gt 0 ] || fail "nothing was dropped: the test says nothing"
expect_eq $((written + dropped)) 4000 "lines written ($written) and dropped ($dropped)"
expect_eq "$(grep -vc '^time=.* level=[a-z]* event=' all)" 0 "lines that are none"
expect_has "$(tail -n 1 all)" "event=program.ended"

#!/bin/bash
# What happens to tasks is printed as it happens, whether the queue keeps events or not; a watcher that is killed leaves nothing
# on for ever. And tags, peek, history as a user sees them.
. "$(dirname "$0")/lib.sh"

start_redis
write_conf w 'session = 2; drain = 1; log = { level = "error"; }' 'pools = ( { name = "p"; queues = [ "q" ]; threads = 1; } );'

# watched NAME PATTERN: a line of the output of a watcher has it.
watched() { grep -qE "$2" "$TEST_DIR/$1.watch"; }

# start_watch NAME ARGUMENT...: a watcher in the background; returns when it listens. WATCH_PID is its pid.
start_watch() {
    local name=$1 clients
    shift
    clients=$(redis CLIENT LIST | grep -c 'cmd=xread')
    "$REEVE" watch "$@" >"$TEST_DIR/$name.watch" 2>"$TEST_DIR/$name.words" &
    WATCH_PID=$!
    own "$WATCH_PID"
    wait_for "[ \$(redis CLIENT LIST | grep -c 'cmd=xread') -gt $clients ]" 10
}

# ---- a queue ----------------------------------------------------------------------------------------------------------
start_watch queue q --json
queue_pid=$WATCH_PID
reeve enqueue q echo hello --id one --tag red >/dev/null || fail "not enqueued"
wait_for 'watched queue "\"event\":\"enqueued\",\"handle\":\"q/one\""' 10

# ---- a task, until it has ended ------------------------------------------------------------------------------------------
start_watch task q/one
task_pid=$WATCH_PID
start_worker w
wait_for '! kill -0 '"$task_pid"' 2>/dev/null' 10
end "$task_pid"
expect_eq "$ENDED" 0 "a completed task"
watched task '^[0-9:.]{12}  leased +q/one  by [0-9a-f]{16}$' || fail "$(cat "$TEST_DIR/task.watch")"
watched task '^[0-9:.]{12}  completed +q/one  by [0-9a-f]{16}$' || fail "$(cat "$TEST_DIR/task.watch")"
reeve enqueue q fail '{"kind":"smtp","message":"no route","times":2}' --id two --backoff fixed:50ms~0 --attempts 2 >/dev/null
wait_for 'watched queue "\"event\":\"dead\",\"handle\":\"q/two\".*\"kind\":\"smtp\",\"message\":\"no route\""' 10
watched queue '"event":"retry","handle":"q/two".*"delay_ms":50' || fail "$(cat "$TEST_DIR/queue.watch")"
watched queue '"event":"ready","handle":"q/two"' || fail "$(cat "$TEST_DIR/queue.watch")"

# One that has ended already, in either way; and one that is not there.
expect_status 0 reeve watch q/one
expect_has "$ERR" "q/one has ended: completed"
expect_status 5 reeve watch q/two
expect_has "$ERR" "q/two has ended: dead"
expect_status 1 reeve watch q/none
expect_status 2 reeve watch 'q/'
end "$WORKER_PID"

# An outage that begins while it looks whether the task is still there: that connection is new, and Redis takes none. The
# console is connected before.
reeve enqueue q noop --id held --in 1h >/dev/null
start_watch held q/held
held_pid=$WATCH_PID
coproc CONSOLE { exec redis-cli -s "$REDIS_SOCKET"; }
console() { echo "$@" >&"${CONSOLE[1]}" && read -r -t 20 ANSWER <&"${CONSOLE[0]}"; }
lookers=$(redis CLIENT LIST | grep 'name=reeve' | grep -v 'cmd=xread' | sed 's/^id=\([0-9]*\).*/\1/')
[ -n "$lookers" ] || fail "nobody looks"
console CONFIG SET maxclients 1 && expect_eq "$ANSWER" OK
for id in $lookers; do console CLIENT KILL ID "$id" && expect_eq "$ANSWER" 1; done
wait_for 'grep -q "waiting for Redis" "$TEST_DIR/held.words"' 30
console CONFIG SET maxclients 1000 && expect_eq "$ANSWER" OK
reeve cancel q/held >/dev/null
wait_for '! kill -0 '"$held_pid"' 2>/dev/null' 10
end "$held_pid"
expect_eq "$ENDED" 6 "after an outage"

# A task that dies while it is watched.
reeve enqueue q noop --id three --in 1h >/dev/null
start_watch third q/three
reeve cancel q/three >/dev/null
wait_for '! kill -0 '"$WATCH_PID"' 2>/dev/null' 10
end "$WATCH_PID"
expect_eq "$ENDED" 6 "a cancelled task"
expect_status 7 reeve watch q --timeout 100ms
expect_has "$ERR" "not in time"

# ---- its end ---------------------------------------------------------------------------------------------------------------
end "$queue_pid" INT
expect_eq "$ENDED" 130 "interrupted"
expect_has "$(redis HGET 'reeve:{q}:settings' in_force)" e
redis HSET 'reeve:{q}:settings' events_until 1 >/dev/null # (as if a minute had passed)
start_worker w
wait_for '[ -z "$(redis HGET "reeve:{q}:settings" in_force)" ]' 10
expect_eq "$(redis EXISTS 'reeve:{q}:events')" 0 "the stream is gone"
end "$WORKER_PID"

# ---- events that are kept --------------------------------------------------------------------------------------------------
run reeve events q
expect_eq "$OUT" "q keeps no events"
expect_status 0 reeve events q --keep 100
expect_eq "$OUT" "q keeps about 100 events, and has 0"
reeve enqueue q noop --id four >/dev/null
run reeve events q --json
expect_eq "$OUT" '{"queue":"q","keep":100,"count":1}'
expect_status 0 reeve watch q --since 1m --count 1 --json
expect_has "$OUT" '"event":"enqueued","handle":"q/four"'
reeve events q --keep 0 >/dev/null

# By configuration.
write_conf kept 'session = 2; drain = 1; log = { level = "error"; }' 'pools = ( { name = "p"; queues = [ "k" ]; threads = 1; } );' \
    'queues = ( { name = "k"; events = 50; } );'
start_worker kept
wait_for '[ "$(redis HGET "reeve:{k}:settings" events)" = 50 ]' 10
end "$WORKER_PID"

# ---- history ---------------------------------------------------------------------------------------------------------------
run reeve show q/two
expect_has "$OUT" ' retry, again in 50 ms, worker '
expect_has "$OUT" ' dead, worker '
expect_has "$(of_task q/two history)" '"event":"retry"'
expect_eq "$(of_task q/one history)" null

# ---- tags and peek ---------------------------------------------------------------------------------------------------------
reeve enqueue q noop --id five --tag red --tag blue --priority -1 >/dev/null
run reeve tags q --json
expect_has "$OUT" '"queue":"q","tag":"red","count":2,'
expect_has "$OUT" '"queue":"q","tag":"blue","count":1,'
run reeve tags
expect_has "$OUT" "blue"
run reeve list q --tag red --json
expect_eq "$(printf '%s\n' "$OUT" | sed 's/^{"handle":"\([^"]*\)".*/\1/' | tr '\n' ' ')" "q/five q/one "
run reeve list q --tag red --state completed
expect_has "$OUT" "q/one"
expect_lacks "$OUT" "q/five"
run reeve list q --tag green
expect_has "$ERR" "no task with the tag green in q"
run reeve peek q
expect_eq "$(printf '%s\n' "$OUT" | awk 'NR > 1 {print $1 $2}' | tr '\n' ' ')" "1q/five 2q/four "
run reeve peek q 1 --json
expect_has "$OUT" '"handle":"q/five"'
expect_lacks "$OUT" 'q/four'
expect_status 2 reeve peek q 0
expect_status 0 reeve peek q --limit 1 --json
ONE=$OUT
expect_status 0 reeve peek q 1 --json
expect_eq "$OUT" "$ONE"

# ---- an outage is told ------------------------------------------------------------------------------------------------------
"$REEVE" watch q >"$TEST_DIR/away.out" 2>"$TEST_DIR/away.err" &
watcher=$!
own "$watcher"
wait_for '[ "$(redis CLIENT LIST | grep -c cmd=xread)" -ge 1 ]' 10
stop_redis KILL
wait_for 'grep -q "waiting for Redis: " "$TEST_DIR/away.err"' 40
start_redis
wait_for 'grep -q "Redis is there again" "$TEST_DIR/away.err"' 40
expect_eq "$(grep -c 'waiting for Redis' "$TEST_DIR/away.err")" 1 "an outage is told once"
end "$watcher"

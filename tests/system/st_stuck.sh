#!/usr/bin/env bash
# Handlers that do not return after their time limit: their threads are reported and replaced, and when there are too many,
# the worker makes way for a new one, as it does after max_tasks tasks and with max_memory bytes.
. "$(dirname "$0")/lib.sh"

# A worker whose handlers do not return ends without waiting for their threads.
export TSAN_OPTIONS="${TSAN_OPTIONS:-} report_thread_leaks=0"
plugin=$REEVE_BUILD/tests/plugins/fatal.so
start_redis

# write_worker NAME SETTINGS [THREADS]
write_worker() {
    cat >"$TEST_DIR/$1.conf" <<END
worker = { name = "$1"; session = 5; $2 };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample", "$plugin" ];
pools = ( { name = "p"; queues = [ "q" ]; threads = ${3:-1}; batch = 1; } );
handlers = ( { type = "hold"; timeout = 0.3; attempts = 1; } );
END
}
state() { reeve show "q/$1" --json | sed -n 's/.*"state":"\([a-z]*\)".*/\1/p'; }
health() { "$REEVE_WORKER" --health "$TEST_DIR/health" 2>/dev/null; }
# threads_of PID: how many threads of the pool the process has.
threads_of() { cat /proc/"$1"/task/*/comm | grep -c '^p/'; }

# ---- without a supervisor: a spare thread, then none ------------------------------------------------------------------------

write_worker alone "grace = 0.3; spare_threads = 1; health = \"$TEST_DIR/health\";"
start_alone alone
wait_for '[ "$(logged alone worker.started)" = 1 ]' 20
redis HSET "reeve:{q}:settings" in_force e events 1000 >/dev/null
reeve enqueue q hold "$TEST_DIR/go" --id one >/dev/null
wait_for '[ "$(logged alone thread.stuck)" = 1 ]' 20
wait_for 'redis XRANGE "reeve:{q}:events" - + | grep -qx stuck' 20
expect_has "$(grep event=thread.stuck "$TEST_DIR/alone.log")" "thread=p/1 queue=q task=one"
wait_for 'grep event=worker.stack "$TEST_DIR/alone.log" | grep thread=p/1 | grep -q hold+0x' 20
wait_for '[ "$(state one)" = dead ]' 20
expect_status 0 reeve enqueue q noop --wait --id meanwhile
wait_for 'reeve workers --json | grep -q "\"stuck\":true"' 20
# The spare thread runs nothing: the pool has room.
wait_for 'reeve workers --pools --json | grep -q "\"threads\":1,\"busy\":0,"' 20
expect_has "$(health)" '"ready":true'
expect_has "$(health)" '"stuck":1'
expect_eq "$(logged alone worker.exhausted)" 0
# Another one: there is no spare thread for it.
reeve enqueue q hold "$TEST_DIR/go" --id two >/dev/null
wait_for '[ "$(logged alone worker.exhausted)" = 1 ]' 20
expect_has "$(health)" '"ready":false'
expect_has "$(health)" '"stuck":2'
reeve enqueue q noop --id waits >/dev/null
# They return: what they say is ignored, the pool has one thread again, and the worker is ready.
: >"$TEST_DIR/go"
wait_for '[ "$(logged alone thread.returned)" = 2 ]' 20
wait_for '[ "$(state waits)" = completed ]' 20
expect_eq "$(state one) $(state two)" "dead dead"
wait_for '[ "$(threads_of "$WORKER_PID")" = 1 ]' 20
wait_for 'health | grep -q "\"ready\":true.*\"stuck\":0"' 20
end "$WORKER_PID"
expect_eq "$ENDED" 0
rm "$TEST_DIR/go"

# ---- supervised: a new worker -----------------------------------------------------------------------------------------------

write_worker renewed "grace = 0.3; spare_threads = 0;" 2
start_worker renewed
wait_for '[ "$(logged renewed worker.started)" = 1 ]' 20
child=$(worker_child "$WORKER_PID")
reeve enqueue q hold "$TEST_DIR/go" --id three >/dev/null
wait_for '[ "$(logged renewed worker.started)" = 2 ]' 20
expect_has "$(grep event=worker.renewed "$TEST_DIR/renewed.log")" 'reason="stuck threads"'
[ "$(worker_child "$WORKER_PID")" != "$child" ] || fail "the process was not replaced"
expect_status 0 reeve enqueue q noop --wait
expect_eq "$(state three)" dead
expect_eq "$(reeve show q/three --json | grep -o '"crashes":[0-9]*')" '"crashes":0'
expect_eq "$(logged renewed worker.crashed)" 0
end "$WORKER_PID"
expect_eq "$ENDED" 0

# ---- max_tasks, max_memory --------------------------------------------------------------------------------------------------

write_worker tasks "max_tasks = 20;" 2
start_worker tasks
wait_for '[ "$(logged tasks worker.started)" = 1 ]' 20
for round in 1 2; do
    for i in $(seq 25); do echo "{\"type\":\"noop\",\"id\":\"n$round.$i\"}"; done | bulk q || exit 1
    wait_for '[ "$(logged tasks worker.renewed)" = $round ]' 20
    wait_for '[ "$(logged tasks worker.started)" = $((round + 1)) ]' 20
done
wait_for '[ "$(in_queue q ready)" = 0 ] && [ "$(in_queue q running)" = 0 ]' 20
expect_has "$(grep event=worker.renewed "$TEST_DIR/tasks.log")" "reason=max_tasks"
expect_eq "$(logged tasks worker.crashed)" 0
end "$WORKER_PID"
expect_eq "$ENDED" 0

write_worker memory "max_memory = 1;"
start_worker memory
wait_for '[ "$(logged memory worker.renewed)" -ge 1 ] && [ "$(logged memory worker.started)" -ge 2 ]' 20
expect_has "$(grep event=worker.renewed "$TEST_DIR/memory.log")" "reason=max_memory"
end "$WORKER_PID"
expect_eq "$ENDED" 0

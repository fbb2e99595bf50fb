#!/usr/bin/env bash
# A worker whose process does not run for a while (SIGSTOP; a container that is paused): that time counts for no time limit of
# its tasks, and for no handler that is about to count as stuck. What goes on is the time in Redis: the lease.
. "$(dirname "$0")/lib.sh"

export TSAN_OPTIONS="${TSAN_OPTIONS:-} report_thread_leaks=0"
PAUSE=4 # longer than each of the limits below
start_redis
cat >"$TEST_DIR/one.conf" <<END
worker = { name = "one"; session = 30; grace = 3; };
plugins = [ "$REEVE_BUILD/tests/plugins/fatal.so" ];
pools = ( { name = "p"; queues = [ "q" ]; threads = 2; batch = 1; },
          { name = "r"; queues = [ "r" ]; threads = 1; isolation = "process"; } );
handlers = ( { type = "hold"; timeout = 3; attempts = 1; } );
END
start_alone one
wait_for '[ "$(logged one worker.started)" = 1 ]' 20

# pause_worker: at least so many of its threads run a handler.
pause_worker() {
    freeze "$WORKER_PID"
    pause $PAUSE
    kill -CONT "$WORKER_PID"
}

# ---- the run time limit -----------------------------------------------------------------------------------------------------

for queue in q r; do reeve enqueue $queue hold "$TEST_DIR/go" --id one >/dev/null; done
wait_for 'are_busy one 2' 20
pause_worker
wait_for '[ "$(logged one worker.paused)" = 1 ]' 20
expect_status 0 reeve enqueue q noop --timeout 60s # (it looks, too, whether the worker goes on)
: >"$TEST_DIR/go"
for queue in q r; do
    expect_status 0 reeve wait $queue/one --timeout 20s
    expect_eq "$(of_task $queue/one failures)" 0 "failures in $queue"
done
rm "$TEST_DIR/go"

# ---- after it, the limit holds, and a pause in the grace of a stuck handler counts for nothing either -------------------------

reeve enqueue q hold "$TEST_DIR/go" --id two >/dev/null
wait_for '[ "$(of_task q/two state)" = "\"dead\"" ]' 20
expect_eq "$(of_task q/two error_kind)" '"timeout"'
pause_worker
wait_for '[ "$(logged one worker.paused)" = 2 ]' 20
: >"$TEST_DIR/go"
wait_for 'are_busy one 0' 20
expect_eq "$(logged one thread.stuck)" 0

# ---- a pause that is longer than the session --------------------------------------------------------------------------------

# (st_frozen_worker.sh: the lease is lost.)
end "$WORKER_PID"
expect_eq "$ENDED" 0

# st_health.sh - the health of a worker: ready, not ready without Redis or when Redis refuses writes, when quiet, gone; a socket that was left behind.
. "$(dirname "$0")/lib.sh"

SOCKET=$TEST_DIR/health
start_redis
cat >"$TEST_DIR/worker.conf" <<END
worker = { health = "$SOCKET"; session = 1; drain = 30; };
plugins = [ "$PLUGIN_DIR/sample.so" ];
pools = ( { name = "p"; queues = [ "q" ]; threads = 2; } );
END
start() {
    "$REEVE_WORKER" -c "$TEST_DIR/worker.conf" 2>>"$TEST_DIR/worker.log" &
    WORKER_PID=$!
    own "$WORKER_PID"
}
health() { "$REEVE_WORKER" --health "$SOCKET" 2>/dev/null; }

expect_status 3 "$REEVE_WORKER" --health "$SOCKET"
expect_has "$ERR" "$SOCKET: No such file or directory: no worker serves it; check that the worker runs, and its setting"
start
wait_for 'health >/dev/null' 20
expect_eq "$(health)" '{"live":true,"ready":true,"state":"running","connected":true,"threads":2,"busy":0,"stuck":0,"refused":false}'
reeve enqueue q sleep '{"ms":60000}' --id nap >/dev/null
wait_for 'health | grep -q "\"busy\":1"' 20
# One that asks nothing and stays does not keep others from an answer.
stop_redis
wait_for 'health | grep -q "\"ready\":false.*\"connected\":false"' 20
expect_status 1 "$REEVE_WORKER" --health "$SOCKET"
start_redis
wait_for 'health >/dev/null' 20
# Redis is reached, and refuses writes: the worker leases no tasks.
redis CONFIG SET maxmemory 1 >/dev/null
wait_for 'health | grep -q "\"ready\":false,\"state\":\"running\",\"connected\":true.*\"refused\":true"' 20
redis CONFIG SET maxmemory 0 >/dev/null
wait_for 'health >/dev/null' 20
kill -TSTP "$WORKER_PID"
wait_for 'health | grep -q "\"ready\":false,\"state\":\"quiet\",\"connected\":true"' 20
# Without free descriptors it waits for one, and takes no processor for that. (N: clock ticks of the thread.)
ticks() { sed 's/.*) //' "/proc/$child/task/$thread/stat" | awk '{ print $12 + $13 }'; }
child=$(worker_child "$WORKER_PID")
thread=$(grep -l reeve-health "/proc/$child"/task/*/comm | sed 's,/comm,,; s,.*/,,')
prlimit --pid "$child" --nofile=3:
before=$(ticks)
"$REEVE_WORKER" --health "$SOCKET" >"$TEST_DIR/later" 2>&1 &
asked=$!
sleep 1
used=$(($(ticks) - before))
[ "$used" -lt 10 ] || fail "$used ticks of a processor in a second without descriptors"
prlimit --pid "$child" --nofile=1024:
wait "$asked"
expect_has "$(cat "$TEST_DIR/later")" '"live":true'
# It is killed: soon nobody answers, and the next worker takes the place of the socket.
end "$WORKER_PID" KILL
wait_for 'run "$REEVE_WORKER" --health "$SOCKET" && [ "$STATUS" = 3 ]' 20
start
wait_for 'health >/dev/null' 20
reeve enqueue q sleep '{"ms":60000}' --id rest >/dev/null
wait_for 'health | grep -q "\"busy\":1"' 20
# Another one does not take it away from it, and runs without.
"$REEVE_WORKER" -c "$TEST_DIR/worker.conf" 2>"$TEST_DIR/second.log" &
own $!
wait_for 'grep -q program.health "$TEST_DIR/second.log"' 20
health >/dev/null || fail "the first one does not answer any more"
# While it drains its tasks, it is stopping, in the list of workers as well.
kill -TERM "$WORKER_PID"
wait_for 'health | grep -q "\"ready\":false,\"state\":\"stopping\",\"connected\":true"' 20
wait_for 'reeve workers --json | grep "\"pid\":$(worker_child "$WORKER_PID")," | grep -q "\"state\":\"stopping\""' 20
end "$WORKER_PID"
[ ! -e "$SOCKET" ] || fail "the socket is left behind"

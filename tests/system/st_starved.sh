#!/usr/bin/env bash
# A worker with too few descriptors: the threads that cannot have a runner leave the tasks to the others, and say so once; one
# that cannot have its threads says so, and ends.
. "$(dirname "$0")/lib.sh"
[ -z "$SANITIZED" ] || { echo "sanitizers need descriptors of their own"; exit 77; }
start_redis

# write_worker NAME THREADS
write_worker() {
    cat >"$TEST_DIR/$1.conf" <<END
worker = { name = "$1"; log = { level = "info"; }; };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample" ];
pools = ( { name = "p"; queues = [ "q" ]; threads = $2; isolation = "process"; } );
END
}

write_worker few 16
(
    ulimit -n 64
    exec "$REEVE_WORKER" -c "$TEST_DIR/few.conf" >"$TEST_DIR/few.log" 2>&1
) &
worker=$!
own $worker
wait_for '[ "$(logged few worker.started)" = 1 ]' 20
wait_for '[ "$(logged few runner.failed)" -ge 1 ]' 20
for i in $(seq 60); do echo "{\"type\":\"sleep\",\"id\":\"s$i\",\"payload\":{\"ms\":50}}"; done | bulk q || exit 1
wait_for '[ "$(in_queue q completed_total)" = 60 ] || [ "$(in_queue q scheduled)" != 0 ]' 30
expect_eq "$(in_queue q completed_total) $(in_queue q scheduled)" "60 0" "tasks that completed, and that were put off"
[ "$(logged few runner.failed)" -le 16 ] || fail "it was logged $(logged few runner.failed) times"
end "$worker"
expect_eq "$ENDED" 0

write_worker many 40
expect_status 1 bash -c "ulimit -n 64; exec '$REEVE_WORKER' -c '$TEST_DIR/many.conf'"
expect_has "$ERR" "cannot start: "
expect_has "$ERR" "Too many open files"

# st_data_lost.sh - Redis loses its data (FLUSHALL) under a running worker: the worker writes what its configuration says of
# queues and recurring entries again, is listed again, and goes on running tasks.
. "$(dirname "$0")/lib.sh"

start_redis
cat >"$TEST_DIR/worker.conf" <<END
worker = { session = 1; };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample" ];
pools = ( { queues = [ "q" ]; threads = 2; } );
queues = ( { name = "q"; concurrency = 3; attempts = 7; } );
cron = ( { name = "yearly"; spec = "@yearly"; queue = "q"; type = "noop"; } );
END
"$REEVE_WORKER" -c "$TEST_DIR/worker.conf" 2>"$TEST_DIR/worker.log" &
WORKER_PID=$!
own "$WORKER_PID"

is_configured() {
    reeve limit q --json | grep -q '"concurrency":3' && reeve settings q --json | grep -q '"attempts":7' &&
        reeve cron list q | grep -q yearly && reeve workers --json | grep -q '"pid":'"$(worker_child "$WORKER_PID")"
}
wait_for is_configured 20
for _ in 1 2; do
    redis FLUSHALL >/dev/null
    wait_for is_configured 20
    expect_status 0 reeve enqueue q echo hello --wait
done
expect_has "$(cat "$TEST_DIR/worker.log")" "event=redis.data_lost"
end "$WORKER_PID"
expect_eq "$ENDED" 0

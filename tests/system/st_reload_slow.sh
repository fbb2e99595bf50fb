#!/usr/bin/env bash
# st_reload_slow.sh - a reload that takes longer than worker.frozen: code of plugins and a slow Redis. The worker runs its tasks
# meanwhile, and does not count as frozen; a hook that hangs does not keep it when it is told to stop.
. "$(dirname "$0")/lib.sh"
start_redis
export REEVE_TEST_SLOW=$TEST_DIR/slow
cp "$REEVE_BUILD/tests/plugins/slow.so" "$TEST_DIR/slow.so"
child_of() { cat "/proc/$1/task/$1/children" 2>/dev/null | tr -d ' '; }
state_of() { member state "$(reeve show "$1" --json 2>/dev/null)" | tr -d '"'; }
# renew: the plugin has a new file.
renew() {
    cp "$TEST_DIR/slow.so" "$TEST_DIR/slow.new"
    mv "$TEST_DIR/slow.new" "$TEST_DIR/slow.so"
}
write_worker() {
    cat >"$TEST_DIR/$1.conf" <<END
worker = { name = "$1"; supervise = true; frozen = 1; session = 30; drain = 1; log = { level = "info"; }; };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample", "$TEST_DIR/slow.so" ];
pools = ( { name = "p"; queues = [ "q" ]; threads = 2; batch = 1; } );
END
    start_worker "$1"
    wait_for '[ "$(logged '"$1"' worker.started)" = 1 ]' 20
}

# ---- a load hook, and an unload hook --------------------------------------------------------------------------------------

write_worker w
child=$(child_of "$WORKER_PID")
expect_status 0 reeve enqueue q slow --wait=20
reeve enqueue q sleep '{"ms":12000}' --id long >/dev/null
wait_for 'are_busy w 1' 10
echo "3000 3000" >"$REEVE_TEST_SLOW"
renew
expect_status 0 reeve signal w reload --wait 20s
expect_has "$OUT" "plugins.slow"
# Tasks that are enqueued meanwhile are run.
renew
kill -HUP "$WORKER_PID"
wait_for '[ "$(grep -c "event=plugin.loading .*slow.so" "$TEST_DIR/w.log")" -ge 3 ]' 10
expect_status 0 reeve enqueue q noop --wait=20
wait_for '[ "$(logged w program.reloaded)" = 2 ]' 20
wait_for '[ "$(state_of q/long)" = completed ]' 20
expect_eq "$(member crashes "$(reeve show q/long --json)")" 0 "crashes of a task that ran during a reload"
expect_eq "$(logged w worker.frozen)" 0 "workers that counted as frozen"
expect_eq "$(child_of "$WORKER_PID")" "$child" "the worker"

# ---- a hook that hangs, and TERM ------------------------------------------------------------------------------------------

echo "3600000 0" >"$REEVE_TEST_SLOW"
renew
kill -HUP "$WORKER_PID"
wait_for '[ "$(grep -c "event=plugin.loading .*slow.so" "$TEST_DIR/w.log")" -ge 4 ]' 10
expect_status 0 reeve enqueue q noop --wait=20
end "$WORKER_PID"
expect_has "$(cat "$TEST_DIR/w.log")" "event=worker.frozen"
expect_eq "$ENDED" 70 "status of a worker that had to be killed when it was told to stop"
rm "$REEVE_TEST_SLOW"

# st_record_runs.sh - a completed task shows when it began, how long it ran, its worker and thread, where the queue records that.
. "$(dirname "$0")/lib.sh"

start_redis
write_conf one 'session = 2; log = { level = "error"; };' 'pools = ( { name = "p"; queues = [ "q", "off" ]; threads = 1; } );' \
    'queues = ( { name = "q"; record_runs = true; } );'
start_worker one
wait_for '[ "$(member record_runs "$(reeve settings q --json)")" = true ]' 30
expect_status 0 reeve enqueue q sleep '{"ms":120}' --id a --wait=30
expect_status 0 reeve show q/a
expect_has "$OUT" "started:"
expect_has "$OUT" "ran:"
expect_has "$OUT" "thread:   1"
expect_eq "$(of_task q/a worker)" "$(member worker "$(reeve workers --json)")"
[ "$(of_task q/a run_ms)" -ge 120 ] || fail "it ran for $(of_task q/a run_ms) ms"
[ "$(of_task q/a run_ms)" -lt 60000 ] || fail "it ran for $(of_task q/a run_ms) ms"
# Elsewhere nothing is written, and nothing shown.
expect_status 0 reeve enqueue off noop --id b --wait=30
expect_eq "$(of_task off/b started_ms) $(of_task off/b worker) $(of_task off/b thread) $(of_task off/b run_ms)" "null null null null"
expect_eq "$(redis EXISTS 'reeve:{off}:info:b' 'reeve:{off}:completed_extra')" 0
# It goes with the record.
expect_status 0 reeve delete q/a
expect_eq "$(redis EXISTS 'reeve:{q}:info:a' 'reeve:{q}:completed_extra')" 0
# Many in batches, and none kept.
seq 200 | sed 's/.*/{"id":"n&"}/' | reeve enqueue --bulk q noop >/dev/null 2>&1 || fail "not enqueued"
wait_for 'is_still q 200 0' 30
expect_eq "$(redis SCARD 'reeve:{q}:completed_extra')" 200
reeve settings q --keep-completed none >/dev/null || fail "not set"
expect_status 0 reeve enqueue q noop --id last --wait=30
wait_for '[ "$(redis KEYS "reeve:{q}:info:*")" = "" ]' 30
end "$WORKER_PID"
expect_eq "$ENDED" 0

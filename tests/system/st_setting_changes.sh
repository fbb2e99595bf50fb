# st_setting_changes.sh - the log of a worker tells what its configuration changes of queues' settings, and that another live
# worker has another configuration.
. "$(dirname "$0")/lib.sh"

# worker NAME SETTINGS: writes its configuration, starts it and waits until it has written its settings.
worker() {
    : >"$TEST_DIR/$1.log"
    write_conf "$1" 'session = 2; log = { level = "debug"; };' 'pools = ( { queues = [ "q" ]; threads = 1; } );' \
        "queues = ( { name = \"q\"; $2 } );"
    start_worker "$1"
    wait_for '[ "$(logged '"$1"' program.settings)" = 1 ]' 30
}
# changed NAME: the lines of its log that tell of settings, without what comes before the queue.
changed() { grep 'event=program.setting ' "$TEST_DIR/$1.log" | sed 's/.*level=\([a-z]*\) .*queue=q setting=/\1 /' | sort; }

start_redis
worker one 'concurrency = 4; rate = { count = 100; period = 2; }; keep = { completed = { age = 60; count = 5; }; }; attempts = 3;'
ONE=$WORKER_PID
expect_eq "$(changed one)" 'info "attempts, backoff, max_crashes, timeout, heartbeat, grace, retry_for, max_snoozes, record_runs" from="not set" to="{\"attempts\":3}"
info concurrency from="not set" to=4
info keep.completed.age from="not set" to="60.000 s"
info keep.completed.count from="not set" to=5
info rate from="not set" to="100 in 2000 ms, burst 100"'
expect_eq "$(logged one program.conflict)" 0
end "$ONE"

# By hand, then by the configuration again: it is told. And no more when nothing is changed.
reeve limit q --concurrency 9 --rate none >/dev/null || fail "not limited"
worker one 'concurrency = 4; rate = { count = 100; period = 2; }; keep = { completed = { age = 60; count = 5; }; }; attempts = 3;'
expect_eq "$(changed one)" 'info rate from="not set" to="100 in 2000 ms, burst 100"
warn concurrency from=9 to=4'
end "$WORKER_PID"
worker one 'concurrency = 4; rate = { count = 100; period = 2; }; keep = { completed = { age = 60; count = 5; }; }; attempts = 3;'
ONE=$WORKER_PID
expect_eq "$(changed one)" ""

# Another worker with another configuration, while this one lives.
wait_for 'reeve workers --json | grep -q "\"name\":\"one\""' 30
worker two 'concurrency = 8;'
TWO=$WORKER_PID
expect_eq "$(changed two)" 'warn concurrency from=4 to=8'
expect_eq "$(logged two program.conflict)" 1
expect_has "$(grep program.conflict "$TEST_DIR/two.log")" "worker=one"
expect_has "$(grep program.conflict "$TEST_DIR/two.log")" "pid=$(worker_child "$ONE")"
# One with the same: none.
worker three 'concurrency = 8;'
THREE=$WORKER_PID
expect_eq "$(changed three)$(logged three program.conflict)" 0
# Those with another one are gone.
end "$TWO"
end "$THREE"
end "$ONE"
worker one 'concurrency = 4;'
expect_eq "$(changed one)" 'warn concurrency from=8 to=4'
expect_eq "$(logged one program.conflict)" 0
end "$WORKER_PID"

# A queue whose settings are refused holds up neither other queues nor recurring entries.
redis SET 'reeve:{broken}:settings' text >/dev/null
: >"$TEST_DIR/several.log"
write_conf several 'session = 2; log = { level = "debug"; };' 'pools = ( { queues = [ "q" ]; threads = 1; } );' \
    'queues = ( { name = "broken"; concurrency = 2; }, { name = "other"; concurrency = 3; } );
cron = ( { name = "tick"; queue = "other"; type = "noop"; spec = "@hourly"; } );'
start_worker several
wait_for '[ "$(redis HGET "reeve:{other}:settings" concurrency)" = 3 ]' 20
wait_for '[ "$(redis HEXISTS "reeve:{other}:cron" tick)" = 1 ]' 20
expect_has "$(grep 'event=program.settings ' "$TEST_DIR/several.log")" "queue=broken"
expect_lacks "$(grep 'event=program.settings ' "$TEST_DIR/several.log")" "queue=other"
end "$WORKER_PID"

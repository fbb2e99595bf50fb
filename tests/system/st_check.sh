# st_check.sh - `reeve check` beside a worker under load finds nothing; what is broken by hand it finds, explains and repairs.
. "$(dirname "$0")/lib.sh"

usage() {
    expect_status 3 reeve check --redis "unix://$TEST_DIR/none.sock"
    expect_status 2 reeve check 'no queue'
    expect_status 0 reeve check
    expect_has "$OUT" "0 findings, 0 repaired; queues: 0"
    expect_eq "$ERR" ""
    # A name that is mistyped does not look like a queue without findings.
    expect_status 0 reeve check mistyped
    expect_has "$ERR" "reeve: check: queue mistyped has no data: \`reeve queues\` lists those that have"
}

# lines FIRST LAST: tasks of all kinds for bulk.
lines() {
    local i
    for ((i = $1; i <= $2; i++)); do
        case $((i % 5)) in
        0) printf '{"queue":"q","type":"noop","id":"t%d","group":"g%d"}\n' "$i" $((i % 3)) ;;
        1) printf '{"queue":"q","type":"noop","id":"t%d","unique":"u%d","tags":["a","b"]}\n' "$i" "$i" ;;
        2) printf '{"queue":"q","type":"noop","id":"t%d","after":["q/t%d"]}\n' "$i" $((i - 1)) ;;
        3) printf '{"queue":"q","type":"fail","id":"t%d","attempts":2,"backoff":"fixed:1ms"}\n' "$i" ;;
        *) printf '{"queue":"q","type":"noop","id":"t%d"}\n' "$i" ;;
        esac
    done
}

# Nothing is found while tasks come and go.
under_load() {
    local i producer
    write_conf one 'session = 5; log = { level = "error"; };' 'pools = ( { queues = [ "q" ]; threads = 4; } );'
    start_worker one
    reeve limit q --each-group --concurrency 1 >/dev/null 2>&1
    for i in 0 1 2 3 4 5 6 7; do lines $((i * 500 + 1)) $((i * 500 + 500)) | reeve enqueue --bulk --json >/dev/null; done &
    producer=$!
    i=0
    while kill -0 $producer 2>/dev/null || [ "$i" -lt 3 ]; do
        expect_status 0 reeve check q
        expect_has "$OUT" "0 findings, 0 repaired; queues: 1"
        i=$((i + 1))
    done
    wait $producer || fail "tasks are refused"
    [ "$i" -ge 3 ] || fail "only $i checks"
}

# What is broken under load is told in words, and repaired: all tasks end.
broken() {
    reeve enqueue q noop --id lost --in 1h >/dev/null
    redis ZREM 'reeve:{q}:scheduled' lost >/dev/null
    redis HSET 'reeve:{q}:info:ghost' failures 3 >/dev/null
    expect_status 1 reeve check q
    expect_has "$OUT" "task_lost: queue q: task lost is in no state"
    expect_has "$OUT" "why it matters: it never runs"
    expect_has "$OUT" "--repair: puts the task back"
    expect_has "$OUT" "key_without_task: queue q: the key info:ghost belongs to a task that does not exist"
    expect_has "$OUT" "2 findings, 0 repaired"
    expect_status 1 reeve check --json
    expect_eq "$(wc -l <"$TEST_DIR/out")" 2
    expect_eq "$(member error "$ERR")" '"findings"'
    expect_status 0 reeve check --repair
    expect_has "$OUT" "2 findings, 2 repaired"
    expect_status 0 reeve wait q/lost --timeout 60
    expect_status 0 reeve check
    kill -TERM "$WORKER_PID"
    wait "$WORKER_PID"
}

start_redis
usage
under_load
broken

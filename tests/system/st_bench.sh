# st_bench.sh - `reeve bench`: every kind comes to its end and tells its figures, on a Redis of its own or on one that is
# named, of which it uses one namespace and leaves nothing. (What the figures are is not looked at.)
. "$(dirname "$0")/lib.sh"

export TMPDIR=$TEST_DIR

# figures KIND NAME...: one round prints one object, with these figures, each with a number.
figures() {
    local kind=$1 name
    shift
    expect_has "$OUT" "{\"kind\":\"$kind\",\"own_redis\":"
    expect_eq "$(wc -l <"$TEST_DIR/out")" 1 "lines of output"
    for name in "$@"; do
        [[ $OUT =~ \"$name\":\{\"unit\":\"[^\"]+\",\"median\":[0-9.e-]+,\"min\":[0-9.e-]+,\"max\":[0-9.e-]+\} ]] ||
            fail "$kind does not tell $name"
    done
}

# bench KIND ARGUMENT...: a round with few tasks.
bench() {
    local kind=$1
    shift
    expect_status 0 reeve bench "$kind" --rounds 1 --tasks 50 --threads 2 --json "$@"
    expect_eq "$ERR" "" "standard error"
}

kinds_tell_their_figures() {
    local common="tasks_per_s redis_us redis_busy worker_us"
    bench drain --keep
    figures drain $common
    bench drain --result 10 --batch 1
    figures drain $common
    bench enqueue
    figures enqueue one_tasks_per_s one_redis_us by64_tasks_per_s by64_client_us many_tasks_per_s many_redis_busy
    bench latency --payload 0
    figures latency raw_p50 raw_p99 p50 p90 p99 max
    bench schedule
    figures schedule late_p50 late_p99 late_max
    bench memory
    figures memory task_bytes task_key_bytes worker_idle_mib worker_busy_mib
    bench backlog --backlog 30000
    figures backlog short_tasks_per_s long_tasks_per_s long_redis_us ratio
    bench groups --groups 20
    figures groups none_tasks_per_s many_tasks_per_s ratio
    bench queues --queues 5
    figures queues one_tasks_per_s many_tasks_per_s ratio
    bench pull
    figures pull worker_tasks_per_s pull_tasks_per_s ratio
    bench heartbeat
    figures heartbeat few_redis_us many_redis_us ratio
    bench mixed --slow 1 --slow-for 300ms
    figures mixed held_up_ms wait_p50 wait_max slow_met
}

# The same work in both, whose numbers are those of the tasks: a worker that ran more or fewer would be refused.
work_is_measured_beside_a_bare_loop() {
    local names="handler_us bare_tasks_per_s bare_us tasks_per_s redis_us redis_busy worker_us ratio calls commands"
    bench work
    figures work $names
    expect_has "$OUT" '"handler_us":{"unit":"us run time, sleeping","median":1000,'
    bench work --handler-us 20 --cpu --batch 1
    figures work $names
    expect_has "$OUT" '"handler_us":{"unit":"us run time, computing","median":20,'
    [[ $OUT =~ \"calls\":\{\"unit\":\"[^\"]+\",\"median\":([0-9.]+), ]] || fail "no calls: $OUT"
    awk -v calls="${BASH_REMATCH[1]}" 'BEGIN { exit !(calls >= 0.4) }' || fail "${BASH_REMATCH[1]} calls a task; two threads can share one"
    bench work --handler-ms 2 --mixed
    figures work $names
    expect_has "$OUT" '"handler_us":{"unit":"us run time, mixed","median":2000,'
    expect_status 0 reeve bench work --handler-ms 100 --threads 8 --rounds 1
    expect_has "$OUT" "work: 120 tasks of 100 bytes, 8 threads, batch 128, 1 round, a Redis of its own"
    expect_has "$OUT" "us run time, sleeping"
    expect_has "$OUT" "worker/bare loop"
}

rounds_are_summed_up() {
    expect_status 0 reeve bench drain --rounds 3 --tasks 50
    expect_has "$OUT" "drain: 50 tasks of 100 bytes, 4 threads, batch 128, 3 rounds, a Redis of its own"
    expect_has "$OUT" "MEDIAN"
    expect_has "$ERR" "round 3 of 3"
}

wrong_usage() {
    expect_status 2 reeve bench
    expect_status 2 reeve bench drian
    expect_has "$ERR" 'did you mean "drain"?'
    expect_status 2 reeve bench mixed --threads 2 --slow 2
    expect_has "$ERR" "--slow 2: fewer than the 2 --threads"
    expect_status 2 reeve bench work --handler-ms 1 --handler-us 1000
    expect_has "$ERR" "--handler-ms and --handler-us exclude each other"
    expect_status 2 reeve bench backlog --backlog 100
    expect_has "$ERR" "at least"
    expect_status 3 reeve bench drain --redis "unix://$TEST_DIR/none.sock"
}

# Its own servers are gone, with their directories. (They end with TERM, too, when it is killed.)
nothing_is_left() {
    ! compgen -G "$TEST_DIR/reeve-bench.*" >/dev/null || fail "left: $(echo "$TEST_DIR"/reeve-bench.*)"
    "$REEVE" bench schedule --rounds 1 --tasks 5000 >/dev/null 2>"$TEST_DIR/interrupted" &
    local pid=$!
    own $pid
    wait_for 'compgen -G "$TEST_DIR/reeve-bench.*/redis.sock" >/dev/null' 20
    wait_for '[ "$(redis_at "$TEST_DIR"/reeve-bench.*/redis.sock EXISTS "reeve-bench:{schedule}:tasks")" = 1 ]' 20
    end $pid
    expect_eq "$ENDED" 143
    expect_has "$(cat "$TEST_DIR/interrupted")" "interrupted"
    ! compgen -G "$TEST_DIR/reeve-bench.*" >/dev/null || fail "left after TERM: $(echo "$TEST_DIR"/reeve-bench.*)"
}

on_a_named_redis() {
    start_redis
    redis SET "reeve-benchmark:other" 1 >/dev/null
    reeve enqueue q t >/dev/null || fail "not enqueued"
    bench drain --redis "$REDIS_URL"
    figures drain tasks_per_s
    expect_has "$OUT" '"own_redis":false'
    expect_eq "$(redis KEYS 'reeve-bench:*')" "" "keys that are left"
    redis SET "reeve-bench:mine" 1 >/dev/null
    expect_status 1 reeve bench drain --rounds 1 --tasks 50 --redis "$REDIS_URL"
    expect_has "$ERR" 'keys in the namespace "reeve-bench"'
    expect_eq "$(redis KEYS 'reeve-bench:*')" "reeve-bench:mine"
    expect_status 1 reeve bench drain --rounds 1 --tasks 50 --redis "$REDIS_URL" --ns reeve
    bench drain --redis "$REDIS_URL" --force
    bench enqueue --redis "$REDIS_URL" --ns elsewhere
    expect_eq "$(redis KEYS '*bench:*' && redis KEYS 'elsewhere*')" ""
    expect_eq "$(redis EXISTS reeve-benchmark:other)" 1
    expect_eq "$(in_queue q ready)" 1
}

kinds_tell_their_figures
work_is_measured_beside_a_bare_loop
rounds_are_summed_up
wrong_usage
nothing_is_left
on_a_named_redis

# st_size_limits.sh - how large things may be, as a user says it: to reeve by a flag and the environment, to a worker in its
# configuration; and what is said when something is larger.
. "$(dirname "$0")/lib.sh"

usage() {
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 2 reeve --size-limit payloads=5 enqueue q t
    expect_has "$ERR" '--size-limit: there is no size limit "payloads": expected payload, result, checkpoint, meta, type, id, group'
    expect_status 2 reeve enqueue q t --size-limit payload=much
    expect_has "$ERR" '--size-limit: size_limits.payload: expected a whole number such as payload=4096 or 64K, not "much"'
    expect_status 2 reeve enqueue q t --size-limit payload=65M
    expect_has "$ERR" '--size-limit: size_limits.payload: a limit of 68157440: must be from 1 to 67108864'
    export REEVE_SIZE_LIMITS=tags
    expect_status 2 reeve queues
    expect_has "$ERR" "the environment's REEVE_SIZE_LIMITS: size_limits.tags: expected a whole number"
    expect_status 0 reeve enqueue --help
    expect_has "$OUT" "--size-limit"
    unset REEVE_SIZE_LIMITS
    expect_status 3 reeve --size-limit payload=5,tags=1 queues
    unset REEVE_REDIS
}

by_flag() {
    expect_status 0 reeve enqueue q t 12345 --size-limit payload=5
    expect_status 1 reeve enqueue q t 123456 --size-limit payload=5
    expect_has "$ERR" 'the payload has 6 bytes: at most 5 (size_limits.payload raises it, up to 67108864)'
    expect_status 0 reeve enqueue q t --tag a --tag b --size-limit tags=2,tag=1
    expect_status 1 reeve enqueue q t --tag a --tag b --tag c --size-limit tags=2,tag=1
    expect_has "$ERR" '3 tags: at most 2 (size_limits.tags raises it, up to 64)'
    expect_status 1 reeve enqueue q t --group customer --size-limit group=7
    expect_has "$ERR" 'group "customer" has 8 bytes: at most 7 (size_limits.group raises it, up to 100)'
    expect_status 1 reeve enqueue q t --after q/a --after q/b --size-limit parents=1
    expect_has "$ERR" '2 parents of a task: at most 1 (size_limits.parents raises it, up to 1000000000)'
    expect_status 1 reeve cron add nightly @daily q t 123456 --size-limit payload=5
    expect_has "$ERR" 'the payload has 6 bytes: at most 5'
    expect_eq "$(in_queue q ready)" 2
}

# The flag's come over the environment's.
by_environment() {
    export REEVE_SIZE_LIMITS=payload=5,unique=3
    expect_status 1 reeve enqueue q t 123456
    expect_status 1 reeve enqueue q t --unique four
    expect_has "$ERR" 'unique key "four" has 4 bytes: at most 3 (size_limits.unique raises it, up to 200)'
    expect_status 0 reeve enqueue q t 123456 --size-limit payload=6
    expect_status 1 reeve enqueue q t 123456 --size-limit payload=6 --unique four
    printf '%s\n' '{"queue":"q","type":"t","payload":"123"}' '{"queue":"q","type":"t","payload":"1234"}' >"$TEST_DIR/bulk"
    expect_status 1 reeve enqueue --bulk --size-limit batch=1 <"$TEST_DIR/bulk"
    expect_has "$ERR" 'the payload has 6 bytes: at most 5'
    expect_eq "$(in_queue q ready)" 4
    unset REEVE_SIZE_LIMITS
}

by_configuration() {
    write_conf bad 'size_limits = { tags = 65; results = 5; };' 'pools = ( { queues = [ "w" ]; } );'
    expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf" --check
    expect_has "$ERR" 'worker.size_limits.tags: expected a whole number from 1 to 64, got 65'
    expect_has "$ERR" 'worker.size_limits.results: unknown setting'
    write_conf one 'size_limits = { result = 10; };' 'pools = ( { queues = [ "w" ]; } );'
    start_worker one
    expect_status 0 reeve enqueue w echo 0123456789 --wait --timeout 30
    expect_status 5 reeve enqueue w echo 0123456789+ --id b --wait --timeout 30
    expect_has "$ERR" 'w/b is dead: result: the result has 11 bytes: at most 10 (size_limits.result raises it, up to 16777216)'
}

usage
start_redis
by_flag
by_environment
by_configuration

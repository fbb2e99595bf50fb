# st_guards.sh - how large things may be, as a user says it: to reeve by a flag and the environment, to a worker in its
# configuration; and what is said when something is larger.
. "$(dirname "$0")/lib.sh"

usage() {
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 2 reeve --guard payloads=5 enqueue q t
    expect_has "$ERR" '--guard: there is no guard "payloads": expected payload, result, checkpoint, meta, type, id, group'
    expect_status 2 reeve enqueue q t --guard payload=much
    expect_has "$ERR" '--guard: guards.payload: expected a whole number such as payload=4096 or 64K, not "much"'
    expect_status 2 reeve enqueue q t --guard payload=65M
    expect_has "$ERR" '--guard: guards.payload: a limit of 68157440: must be from 1 to 67108864'
    export REEVE_GUARDS=tags
    expect_status 2 reeve queues
    expect_has "$ERR" "the environment's REEVE_GUARDS: guards.tags: expected a whole number"
    expect_status 0 reeve enqueue --help
    expect_has "$OUT" "--guard"
    unset REEVE_GUARDS
    expect_status 3 reeve --guard payload=5,tags=1 queues
    unset REEVE_REDIS
}

by_flag() {
    expect_status 0 reeve enqueue q t 12345 --guard payload=5
    expect_status 1 reeve enqueue q t 123456 --guard payload=5
    expect_has "$ERR" 'the payload has 6 bytes: at most 5 (guards.payload raises it, up to 67108864)'
    expect_status 0 reeve enqueue q t --tag a --tag b --guard tags=2,tag=1
    expect_status 1 reeve enqueue q t --tag a --tag b --tag c --guard tags=2,tag=1
    expect_has "$ERR" '3 tags: at most 2 (guards.tags raises it, up to 64)'
    expect_status 1 reeve enqueue q t --group customer --guard group=7
    expect_has "$ERR" 'group "customer" has 8 bytes: at most 7 (guards.group raises it, up to 100)'
    expect_status 1 reeve enqueue q t --after q/a --after q/b --guard parents=1
    expect_has "$ERR" '2 parents of a task: at most 1 (guards.parents raises it, up to 1000000000)'
    expect_status 1 reeve cron add nightly @daily q t 123456 --guard payload=5
    expect_has "$ERR" 'the payload has 6 bytes: at most 5'
    expect_eq "$(in_queue q ready)" 2
}

# The flag's come over the environment's.
by_environment() {
    export REEVE_GUARDS=payload=5,unique=3
    expect_status 1 reeve enqueue q t 123456
    expect_status 1 reeve enqueue q t --unique four
    expect_has "$ERR" 'unique key "four" has 4 bytes: at most 3 (guards.unique raises it, up to 200)'
    expect_status 0 reeve enqueue q t 123456 --guard payload=6
    expect_status 1 reeve enqueue q t 123456 --guard payload=6 --unique four
    printf '%s\n' '{"queue":"q","type":"t","payload":"123"}' '{"queue":"q","type":"t","payload":"1234"}' >"$TEST_DIR/bulk"
    expect_status 1 reeve enqueue --bulk --guard batch=1 <"$TEST_DIR/bulk"
    expect_has "$ERR" 'the payload has 6 bytes: at most 5'
    expect_eq "$(in_queue q ready)" 4
    unset REEVE_GUARDS
}

by_configuration() {
    write_conf bad 'guards = { tags = 65; results = 5; };' 'pools = ( { queues = [ "w" ]; } );'
    expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf" --check
    expect_has "$ERR" 'worker.guards.tags: expected a whole number from 1 to 64, got 65'
    expect_has "$ERR" 'worker.guards.results: unknown setting'
    write_conf one 'guards = { result = 10; };' 'pools = ( { queues = [ "w" ]; } );'
    start_worker one
    expect_status 0 reeve enqueue w echo 0123456789 --wait --timeout 30
    expect_status 1 reeve enqueue w echo 0123456789+ --id b --wait --timeout 30
    expect_has "$ERR" 'w/b is dead: result: the result has 11 bytes: at most 10 (guards.result raises it, up to 16777216)'
}

usage
start_redis
by_flag
by_environment
by_configuration

# st_no_redis.sh - a Redis that is not there, does not let one in, or refuses writes: clear words, patience, recovery.
. "$(dirname "$0")/lib.sh"

# seconds_pass N: so many heartbeats and attempts more. (What must not happen in that time cannot be waited for.)
seconds_pass() { sleep "$1"; }

not_there() {
    local cannot="cannot connect to Redis at" reason="No such file or directory"
    [ "${REEVE_TEST_OVER:-unix}" = unix ] || reason="Connection refused"
    [ "${REEVE_TEST_OVER:-unix}" != cluster ] || cannot="cannot connect to the Redis Cluster at"
    REDIS_DIR=$TEST_DIR/redis
    REDIS_SOCKET=$REDIS_DIR/redis.sock
    choose_transport
    export REEVE_REDIS=$REDIS_URL
    start_worker waiting
    wait_for '[ "$(logged waiting redis.down)" = 1 ]' 20
    expect_has "$(grep redis.down "$TEST_DIR/waiting.log")" "$cannot"
    expect_status 3 reeve enqueue q noop
    expect_eq "$OUT" ""
    expect_has "$ERR" "reeve: enqueue: $cannot"
    expect_has "$ERR" "$reason"
    expect_status 3 reeve queues --redis redis://127.0.0.1:1
    expect_has "$ERR" "redis://127.0.0.1:1: Connection refused"
    expect_status 3 reeve queues --redis redis://no-such-host.invalid
    expect_has "$ERR" "no-such-host.invalid"
    seconds_pass 1
    expect_eq "$(logged waiting redis.down)/$(logged waiting redis.up)" 1/0 "outages in the log"
    kill -0 "$WORKER_PID" || fail "the worker died"

    start_redis
    expect_status 0 reeve enqueue q echo there --wait=20
    expect_has "$OUT" "result: there"
    expect_eq "$(logged waiting redis.down)/$(logged waiting redis.up)" 1/1 "outages in the log"
    # What the configuration says of its queues is written now, too.
    wait_for '[ "$(redis HGET "reeve:{q}:settings" completed_count)" = 77 ]' 20
    end "$WORKER_PID"
    expect_eq "$ENDED" 0
}

# A worker that never saw its Redis stops all the same.
stopped_before_it_came() {
    REEVE_REDIS=unix://$TEST_DIR/nowhere.sock start_worker never
    wait_for '[ "$(logged never redis.down)" = 1 ]' 20
    end "$WORKER_PID"
    expect_eq "$ENDED" 0
    expect_eq "$(logged never redis.down)" 1
}

wrong_password() {
    local secret=tell-nobody-77
    redis CONFIG SET requirepass other >/dev/null
    export REDISCLI_AUTH=other
    expect_status 3 reeve queues
    expect_has "$ERR" "NOAUTH"
    expect_has "$ERR" "password_file="
    REEVE_REDIS=$(redis_as ":$secret")
    export REEVE_REDIS
    expect_status 3 reeve enqueue q noop
    expect_has "$ERR" "WRONGPASS"
    expect_lacks "$ERR" $secret
    start_worker locked
    wait "$WORKER_PID" # (a password that is wrong from the start will not get right by waiting)
    expect_eq $? 1 "a worker with a wrong password"
    expect_has "$(cat "$TEST_DIR/locked.log")" "WRONGPASS"
    redis CONFIG SET requirepass $secret >/dev/null
    export REDISCLI_AUTH=$secret
    start_worker locked
    expect_status 0 reeve enqueue q echo inside --wait=20
    expect_has "$OUT" "result: inside"
    end "$WORKER_PID"
    expect_eq "$ENDED" 0
    expect_lacks "$(cat "$TEST_DIR/locked.log")" $secret
    redis CONFIG SET requirepass '' >/dev/null
    unset REDISCLI_AUTH
    export REEVE_REDIS=$REDIS_URL
}

# Nothing more fits in, but what is in comes out.
full_memory() {
    local i
    start_worker full
    for ((i = 0; i < 4; i++)); do
        echo '{"type":"sleep","payload":{"ms":4000}}'
        echo '{"type":"fail","attempts":1}'
        echo '{"type":"noop"}'
    done | bulk full || exit 1
    # (A thread may hold more than the task that it runs.)
    wait_for '[ "$(in_queue full running)" -ge 2 ]' 20
    redis CONFIG SET maxmemory-policy noeviction >/dev/null
    redis CONFIG SET maxmemory 1mb >/dev/null
    [ "$(in_queue full running)" -ge 2 ] || fail "no tasks run while the memory is full"
    expect_status 1 reeve enqueue full noop
    expect_eq "$OUT" ""
    expect_has "$ERR" "reeve: enqueue: queue full: "
    expect_has "$ERR" "OOM"
    expect_status 1 reeve enqueue --bulk full noop < <(echo '{}'; echo '{}')
    expect_has "$ERR" "0 enqueued, 2 refused"
    wait_for 'is_still full 8 4' 30
    expect_eq "$(logged full session.lost)/$(logged full session.reaped)" 0/0 "sessions lost"
    redis CONFIG SET maxmemory 0 >/dev/null
    expect_status 0 reeve enqueue full noop --wait=20
    end "$WORKER_PID"
    expect_eq "$ENDED" 0
    # A line at the beginning, not one for each heartbeat.
    [ "$(logged full redis.error)" -le 2 ] || fail "$(logged full redis.error) lines about it in the log"
}

# The disk is full: the append-only file may not grow. Redis then refuses every write until it can write again.
full_disk() {
    local i errors
    stop_redis
    # (Else that limit would end it.)
    trap '' XFSZ
    start_redis --appendonly yes --appendfsync everysec --auto-aof-rewrite-percentage 0
    trap - XFSZ
    start_worker disk
    for ((i = 0; i < 4; i++)); do echo '{"type":"sleep","payload":{"ms":4000}}'; done | bulk disk || exit 1
    wait_for '[ "$(in_queue disk running)" = 2 ]' 20
    prlimit --pid "$REDIS_PID" --fsize=100000:
    head -c 200000 /dev/zero | tr '\0' x >"$TEST_DIR/large"
    # (This one finds no space. Redis has it all the same, and goes on trying to write it.)
    reeve enqueue disk echo @"$TEST_DIR/large" --id large >/dev/null
    wait_for '! redis SET probe x | grep -q OK' 20
    expect_status 1 reeve enqueue disk noop
    expect_eq "$OUT" ""
    expect_has "$ERR" "reeve: enqueue: "
    expect_has "$ERR" "MISCONF"
    wait_for '[ "$(logged disk redis.error)" -ge 1 ]' 20
    expect_has "$(grep redis.error "$TEST_DIR/disk.log")" MISCONF
    seconds_pass 3
    expect_eq "$(in_queue disk running)" 2 "tasks whose outcome the worker keeps"
    kill -0 "$WORKER_PID" || fail "the worker died"
    errors=$(logged disk redis.error)
    prlimit --pid "$REDIS_PID" --fsize=unlimited:
    wait_for 'is_still disk 5 0' 30
    expect_eq "$(in_queue disk crashed_total)" 0 "recovered tasks"
    expect_eq "$(logged disk session.lost)/$(logged disk session.reaped)" 0/0 "sessions lost"
    end "$WORKER_PID"
    expect_eq "$ENDED" 0
    # It kept what it had: nothing ran twice.
    grep -q ' leased=5 completed=5 .* given_back=0 refused=0 ' "$TEST_DIR/disk.log" || fail "$(tail -n 1 "$TEST_DIR/disk.log")"
    [ "$errors" -le 3 ] || fail "$errors lines about it in the log"
}

for name in waiting never locked full disk; do
    write_conf $name 'session = 3; drain = 5;' 'pools = ( { queues = [ "q", "full", "disk" ]; threads = 2; } );' \
        'queues = ( { name = "q"; keep = { completed = { count = 77; }; }; } );'
done
not_there
stopped_before_it_came
wrong_password
full_memory
full_disk

# st_no_wait_behind_slow.sh - a task that was leased together with a slow one does not wait for it, though tasks are taken
# many at once; and waiting costs nothing.
. "$(dirname "$0")/lib.sh"

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# Two threads that have learned that tasks are short take a batch each, in which one task turns out to be long. Fails (as a
# command) when nothing waited behind it: a busy machine may have taught them otherwise.
behind_a_slow_one() {
    local began took
    redis FLUSHALL >/dev/null
    : >"$TEST_DIR/two.log"
    start_worker two
    for ((i = 0; i < 2000; i++)); do echo '{"type":"noop"}'; done | bulk q || exit 1
    wait_for 'is_still q 2000 0' 30
    reeve pause q >/dev/null
    {
        for ((i = 0; i < 50; i++)); do echo '{"type":"noop"}'; done
        echo '{"type":"sleep","payload":{"ms":60000},"id":"slow"}'
        for ((i = 0; i < 200; i++)); do echo '{"type":"noop"}'; done
    } | bulk q || exit 1
    began=$(now_ms)
    reeve resume q >/dev/null
    wait_for '[ "$(redis ZCARD "reeve:{q}:completed")" = 2250 ]' 5
    took=$(($(now_ms) - began))
    expect_eq "$(of_task q/slow state)" '"running"'
    expect_status 0 reeve cancel q/slow
    wait_for 'is_still q 2250 0' 20
    end "$WORKER_PID"
    echo "250 short tasks took $took ms beside a slow one"
    grep -q ' event=program.ended .* given_back=[1-9]' "$TEST_DIR/two.log"
}

# cpu_ms PID: the processor time that it has used, utime and stime, in ms.
cpu_ms() {
    local stat fields
    stat=$(cat "/proc/$1/stat")
    read -ra fields <<<"${stat##*) }"
    echo $(((fields[11] + fields[12]) * 1000 / $(getconf CLK_TCK)))
}

blocked() { redis INFO clients | tr -d '\r' | sed -n 's/^blocked_clients://p'; }

# What Redis hears in three seconds from a worker with sixteen idle threads: heartbeats (each a script for the session, the
# worker's record and the format, and the PING of the subscription, every third of a session), a look after the queue or
# two, one after partitions that it may have had, once a session, and nothing else.
idle() {
    local before used monitor began took beats
    start_worker idle
    wait_for '[ "$(blocked)" = 16 ]' 20
    for ((i = 0; i < 500; i++)); do echo '{"type":"noop"}'; done | bulk idle || exit 1
    wait_for 'is_still idle 500 0 && [ "$(blocked)" = 16 ]' 30
    # (What is tidied up after work is done by then.)
    sleep 0.5
    # (On a busy machine the monitor hears for longer than three seconds, and begins to some time before they begin.)
    began=$(now_ms)
    redis-cli -s "$REDIS_SOCKET" MONITOR >"$TEST_DIR/heard" &
    monitor=$!
    own $monitor
    wait_for 'grep -q OK "$TEST_DIR/heard"' 20
    before=$(cpu_ms "$WORKER_PID")
    sleep 3
    used=$(($(cpu_ms "$WORKER_PID") - before))
    end $monitor
    took=$(($(now_ms) - began))
    grep '^[0-9]' "$TEST_DIR/heard" | grep -v '^[0-9.]* \[[0-9]* lua\]' | sed 's/^[^"]*"\([^"]*\)".*/\1/' >"$TEST_DIR/asked"
    expect_eq "$(sort -u "$TEST_DIR/asked" | paste -sd' ')" "EVALSHA HGETALL PING SADD SET SMISMEMBER" "what was asked for"
    beats=$(grep -c '"SET" "reeve:worker:' "$TEST_DIR/heard")
    [ "$beats" -ge 2 ] && [ "$beats" -le $((took / 1000 + 1)) ] || fail "$beats heartbeats in $took ms"
    [ "$(wc -l <"$TEST_DIR/asked")" -le $((6 * beats + took / 1000 + took / 3000 + 1)) ] ||
        fail "$(wc -l <"$TEST_DIR/asked") calls in $took ms while nothing was to do"
    [ -n "$SANITIZED" ] || [ $used -lt $((50 * took / 3000)) ] || fail "idle threads used $used ms in $took ms"
    end "$WORKER_PID"
    echo "16 idle threads used $used ms in $took ms, with $(wc -l <"$TEST_DIR/asked") calls"
}

start_redis
write_conf two 'session = 3;' 'pools = ( { queues = [ "q" ]; threads = 2; } );'
write_conf idle 'session = 3;' 'pools = ( { queues = [ "idle" ]; threads = 16; } );'
for attempt in 1 2 3 4 5 none; do
    [ "$attempt" != none ] || fail "nothing waited behind the slow one"
    behind_a_slow_one && break
done
idle

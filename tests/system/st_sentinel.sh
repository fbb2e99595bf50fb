# st_sentinel.sh - redis-sentinel:// URLs: a worker and producers follow the master over two failovers, one of a killed
# master and one by command; Sentinels that cannot be reached, that do not know the name, and that name a replica.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_sentinel.sh"

start_nodes
export REEVE_REDIS=$SENTINEL_URL

named() {
    expect_status 0 reeve ping
    expect_has "$OUT" "127.0.0.1:${PORTS[0]}"
    expect_has "$OUT" "127.0.0.1:${SENTINELS[1]}"
    # The others are learnt from the one that answers.
    expect_status 0 reeve ping --json --redis "redis-sentinel://127.0.0.1:1,127.0.0.1:${SENTINELS[1]}/main"
    expect_has "$OUT" "\"master\":\"127.0.0.1:${PORTS[0]}\""
    expect_has "$OUT" "\"127.0.0.1:${SENTINELS[2]}\""
    expect_status 0 reeve doctor
}

refused() {
    expect_status 3 reeve ping --redis redis-sentinel://127.0.0.1:1,127.0.0.1:2/main
    expect_has "$ERR" "no Sentinel can be reached (tried 2; 127.0.0.1 port 1: Connection refused)"
    expect_status 3 reeve ping --redis "redis-sentinel://127.0.0.1:1,127.0.0.1:${SENTINELS[0]}/other"
    expect_has "$ERR" "no Sentinel knows a master named \"other\" (1 of 2 Sentinels answered)"
    expect_status 3 reeve ping --redis "redis-sentinel://127.0.0.1:${PORTS[0]}/main"
    expect_has "$ERR" "what listens there is no Sentinel"
    expect_status 3 reeve ping --redis "redis://127.0.0.1:${SENTINELS[0]}"
    expect_has "$ERR" "this server is a Sentinel, or has no command GET: "
    expect_status 2 reeve ping --redis "redis-sentinel://127.0.0.1/main?sentinel_pasword=secret"
    expect_lacks "$ERR" secret
}

# A Sentinel that was cut off names a server that is no master: another one is asked.
stale() {
    local lonely
    start_server lonely --replicaof "127.0.0.1 1"
    lonely=$PORT
    echo "sentinel monitor main 127.0.0.1 $lonely 2" >"$TEST_DIR/stale.conf"
    start_node stale redis-server "$TEST_DIR/stale.conf" --sentinel --bind 127.0.0.1
    expect_status 0 reeve ping --redis "redis-sentinel://127.0.0.1:$PORT,127.0.0.1:${SENTINELS[0]}/main"
    expect_has "$OUT" "127.0.0.1:${PORTS[0]}"
    expect_status 3 reeve ping --redis "redis-sentinel://127.0.0.1:$PORT/main"
    expect_has "$ERR" "127.0.0.1 port $lonely: Sentinel names this server as the master, but it is a replica"
    end "${PIDS[$PORT]}"
    end "${PIDS[$lonely]}"
}

named
refused
stale

write_conf w "session = 2;" 'pools = ( { queues = [ "q" ]; threads = 3; } );'
start_worker w
expect_status 0 reeve enqueue q echo before --wait

# load: enqueues one task after the other until it is told to stop, and keeps the handles of those that both replicas, or the
# one that is left, have confirmed: these are not lost, whichever replica becomes the master.
load() {
    local n=0 handle
    while [ ! -e "$TEST_DIR/enough" ]; do
        n=$((n + 1))
        handle=$("$REEVE" enqueue q echo "n$n" --wait-replicas 2 --wait-replicas-for 0.05 2>>"$TEST_DIR/refused.log") &&
            echo "$handle" >>"$TEST_DIR/confirmed"
        [ -z "$handle" ] || echo "$handle" >>"$TEST_DIR/acknowledged"
    done
}

# confirmed N: so many tasks have been.
confirmed() { wait_for "[ \$(wc -l <'$TEST_DIR/confirmed') -ge $1 ]" 20; }

# failover HOW...: under load; then as many tasks have run as before, and more.
failover() {
    local before epoch
    before=$(wc -l <"$TEST_DIR/acknowledged")
    epoch=$(sentinel_epoch "${SENTINELS[0]}")
    "$@"
    wait_for "moved_since $epoch" 20
    MASTER=$(master_port)
    # Producers go on, and the worker: it has left the old master.
    wait_for '[ $(wc -l <"$TEST_DIR/acknowledged") -gt $((before + 20)) ]' 20
    expect_status 0 reeve enqueue q echo after --wait
}

kill_master() {
    kill -KILL "${PIDS[$MASTER]}"
    wait "${PIDS[$MASTER]}" 2>/dev/null
}

# Not while the Sentinels still finish the failover before.
by_command() {
    until [ "$(redis_at "${SENTINELS[0]}" SENTINEL FAILOVER main)" = OK ]; do sleep 0.1; done
}

MASTER=${PORTS[0]}
: >"$TEST_DIR/confirmed" >"$TEST_DIR/acknowledged"
load &
LOAD=$!
own $LOAD
confirmed 20
failover kill_master
start_again "${PORTS[0]}" --replicaof "127.0.0.1 $MASTER"
wait_for 'redis_at "${PORTS[0]}" ROLE 2>/dev/null | grep -q connected' 20
confirmed $(($(wc -l <"$TEST_DIR/confirmed") + 20))
failover by_command
touch "$TEST_DIR/enough"
wait $LOAD
wait_for '[ "$(in_queue q ready)" = 0 ] && [ "$(in_queue q running)" = 0 ]' 20
# The audit.
xargs -n 200 "$REEVE" show --json <"$TEST_DIR/confirmed" >"$TEST_DIR/shown" 2>"$TEST_DIR/missing"
expect_eq "$(cat "$TEST_DIR/missing")" "" "tasks that were confirmed and are lost"
expect_eq "$(grep -vc '"state":"completed"' "$TEST_DIR/shown")" 0 "tasks that were confirmed and did not run"
expect_has "$(cat "$TEST_DIR/w.log")" "event=redis.moved"
end "$WORKER_PID"
expect_eq "$ENDED" 0


#!/usr/bin/env bash
# st_cluster_failover.sh - the master of a queue is killed under load, and its replica takes over: what was acknowledged and
# replicated runs, once, and workers and clients find the new master by themselves.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster.sh"

# queue_on NODE
queue_on() {
    local name
    for name in a b c d e f g h i j k l; do
        if [ "$(node_of "$name" 3)" = "$1" ]; then
            echo "$name"
            return
        fi
    done
    fail "no queue for node $1"
}

# acknowledged: how many tasks the load was acknowledged.
acknowledged() { wc -l <"$TEST_DIR/acknowledged"; }

# Enqueues one task after the other until the file `stop` exists; those that are not acknowledged are tried again under the
# same id.
load() {
    local i=0
    while [ ! -e "$TEST_DIR/stop" ]; do
        i=$((i + 1))
        until reeve enqueue "$Q" noop '{}' --id "t$i" 2>>"$TEST_DIR/load.err" || grep -q "exists" "$TEST_DIR/load.err"; do
            [ ! -e "$TEST_DIR/stop" ] || return 0
        done
    done >>"$TEST_DIR/acknowledged"
}

a_master_is_killed() {
    local before
    : >"$TEST_DIR/acknowledged"
    load &
    local load=$!
    own "$load"
    wait_for '[ "$(acknowledged)" -gt 50 ]' 10
    # What was acknowledged by now is to be at the replica.
    printf '%s\n' "SET {$Q}mark 1" "WAIT 1 5000" "DEL {$Q}mark" | node 0 >/dev/null
    end "${NODE_PID[0]}" KILL
    before=$(acknowledged)
    wait_for "node 3 ROLE | grep -q master" 20
    wait_for "[ \"\$(acknowledged)\" -gt $((before + 50)) ]" 20
    touch "$TEST_DIR/stop"
    wait "$load"
}

# Redis replicates without waiting: of what it acknowledged in the last moment it may have lost some, and no more.
nearly_all_have_run_once() {
    local total completed accepted
    total=$(acknowledged)
    wait_for "[ \"\$(in_queue $Q ready)\" = 0 ] && [ \"\$(in_queue $Q running)\" = 0 ]" 30
    completed=$(in_queue "$Q" completed)
    accepted=$(node 3 HGET "reeve:{$Q}:counters" completed)
    expect_eq "$accepted" "$completed" "tasks whose outcome was accepted, and completed tasks"
    [ "$completed" -ge $((total - 5)) ] || fail "$total tasks were acknowledged, $completed have run"
    expect_status 0 reeve check "$Q"
    echo "acknowledged $total, completed $completed"
}

# The worker's threads are idle again, and alive on the new master.
tasks_are_handed_over() {
    expect_status 0 reeve enqueue "$Q" echo '"again"' --wait --timeout 20
    expect_has "$OUT" again
    # The pool over both nodes serves the other node alone: it has left the old master.
    expect_status 0 reeve enqueue "$OTHER" echo '"too"' --wait --timeout 20
    expect_has "$OUT" too
}

export CLUSTER_TIMEOUT=500
start_cluster 3 1
Q=$(queue_on 0) OTHER=$(queue_on 1)
export REEVE_REDIS=redis-cluster://127.0.0.1:${PORT[0]},127.0.0.1:${PORT[1]},127.0.0.1:${PORT[2]}
write_conf w "session = 3.0" "pools = ( { name = \"p\"; queues = [ \"$Q\" ]; threads = 1; }," \
    "{ name = \"both\"; queues = [ \"$OTHER\", \"$Q\" ]; threads = 2; } );"
start_worker w
a_master_is_killed
nearly_all_have_run_once
tasks_are_handed_over
end "$WORKER_PID"
expect_eq "$ENDED" 0 "exit status of the worker"

#!/usr/bin/env bash
# st_cluster.sh - a Redis Cluster of three masters: verbs and workers with queues on all of them, and a queue's slot that
# moves while its tasks run.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster.sh"

# queue_on NODE: the name of a queue that the node serves.
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

verbs_reach_all_nodes() {
    local q
    for q in "$A" "$B" "$C"; do
        expect_status 0 reeve enqueue "$q" noop '{}' --id one
        expect_eq "$(of_task "$q/one" state)" '"ready"'
    done
    for q in "$A" "$B" "$C"; do printf '{"queue":"%s","type":"noop"}\n' "$q" "$q" "$q"; done >"$TEST_DIR/lines"
    expect_status 0 reeve enqueue --bulk <"$TEST_DIR/lines"
    expect_lines 9
    for q in "$A" "$B" "$C"; do expect_eq "$(in_queue "$q" ready)" 4; done
    expect_status 0 reeve queues
    expect_lines 4
    expect_status 0 reeve list "$B"
    expect_has "$OUT" "$B/one"
    expect_status 0 reeve stats
    expect_status 0 reeve check "$A" "$B" "$C"
    # A child waits for a parent on another node.
    expect_status 0 reeve enqueue "$A" noop --id child --after "$B/one"
    expect_eq "$(of_task "$A/child" state)" '"blocked"'
    expect_status 0 reeve cron add nightly '0 3 * * *' "$C" noop
    expect_status 0 reeve cron list
    expect_has "$OUT" nightly
    expect_status 1 reeve doctor
    expect_has "$OUT" "queues: 3"
    expect_has "$OUT" "node 127.0.0.1:${PORT[2]}: 546"
}

# Nobody serves the queue of a parent, which is on another node: the command that ends it tells the child.
ends_are_told_across_nodes() {
    local id
    for id in exec token retried; do
        expect_status 0 reeve enqueue "$A" noop --id "$id" --attempts 1
        expect_status 0 reeve enqueue "$B" noop --id "$id" --after "$A/$id:go"
        expect_status 0 reeve enqueue "$C" noop --id "$id" --after "$A/$id"
    done
    expect_status 0 reeve lease "$A/exec" --exec true
    expect_eq "$(of_task "$B/exec" state) $(of_task "$C/exec" state)" '"ready" "ready"'
    expect_status 0 reeve lease "$A/token" --json
    expect_status 0 reeve settle "$A/token" fail --lease "$(printf '%s' "$OUT" | sed 's/.*"lease":"\([^"]*\)".*/\1/')"
    expect_eq "$(of_task "$B/token" state) $(of_task "$C/token" state)" '"ready" "dead"'
    expect_status 0 reeve fail "$A/retried"
    expect_eq "$(of_task "$B/retried" state) $(of_task "$C/retried" state)" '"ready" "dead"'
    expect_status 0 reeve retry "$A/retried" "$C/retried"
    expect_eq "$(of_task "$C/retried" state)" '"blocked"'
    expect_status 0 reeve lease "$A/retried" --exec true
    expect_eq "$(of_task "$C/retried" state)" '"ready"'
    for id in exec token retried; do expect_status 0 reeve delete "$A/$id" "$B/$id" "$C/$id"; done
}

# Enough for bulk inserts, which are transactions.
many_tasks_come_in_transactions() {
    seq 300 | sed 's/.*/{"type":"noop"}/' | bulk "$B" || exit 1
    expect_eq "$(in_queue "$B" ready)" 304
    node 1 INFO commandstats | grep -q 'cmdstat_exec:' || fail "nothing was bulk-inserted"
}

a_worker_serves_queues_of_all_nodes() {
    write_conf w "session = 5.0" "pools = ( { name = \"a\"; queues = [ \"$A\" ]; threads = 2; }," \
        "{ name = \"b\"; queues = [ \"$B\" ]; threads = 2; }, { name = \"c\"; queues = [ \"$C\" ]; threads = 2; } );"
    start_worker w
    wait_for "is_still $A 5 0 && is_still $B 304 0 && is_still $C 4 0" 10
    # Its record comes with its first heartbeat, which its first tasks do not wait for.
    wait_for 'reeve workers 2>/dev/null | grep -qw w' 10
    # Idle threads are handed their tasks on each node.
    local q
    for q in "$A" "$B" "$C"; do expect_status 0 reeve enqueue "$q" echo '"hi"' --wait --timeout 10; done
}

# Tasks come, run and end while the queue's slot moves there and back.
a_slot_moves_under_load() {
    local slot i
    slot=$(slot_of "$C")
    (
        for ((i = 0; i < 20; i++)); do
            seq 50 | sed 's/.*/{"type":"noop"}/' | reeve enqueue --bulk "$C" || exit 1
        done >"$TEST_DIR/acknowledged" 2>"$TEST_DIR/load.err"
    ) &
    local load=$!
    own "$load"
    wait_for "[ \$(in_queue $C completed) -gt 50 ]" 10
    move_slot "$slot" 2 0
    move_slot "$slot" 0 1
    wait "$load" || fail "not all was enqueued: $(cat "$TEST_DIR/load.err")"
    expect_eq "$(wc -l <"$TEST_DIR/acknowledged")" 1000 "acknowledged"
    wait_for "is_still $C 1005 0" 20
    for i in 0 2; do expect_eq "$(node "$i" CLUSTER COUNTKEYSINSLOT "$slot")" 0 "keys left behind"; done
    expect_eq "$(node 1 HGET "reeve:{$C}:counters" completed)" 1005 "outcomes accepted"
    expect_status 0 reeve check "$C"
}

a_plain_url_says_what_to_do() {
    run env REEVE_REDIS="redis://127.0.0.1:${PORT[0]}" "$REEVE" enqueue "$B" noop
    [ "$STATUS" != 0 ] || fail "the task was enqueued"
    expect_has "$ERR" "redis-cluster://"
}

start_cluster 3
A=$(queue_on 0) B=$(queue_on 1) C=$(queue_on 2)
ends_are_told_across_nodes
verbs_reach_all_nodes
many_tasks_come_in_transactions
a_plain_url_says_what_to_do
a_worker_serves_queues_of_all_nodes
a_slot_moves_under_load
end "$WORKER_PID"
expect_eq "$ENDED" 0 "exit status of the worker"

# A password that is read from a file reaches each node.
umask 077
echo hush >"$TEST_DIR/password"
for i in 0 1 2; do node "$i" CONFIG SET requirepass hush >/dev/null; done
expect_status 3 reeve list "$A"
for queue in "$A" "$B" "$C"; do
    expect_status 0 env REEVE_REDIS="$REEVE_REDIS?password_file=$TEST_DIR/password" "$REEVE" enqueue "$queue" noop
done

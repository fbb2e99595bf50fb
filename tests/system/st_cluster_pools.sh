#!/usr/bin/env bash
# st_cluster_pools.sh - one pool over queues of all nodes of a Redis Cluster: tasks of each node run, orders hold across the
# nodes, idle threads wait for all nodes at once, and a slot moves while they wait.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster.sh"

# queue_on NODE [LETTERS]: the name of a queue that the node serves.
queue_on() {
    local name
    for name in ${2:-a b c d e f g h i j k l}; do
        if [ "$(node_of "$name" 3)" = "$1" ]; then
            echo "$name"
            return
        fi
    done
    fail "no queue for node $1"
}

# fill QUEUE COUNT
fill() { seq "$2" | sed 's/.*/{"type":"noop"}/' | bulk "$1" || exit 1; }

# waits_on NODE: how many threads wait there.
waits_on() { node "$1" CLIENT LIST | grep -c 'cmd=blpop'; }

# start_pool NAME THREADS SETTING...: a worker with one pool over all three queues.
start_pool() {
    local name=$1 threads=$2
    shift 2
    write_conf "$name" "session = 5.0" \
        "pools = ( { name = \"all\"; queues = [ \"$A\", \"$B\", \"$C\" ]; threads = $threads; $* } );"
    start_worker "$name"
}

# as_a_user COMMAND...: with the rights of a worker and no others, on each node.
as_a_user() {
    local i rules url=$REEVE_REDIS
    rules=$(reeve acl worker)
    # shellcheck disable=SC2086
    for i in 0 1 2; do node "$i" ACL SETUSER w on '>w' $rules >/dev/null; done
    REEVE_REDIS=redis-cluster://w:w@${REEVE_REDIS#*//}
    "$@"
    REEVE_REDIS=$url
}

tasks_of_all_nodes_run() {
    fill "$A" 300
    fill "$B" 300
    fill "$C" 300
    as_a_user start_pool w 2 ""
    wait_for "is_still $A 318 0 && is_still $B 318 0 && is_still $C 318 0" 10
}

# Each thread blocks on each node.
an_idle_thread_waits_on_all_nodes() {
    local q i
    for i in 0 1 2; do wait_for "[ \$(waits_on $i) = 2 ]" 10; done
    for q in "$A" "$B" "$C" "$A" "$C" "$B"; do expect_status 0 reeve enqueue "$q" echo '"hi"' --wait --timeout 10; done
    for i in 0 1 2; do wait_for "[ \$(waits_on $i) = 2 ]" 10; done
}

# begun NODE: how many waits have begun there.
begun() { node "$1" INFO commandstats | sed -n 's/^cmdstat_blpop:calls=\([0-9]*\).*/\1/p'; }

# The wait of a thread ends when a task comes, and not before.
idle_threads_do_not_poll() {
    local before
    before=$(begun 0)
    sleep 0.2
    expect_eq "$(begun 0)" "$before" "waits that began meanwhile"
}

# More than a thread takes at once comes to all nodes at once: all threads are woken, and nothing is forgotten.
bursts_are_run_to_the_end() {
    local i want
    for i in 1 2 3 4 5; do
        for q in "$A" "$B" "$C"; do printf '{"queue":"%s","type":"noop"}\n' "$q" "$q" "$q" "$q"; done
    done >"$TEST_DIR/lines"
    want=$(($(in_queue "$A" completed) + 20))
    expect_status 0 reeve enqueue --bulk <"$TEST_DIR/lines"
    wait_for "[ \$(in_queue $A completed) = $want ]" 10
    for q in "$A" "$B" "$C"; do
        wait_for "[ \"\$(in_queue $q ready)\" = 0 ] && [ \"\$(in_queue $q running)\" = 0 ]" 10
    done
}

# order_of PREFIX: the queues, as letters, of the tasks with such ids, in the order in which they ended.
order_of() {
    local i q
    for q in 0:$A:a 1:$B:b 2:$C:c; do
        IFS=: read -r i q letter <<<"$q"
        node "$i" ZRANGE "reeve:{$q}:completed" 0 -1 WITHSCORES | paste - - | grep "^$1" | sed "s/.*\t\(.*\)/\1 $letter/"
    done | sort -n | sed 's/.* //' | tr -d '\n'
}

# runs_in_order PREFIX SETTING...: one thread runs six tasks of each queue, which were there before it came. ORDER: as it ran them.
runs_in_order() {
    local prefix=$1 q i
    shift
    for q in "$C" "$B" "$A"; do
        for i in 1 2 3 4 5 6; do echo "{\"type\":\"sleep\",\"payload\":{\"ms\":3},\"id\":\"$prefix$i\"}"; done | bulk "$q" || exit 1
    done
    start_pool "$prefix" 1 "batch = 1; $*"
    wait_for "ORDER=\$(order_of $prefix) && [ \${#ORDER} = 18 ]" 10
    end "$WORKER_PID"
}

orders_hold_across_nodes() {
    runs_in_order strict 'order = "strict";'
    expect_eq "$ORDER" aaaaaabbbbbbcccccc strict
    runs_in_order robin 'order = "round-robin";'
    expect_eq "$ORDER" abcabcabcabcabcabc round-robin
    runs_in_order weighted 'order = "weighted"; weights = [ 3, 1, 1 ];'
    expect_eq "$(printf '%.10s' "$ORDER" | tr -cd a | wc -c)" 6 "of the first ten tasks, those of the queue with weight 3: $ORDER"
}

a_slot_moves_while_threads_wait() {
    local slot
    slot=$(slot_of "$B")
    move_slot "$slot" 1 2
    expect_status 0 reeve enqueue "$B" echo '"there"' --wait --timeout 20
    expect_status 0 reeve enqueue "$A" echo '"here"' --wait --timeout 20
    expect_status 0 reeve check "$A" "$B" "$C"
}

start_cluster 3
A=$(queue_on 0) B=$(queue_on 1) C=$(queue_on 2)
orders_hold_across_nodes
tasks_of_all_nodes_run
an_idle_thread_waits_on_all_nodes
idle_threads_do_not_poll
bursts_are_run_to_the_end
a_slot_moves_while_threads_wait
end "$WORKER_PID"
expect_eq "$ENDED" 0 "exit status of the worker"
expect_lacks "$(cat "$TEST_DIR/w.log")" NOPERM

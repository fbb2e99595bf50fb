#!/usr/bin/env bash
# st_cluster_partitions.sh - one queue with partitions on all nodes of a Redis Cluster of three masters: producers and a worker
# use it, its number of partitions changes under load, and a killed worker's tasks run again.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster.sh"

# nodes_of COUNT: the nodes that have a partition of the queue.
nodes_of() {
    local k name
    for ((k = 0; k < $1; k++)); do
        name=mail
        [ "$k" = 0 ] || name="mail~$k"
        node_of "$name" 3
    done | sort -u | wc -l
}

# count_tasks: on each node, the tasks that it has.
count_tasks() {
    local i key
    for i in 0 1 2; do
        for key in $(node "$i" --scan --pattern 'reeve:{mail*}:tasks'); do node "$i" HLEN "$key"; done | awk '{n += $1} END {print n + 0}'
    done
}

start_cluster 3
expect_status 0 reeve partition mail 8
expect_eq "$(nodes_of 8)" 3 "nodes with partitions"
for i in 1 2 3 4 5 6 7 8; do
    seq 250 | sed "s/.*/{\"type\":\"noop\",\"id\":\"t$i-&\"}/" | bulk mail || exit 1
done
expect_eq "$(in_queue mail ready)" 2000
for i in $(count_tasks); do [ "$i" -gt 0 ] || fail "a node has $i tasks"; done
expect_eq "$(of_task "$(sed -n 100p "$TEST_DIR/handles")" state)" '"ready"'
expect_status 0 reeve enqueue mail noop --id child --after "$(sed -n 5p "$TEST_DIR/handles")" --unique k
expect_eq "$(of_task mail/child state)" '"blocked"'

write_conf w "session = 6.0" 'pools = ( { name = "all"; queues = [ "mail" ]; threads = 4; } );'
start_worker w
wait_for 'is_still mail 2001 0' 40
expect_has "$(reeve enqueue mail echo '{"a":1}' --wait)" 'result: {"a":1}'

(
    for ((i = 0; i < 40; i++)); do
        seq 20 | sed 's/.*/{"type":"noop"}/' | reeve enqueue --bulk mail || exit 1
        sleep 0.3
    done >"$TEST_DIR/load" 2>"$TEST_DIR/load.err"
) &
LOAD=$!
own "$LOAD"
wait_for '[ "$(wc -l <"$TEST_DIR/load")" -gt 20 ]' 20
expect_status 0 reeve partition mail 12 --no-wait
kill -9 "$WORKER_PID"
start_worker w
expect_status 0 timeout 100 "$REEVE" partition mail 12
wait "$LOAD" || fail "not all was enqueued: $(cat "$TEST_DIR/load.err")"
wait_for 'is_still mail 2802 0' 60
expect_status 0 timeout 100 "$REEVE" partition mail 3
expect_eq "$(of_task "$(sed -n 400p "$TEST_DIR/load")" state)" '"completed"'
expect_status 0 reeve check mail
end "$WORKER_PID"

# A shell leases from all nodes, and events of all nodes are watched.
expect_status 0 reeve partition pulled 6
"$REEVE" watch pulled >"$TEST_DIR/watched" 2>&1 &
own $!
wait_for '[ "$(node "$(node_of "pulled~5" 3)" HEXISTS "reeve:{pulled~5}:settings" events_until)" = 1 ]' 20
for i in 1 2 3 4 5 6 7 8; do reeve enqueue pulled echo "\"$i\"" --id "p$i" >/dev/null || fail "not enqueued"; done
expect_status 0 reeve lease pulled --id p4 --for 1m --json
expect_status 0 reeve settle pulled/p4 "done" --lease "$(member lease "$OUT" | tr -d '"')"
expect_status 1 reeve lease pulled --id nope
expect_has "$ERR" "there is no task pulled/nope"
for i in 1 2 3 4 5 6 7; do expect_status 0 reeve lease pulled --wait 10 --exec cat; done
for i in 1 2 3 4 5 6 7 8; do expect_eq "$(of_task "pulled/p$i" state)" '"completed"'; done
wait_for '[ "$(grep -c completed "$TEST_DIR/watched")" = 8 ]' 20

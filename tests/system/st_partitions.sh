#!/usr/bin/env bash
# st_partitions.sh - a queue with partitions: every verb takes it as one queue; its number of partitions grows and shrinks
# while it is used, and while a worker is killed.
. "$(dirname "$0")/lib.sh"

# placed QUEUE: the number of tasks that this partition has.
placed() { redis HLEN "reeve:{$1}:tasks"; }

producers_spread_their_tasks() {
    expect_status 0 reeve limit mail --key gpu --concurrency 2
    expect_status 0 reeve limit mail --type rare --rate 5/1m
    expect_status 0 reeve partition mail 4
    expect_has "$OUT" "mail: 4 partitions"
    expect_has "$(reeve limit mail~3 --json)" '"key":"gpu","concurrency":2'
    expect_has "$(reeve limit mail~3 --json)" '"type":"rare"'
    seq 1000 | sed 's/.*/{"type":"noop"}/' | bulk mail || exit 1
    local q
    for q in mail mail~1 mail~2 mail~3; do [ "$(placed "$q")" -gt 0 ] || fail "$q has $(placed "$q") tasks"; done
    expect_eq "$(in_queue mail ready)" 1000
    expect_status 0 reeve queues
    expect_lines 2
    # The id names the partition: a handle is found at once.
    expect_eq "$(of_task "$(sed -n 700p "$TEST_DIR/handles")" state)" '"ready"'
    expect_status 0 reeve list mail --limit 0
    expect_lines 1001
}

keys_and_groups_stay_together() {
    local i
    for i in 1 2 3 4 5 6; do reeve enqueue mail noop --group ann --id "g$i" >/dev/null; done
    expect_eq "$(reeve enqueue mail noop --unique k --id u1)" mail/u1
    expect_status 1 reeve enqueue mail noop --unique k
    expect_has "$ERR" 'is held by mail/u1'
    local q count=0
    for q in mail mail~1 mail~2 mail~3; do
        [ "$(redis HEXISTS "reeve:{$q}:tasks" g1)" = 0 ] || count=$(redis HMGET "reeve:{$q}:tasks" g1 g2 g3 g4 g5 g6 | grep -c type)
    done
    expect_eq "$count" 6 "tasks of a group in one partition"
    expect_status 0 reeve unlock mail k
    expect_eq "$(reeve enqueue mail noop --unique k --id u2)" mail/u2
}

# calls COMMAND: how often Redis has executed it.
calls() { redis INFO commandstats | sed -n "s/^cmdstat_$1:calls=\([0-9]*\).*/\1/p"; }

# Each call goes to another partition. With the name of a queue that it does not know, a client also sends a SET.
names_are_entered_once() {
    local before
    expect_status 0 reeve partition wide 16
    before=$(calls set)
    seq 15000 | sed 's/.*/{"type":"noop"}/' | bulk wide || exit 1
    [ $(($(calls set) - before)) -le 16 ] || fail "the names of 16 partitions were entered by $(($(calls set) - before)) calls"
    expect_status 0 reeve forget wide --all --force
}

verbs_take_it_as_one() {
    expect_status 0 reeve show mail/u2
    expect_has "$OUT" "mail/u2"
    expect_status 0 reeve reschedule mail/u2 --in 1h
    expect_eq "$(of_task mail/u2 state)" '"scheduled"'
    expect_status 0 reeve why mail/u2
    expect_status 0 reeve cancel mail/u2
    expect_status 0 reeve retry mail/u2
    expect_status 0 reeve edit mail/u2 --priority 3
    expect_status 0 reeve delete mail/u2
    expect_status 1 reeve show mail/u2
    expect_status 0 reeve pause mail
    expect_eq "$(redis EXISTS 'reeve:{mail~2}:paused')$(redis EXISTS 'reeve:{mail}:paused')" \
        "$(redis EXISTS 'reeve:{mail~3}:paused')$(redis EXISTS 'reeve:{mail~1}:paused')"
    expect_has "$(reeve queues mail --json)" '"paused":true'
    expect_status 0 reeve resume mail
    expect_status 0 reeve settings mail --payload-max 5000
    expect_has "$(reeve settings mail~3)" 5000
    expect_status 2 reeve limit mail --concurrency 3
    expect_has "$ERR" "cannot be shared by 4 partitions"
    expect_status 0 reeve limit mail --concurrency 10
    expect_has "$(reeve limit mail)" "10 ("
    expect_has "$(reeve limit mail~0)" "3 ("
    expect_has "$(reeve limit mail~3)" "2 ("
    expect_status 0 reeve limit mail --concurrency none
    expect_status 0 reeve check mail
    expect_status 0 reeve stats mail
    expect_status 1 reeve forget mail
    expect_has "$ERR" "tasks are in it"
    expect_status 0 reeve enqueue mail noop --id child --after mail/g1 --tag t
    expect_eq "$(of_task mail/child state)" '"blocked"'
    expect_status 0 reeve list mail --tag t
    expect_has "$OUT" mail/child
}

a_pool_serves_all_partitions() {
    write_conf w "session = 6.0" 'pools = ( { name = "all"; queues = [ "mail" ]; threads = 3; } );'
    start_worker w
    wait_for 'is_still mail 1008 0' 20
    expect_eq "$(of_task mail/child state)" '"completed"'
    expect_status 0 reeve wait mail/g3
    expect_has "$OUT" completed
    expect_has "$(reeve enqueue mail echo '{"a":1}' --wait)" 'result: {"a":1}'
    expect_status 0 reeve workers
    end "$WORKER_PID"
}

# More partitions, then fewer, under load. A killed worker's tasks run again; each handle stays valid.
the_number_changes_under_load() {
    write_conf x "session = 6.0" 'pools = ( { name = "all"; queues = [ "mail" ]; threads = 3; } );'
    start_worker x
    : >"$TEST_DIR/load"
    (
        for ((i = 0; i < 60; i++)); do
            seq 20 | sed 's/.*/{"type":"sleep","payload":{"ms":2}}/' | reeve enqueue --bulk mail || exit 1
            reeve enqueue mail noop --group "grp$((i % 7))" || exit 1
            sleep 0.3
        done >>"$TEST_DIR/load" 2>"$TEST_DIR/load.err"
    ) &
    local load=$!
    own "$load"
    wait_for '[ "$(wc -l <"$TEST_DIR/load")" -gt 40 ]' 20
    # It is interrupted, and continued.
    expect_status 0 reeve partition mail 7 --no-wait
    expect_eq "$(member changing "$(reeve partition mail --json)")" true
    expect_status 1 reeve partition mail 9
    expect_has "$ERR" "being changed from 4 to 7"
    own "$WORKER_PID"
    kill -9 "$WORKER_PID"
    start_worker x
    expect_status 0 timeout 100 "$REEVE" partition mail 7
    expect_has "$OUT" "mail: 7 partitions"
    expect_status 0 timeout 100 "$REEVE" partition mail 2
    expect_has "$OUT" "mail: 2 partitions"
    wait "$load" || fail "not all was enqueued: $(cat "$TEST_DIR/load.err")"
    expect_eq "$(wc -l <"$TEST_DIR/load")" 1260 "acknowledged"
    wait_for 'is_still mail 2269 0' 60
    local handle
    for handle in $(shuf -n 40 "$TEST_DIR/load"); do
        expect_eq "$(of_task "$handle" state)" '"completed"' "$handle"
    done
    expect_status 0 reeve check mail
    end "$WORKER_PID"
}

# Without a worker, waiting tasks are moved out of partitions that go.
waiting_tasks_are_moved() {
    seq 300 | sed 's/.*/{"type":"noop"}/' >"$TEST_DIR/lines"
    expect_status 0 reeve partition moved 5
    bulk moved <"$TEST_DIR/lines" || exit 1
    expect_status 0 reeve enqueue moved noop --id later --in 1h
    expect_status 0 timeout 100 "$REEVE" partition moved 1
    expect_eq "$(placed moved)" 301 "tasks in the last partition"
    expect_eq "$(of_task moved/later state)" '"scheduled"'
    expect_eq "$(of_task "$(sed -n 299p "$TEST_DIR/handles")" state)" '"ready"'
    expect_eq "$(redis HLEN reeve:partitions)" 1 "queues with partitions"
}

start_redis
producers_spread_their_tasks
keys_and_groups_stay_together
names_are_entered_once
verbs_take_it_as_one
a_pool_serves_all_partitions
the_number_changes_under_load
waiting_tasks_are_moved

#!/usr/bin/env bash
# st_partitions_whole.sh - a queue with partitions is taken as one by task batches, by `why`, by `events` and `watch`, by
# `forget`, and by consumers.
. "$(dirname "$0")/lib.sh"

# placed QUEUE: the number of tasks that this partition has.
placed() { redis HLEN "reeve:{$1}:tasks"; }

batches_have_members_and_callbacks_in_any_partition() {
    local o q count handles
    expect_status 0 reeve partition mail 4
    expect_status 0 reeve partition calls 3
    call() { echo "{\"queue\":\"calls\",\"type\":\"noop\",\"id\":\"$1\"}"; }
    expect_status 0 reeve batch open --complete "$(call all1)" --success "$(call all2)" --death "$(call all4)"
    handles="calls/all1 calls/all2 calls/all4"
    expect_has "$OUT" "calls/all4"
    count=0
    for q in calls calls~1 calls~2; do [ "$(placed "$q")" = 0 ] || count=$((count + 1)); done
    [ "$count" -gt 1 ] || fail "all callbacks are in one partition"
    # Some of them are refused, in partition 0 and in others: the batch does not wait for them.
    {
        seq 40 | sed 's/.*/{"id":"m&"}/'
        seq 8 | sed 's/.*/{"id":"k&","unique":"key&"}/'
        seq 8 | sed 's/.*/{"id":"r&","unique":"key&"}/'
        seq 4 | sed 's/.*/{"group":"g&"}/'
    } >"$TEST_DIR/members"
    # shellcheck disable=SC2086
    expect_status 1 reeve batch add $handles --queue mail --type noop <"$TEST_DIR/members"
    expect_lines 52
    expect_has "$ERR" "holds the unique key: 8"
    for q in mail mail~1 mail~2 mail~3; do [ "$(placed "$q")" -gt 0 ] || fail "$q has no member"; done
    for o in $handles; do expect_eq "$(member members "$(reeve batch show "$o" --json)")" 52 "$o"; done
    expect_status 0 reeve enqueue mail noop --id later
    # shellcheck disable=SC2086
    expect_status 0 reeve batch close $handles
    expect_status 1 reeve batch add calls/all1 --queue mail --type noop <"$TEST_DIR/members"
    expect_has "$ERR" "no callback of an open batch"
}

why_adds_up() {
    expect_status 0 reeve why mail
    expect_has "$OUT" "53 tasks are ready"
    expect_has "$OUT" "no live worker serves the queue"
    expect_status 0 reeve why calls
    expect_has "$OUT" "3 tasks wait for others"
    expect_status 0 reeve pause mail
    expect_has "$(reeve why mail)" "the queue is paused"
    expect_status 0 reeve resume mail
    expect_status 0 reeve limit mail --concurrency 8
}

events_are_those_of_all() {
    expect_status 0 reeve events mail --keep 1000
    expect_has "$(reeve events 'mail~3')" 1000
    "$REEVE" watch mail >"$TEST_DIR/watched" 2>&1 &
    WATCHING=$!
    own "$WATCHING"
    wait_for '[ "$(redis HEXISTS "reeve:{mail~3}:settings" events_until)" = 1 ]' 20
    write_conf w "session = 6.0" 'pools = ( { name = "all"; queues = [ "mail", "calls" ]; threads = 3; } );'
    start_worker w
    expect_status 0 reeve batch wait calls/all1 --timeout 60
    expect_status 0 reeve wait calls/all2 --timeout 60
    wait_for '[ "$(grep -c completed "$TEST_DIR/watched")" = 53 ]' 20
    # A partition that comes later is watched, too.
    expect_status 0 reeve partition mail 6 --no-wait
    wait_for '[ "$(redis HEXISTS "reeve:{mail~5}:settings" events_until)" = 1 ]' 30
    expect_status 0 reeve enqueue 'mail~5' noop --id fifth --wait
    wait_for 'grep -q "completed.*fifth" "$TEST_DIR/watched"' 20
    end "$WATCHING" INT
    expect_status 7 reeve watch mail --since 1h --timeout 1
    for o in m1 m2 m3 m4 m5 k1 k2 fifth; do expect_has "$OUT" "$o"; done
}

a_shell_leases_from_all() {
    local i handles=
    expect_status 0 reeve partition pulled 3
    for i in 1 2 3 4 5 6; do reeve enqueue pulled echo "\"$i\"" --id "p$i" >/dev/null || fail "not enqueued"; done
    expect_status 0 reeve lease pulled --id p4 --for 1m --json
    expect_status 0 reeve settle pulled/p4 "done" --lease "$(member lease "$OUT" | tr -d '"')"
    expect_status 1 reeve lease pulled --id nope
    expect_has "$ERR" "there is no task pulled/nope"
    for i in 1 2 3 4 5; do expect_status 0 reeve lease pulled --exec cat; done
    for i in 1 2 3 4 5 6; do expect_eq "$(of_task "pulled/p$i" state)" '"completed"'; done
}

# chained_from QUEUE: a task of that queue chains 28 tasks into a queue with partitions.
chained_from() {
    local q parts=0 of_group=0
    expect_status 0 reeve pause mail
    expect_status 0 reeve enqueue "$1" spreads --id "from-$1" --wait=60
    # Those that go to other partitions are carried.
    wait_for '[ "$(in_queue mail ready) $(in_queue mail blocked)" = "27 1" ]' 20
    for q in mail mail~1 mail~2 mail~3; do [ "$(placed "$q")" = 0 ] || parts=$((parts + 1)); done
    [ "$parts" -gt 2 ] || fail "they are in $parts partitions"
    for q in mail mail~1 mail~2 mail~3; do
        of_group=$(redis HVALS "reeve:{$q}:tasks" | grep -c '"group":"ann"')
        [ "$of_group" = 0 ] || [ "$of_group" = 6 ] || fail "$q has $of_group tasks of the group"
    done
    expect_status 1 reeve enqueue mail noop --unique key
    expect_has "$ERR" "is held by mail/only"
    expect_status 1 reeve enqueue mail noop --id only --unique key
    expect_status 0 reeve resume mail
    expect_status 0 reeve wait mail/last --timeout 60
    wait_for '[ "$(in_queue mail ready)$(in_queue mail running)" = 00 ]' 20
    expect_status 0 reeve delete mail/last mail/only
}

chained_tasks_are_spread() {
    echo "worker = { name = \"chains\"; session = 6.0; }; plugins = [ \"$PLUGIN_DIR/sample.so\", \"$REEVE_BUILD/tests/plugins/spreading.so\" ];" >"$TEST_DIR/c.conf"
    echo 'pools = ( { name = "all"; queues = [ "mail", "other" ]; threads = 2; } );' >>"$TEST_DIR/c.conf"
    expect_status 0 reeve partition mail 4
    start_worker c
    chained_from other
    # A task of partition 2 chains in its own queue: tasks of no key stay there.
    expect_status 0 reeve pause mail
    expect_status 0 reeve pause other
    expect_status 0 reeve resume other
    before=$(placed 'mail~2')
    expect_status 0 reeve resume mail
    expect_status 0 reeve enqueue 'mail~2' spreads --id own --wait=60
    expect_status 0 reeve wait mail/last --timeout 60
    [ $(($(placed 'mail~2') - before)) -ge 21 ] || fail "partition 2 has $(placed 'mail~2') tasks after $before"
    wait_for '[ "$(in_queue mail ready)$(in_queue mail running)" = 00 ]' 20
    expect_status 0 reeve check mail
    end "$WORKER_PID"
    expect_status 0 reeve forget mail --all
}

# While the number of partitions is being changed, chained tasks go where their key or group is in use.
chained_tasks_follow_a_change() {
    local found
    expect_status 0 reeve partition mail 4
    expect_status 0 reeve enqueue mail noop --id holder --unique key --in 1h
    expect_status 0 reeve enqueue mail noop --id first --group ann
    expect_status 0 reeve pause mail
    sed -i 's/session = 6.0/session = 1.0/' "$TEST_DIR/c.conf"
    start_worker c
    expect_eq "$(placed 'mail~3')" 2 "of the key and of the group"
    expect_status 0 reeve partition mail 8 --no-wait
    wait_for 'grep -q "event=pool.changed.* queues=9" "$TEST_DIR/c.log"' 20
    expect_status 0 reeve enqueue other spreads --id changed --wait=60
    wait_for '[ "$(in_queue mail ready) $(in_queue mail blocked)" = "27 1" ]' 20
    found=$(redis HVALS "reeve:{mail~3}:tasks" | grep -c '"group":"ann"')
    expect_eq "$found" 7 "tasks of the group in its previous partition"
    expect_eq "$(redis HVALS "reeve:{mail~7}:tasks" | grep -c '"group":"ann"\|"unique":"key"')" 0 "such tasks in the new one"
    expect_status 0 reeve delete mail/holder
    expect_status 0 reeve resume mail
    expect_status 0 reeve wait mail/last --timeout 60
    end "$WORKER_PID"
    expect_status 0 reeve forget mail --all --force
}

forget_takes_all() {
    expect_status 1 reeve forget mail
    expect_has "$ERR" "tasks are in it"
    expect_has "$(reeve settings mail)" "queue:"
    expect_status 1 reeve forget mail --all
    expect_has "$ERR" "sessions of workers lease from it"
    end "$WORKER_PID"
    expect_status 0 reeve forget mail --all
    expect_has "$OUT" "deleted its tasks: 54"
    expect_eq "$(redis HEXISTS reeve:partitions mail)" 0 "still divided"
    expect_eq "$(redis SMEMBERS reeve:queues | grep -c mail)" 0 "names of partitions"
    expect_status 1 reeve forget mail
    expect_has "$ERR" "no such queue"
}

start_redis
batches_have_members_and_callbacks_in_any_partition
why_adds_up
events_are_those_of_all
a_shell_leases_from_all
forget_takes_all
chained_tasks_are_spread
chained_tasks_follow_a_change

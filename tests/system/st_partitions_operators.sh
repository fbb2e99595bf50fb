#!/usr/bin/env bash
# st_partitions_operators.sh - operators who change the partitions of a queue at once, and producers who have not heard of a
# change: none undoes what another one did, and no task stays in a partition that nobody serves.
. "$(dirname "$0")/lib.sh"

field() { redis HGET reeve:partitions mail | cut -d' ' -f1-3; }
postponed() { redis INFO clients | grep -q '^blocked_clients:[1-9]'; }

# stop_at_a_write COMMAND...: runs it in the background up to its first write; PAUSED is its process, which is stopped there.
stop_at_a_write() {
    redis CLIENT PAUSE 60000 WRITE >/dev/null
    "$@" >"$TEST_DIR/paused.out" 2>"$TEST_DIR/paused.err" &
    PAUSED=$!
    own "$PAUSED"
    wait_for postponed 20
    kill -STOP "$PAUSED"
}

go_on() {
    kill -CONT "$PAUSED"
    wait "$PAUSED" || fail "it fails: $(cat "$TEST_DIR/paused.err")"
}

# One is about to let the last partitions go, when another one divides the queue again.
what_another_operator_did_stays() {
    expect_status 0 reeve partition mail 4
    redis HSET reeve:partitions mail "2 2 4 1000 0 0 0 0" >/dev/null
    stop_at_a_write "$REEVE" partition mail 2
    redis CLIENT UNPAUSE >/dev/null
    expect_status 0 reeve partition mail 6 --no-wait
    expect_eq "$(field)" "6 2 6"
    go_on
    # It has read the layout again, and carried that change through.
    expect_eq "$(field)" "6 6 6" "partitions in force"
}

# Limits of one, and a number of another: the parts are those of the layout in force.
limits_are_shared_by_the_number_in_force() {
    redis HSET reeve:partitions mail "4 4 6 1000 0 0 0 0" >/dev/null
    stop_at_a_write "$REEVE" limit mail --concurrency 12
    redis CLIENT UNPAUSE >/dev/null
    expect_status 0 reeve partition mail 6 --no-wait
    go_on
    expect_eq "$(field)" "6 4 6" "partitions in force"
    expect_has "$(reeve limit mail)" "12 ("
    for k in 0 1 2 3 4 5; do expect_has "$(reeve limit mail~$k)" "2 ("; done
    expect_status 0 reeve limit mail --concurrency none
}

# A task was on its way to a partition when Redis was killed; when it is back, the partition is gone.
a_task_for_a_partition_that_is_gone_is_moved() {
    redis HSET reeve:partitions mail "6 6 6 1000 0 0 0 0" >/dev/null
    stop_at_a_write "$REEVE" enqueue mail noop --id late --in 1h
    local home
    redis CLIENT UNPAUSE >/dev/null
    go_on
    for home in 1 2 3 4 5; do [ "$(redis HEXISTS "reeve:{mail~$home}:tasks" late)" = 0 ] || break; done
    expect_eq "$(redis HEXISTS "reeve:{mail~$home}:tasks" late)" 1 "a test whose task is in no last partition"
    expect_status 0 reeve delete mail/late
    redis HDEL "reeve:{mail~$home}:counters" unrecorded >/dev/null # or a lost enqueue could not know whether this was its task
    stop_at_a_write "$REEVE" enqueue mail noop --id late --in 1h
    stop_redis KILL
    start_redis --appendonly yes
    redis HDEL reeve:partitions mail >/dev/null
    sleep 1.1
    go_on
    expect_eq "$(cat "$TEST_DIR/paused.out")" mail/late
    expect_eq "$(redis HEXISTS 'reeve:{mail}:tasks' late)" 1 "in the queue's only partition"
    expect_eq "$(of_task mail/late state)" '"scheduled"'
}

# A running worker's pool serves the new partitions as it served the queue: in runners, by two threads.
a_pool_keeps_its_form() {
    write_conf w "session = 3.0; supervise = false" \
        'pools = ( { name = "iso"; queues = [ "iso" ]; threads = { min = 2; max = 3; }; isolation = "process"; } );'
    start_worker w
    wait_for '[ "$(logged w worker.started)" = 1 ]' 20
    expect_status 0 reeve enqueue iso echo 1 --wait=20
    expect_status 0 reeve partition iso 3 --no-wait
    wait_for '[ "$(logged w pool.changed)" = 1 ]' 20
    expect_status 0 reeve enqueue 'iso~2' echo 2 --wait=20
    expect_has "$(grep event=pool.changed "$TEST_DIR/w.log")" "min_threads=2 max_threads=3"
    wait_for 'cat /proc/$WORKER_PID/task/*/children | grep -q [0-9]' 20
    end "$WORKER_PID"
}

partitions_that_are_not_there_are_refused() {
    expect_status 2 reeve enqueue 'iso~7' noop
    expect_has "$ERR" "queue iso has no partition iso~7: it has 3"
    expect_status 2 reeve enqueue 'whole~1' noop
    expect_has "$ERR" "it has 1"
    expect_status 0 reeve enqueue 'whole~0' noop
}

[ "${REEVE_TEST_OVER:-unix}" != cluster ] || { echo "pauses one server"; exit 77; }
start_redis --appendonly yes
what_another_operator_did_stays
limits_are_shared_by_the_number_in_force
a_task_for_a_partition_that_is_gone_is_moved
a_pool_keeps_its_form
partitions_that_are_not_there_are_refused

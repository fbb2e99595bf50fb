#!/usr/bin/env bash
# st_partitions_left.sh - tasks and messages in partitions that their queue no longer has: none is forgotten there.
. "$(dirname "$0")/lib.sh"

layout() { redis HGET reeve:partitions "$1" | cut -d' ' -f1-3; }

# strand QUEUE PARTITION OPTION...: a task goes to this partition, as by a producer that has not heard that it was let go.
strand() {
    local queue=$1 partition=$2
    shift 2
    redis HSET reeve:partitions "$queue" "4 4 4 1000 0 0 0 0" >/dev/null
    expect_status 0 reeve enqueue "$partition" noop "$@"
    redis HDEL reeve:partitions "$queue" >/dev/null
}

# let_go QUEUE: of all partitions but the first; the change began long ago.
let_go() {
    redis HSET reeve:partitions "$1" "1 1 4 1000 0 0 0 0" >/dev/null
    expect_status 0 reeve partition "$1" 1
}

check_reports_and_repairs() {
    expect_status 0 reeve partition mail 4
    let_go mail
    expect_eq "$(layout mail)" ""
    expect_status 0 reeve check mail
    strand mail 'mail~2' --id late
    expect_status 1 reeve show mail/late
    expect_status 1 reeve check mail
    expect_has "$OUT" "the partition mail~2 has tasks or messages"
    expect_status 0 reeve limit mail --concurrency 5
    expect_status 0 reeve pause mail
    expect_status 0 reeve check mail --repair
    expect_eq "$(layout mail)" "1 1 3"
    expect_eq "$(in_queue 'mail~2' paused)" true "the partition is paused as its queue is"
    expect_eq "$(of_task mail/late state)" '"ready"'
    expect_has "$(reeve limit mail)" "5 ("
    expect_status 0 reeve check mail
    let_go mail
    expect_eq "$(layout mail)" ""
    expect_eq "$(redis HEXISTS 'reeve:{mail}:tasks' late)" 1 "in the only partition"
    expect_has "$(reeve limit mail)" "5 ("
    expect_status 0 reeve resume mail
}

# Each is found while the worker runs. With a group or a key it runs where it is.
a_worker_serves_them_again() {
    write_conf w "session = 2.0" 'pools = ( { name = "all"; queues = [ "mail" ]; threads = 2; } );'
    start_worker w
    wait_for '[ "$(of_task mail/late state)" = "\"completed\"" ]' 20
    strand mail 'mail~1' --id grouped --group g
    wait_for '[ "$(of_task mail/grouped state)" = "\"completed\"" ]' 20
    expect_eq "$(layout mail)" "1 1 2"
    expect_eq "$(logged w partition.returned)" 1
    strand mail 'mail~3' --id keyed --unique k
    wait_for '[ "$(of_task mail/keyed state)" = "\"completed\"" ]' 20
    end "$WORKER_PID"
}

# A message to another queue, which refuses it for now: its partition stays until the message was carried.
messages_keep_a_partition() {
    expect_status 0 reeve partition files 4
    redis SET 'reeve:{other}:tasks' foreign >/dev/null
    redis RPUSH 'reeve:{files~1}:outbox' 'E 7 other/child files~1/parent completed 3' >/dev/null
    let_go files
    expect_eq "$(layout files)" "1 1 4"
    expect_has "$OUT" "4 are served"
    redis DEL 'reeve:{other}:tasks' >/dev/null
    write_conf v "session = 2.0" 'pools = ( { name = "all"; queues = [ "files", "other" ]; threads = 2; } );'
    start_worker v
    wait_for '[ "$(redis LLEN "reeve:{files~1}:outbox")" = 0 ]' 20
    end "$WORKER_PID"
    let_go files
    expect_eq "$(layout files)" ""
}

start_redis
check_reports_and_repairs
a_worker_serves_them_again
messages_keep_a_partition

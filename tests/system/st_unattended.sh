# st_unattended.sh - a queue that no worker serves any more is maintained by the commands that are about it: tasks of a dead
# worker are shown as stalled, go back to the queue, and can be retried, deleted and rescheduled.
. "$(dirname "$0")/lib.sh"

start_redis

# strand QUEUE: a worker dies with the tasks QUEUE/a and QUEUE/b.
strand() {
    write_conf "$1" 'session = 1;' "pools = ( { queues = [ \"$1\" ]; threads = 2; batch = 1; } );"
    start_alone "$1"
    expect_status 0 reeve enqueue "$1" sleep '{"ms":600000}' --id a
    expect_status 0 reeve enqueue "$1" sleep '{"ms":600000}' --id b
    wait_for "[ \"\$(redis EXISTS 'reeve:{$1}:sessions')\" = 1 ] && [ \"\$(in_queue $1 running)\" = 2 ]" 10
    end "$WORKER_PID" KILL
}

# expire QUEUE: every session's time has passed long ago.
expire() {
    local session
    for session in $(redis ZRANGE "reeve:{$1}:sessions" 0 -1); do
        redis ZADD "reeve:{$1}:sessions" "$(($(date +%s%3N) - 180000))" "$session" >/dev/null
    done
}

# until_done QUEUE ARGUMENT...: the command is called until it succeeds. (Sessions may be given time to come back.)
until_done() {
    local queue=$1
    shift
    wait_for "expire $queue; run reeve $*; [ \"\$STATUS\" = 0 ]" 10
}

a_stalled_task_is_shown() {
    strand shown
    expect_eq "$(of_task shown/a stalled)" false
    expire shown
    # (By a user who may only read: nothing is maintained then.)
    redis ACL SETUSER viewer on '>pw' '~*' '&*' +@all -@write >/dev/null
    expect_status 0 env REEVE_REDIS="$(redis_as viewer:pw)" "$REEVE" show shown/a
    expect_has "$OUT" "stalled: it ended "
    expect_has "$OUT" "(3 m ago)"
    expect_quiet
    expect_status 0 env REEVE_REDIS="$(redis_as viewer:pw)" "$REEVE" list shown --state running
    expect_eq "$(grep -c 'stalled: its worker is gone' "$TEST_DIR/out")" 2
    expect_status 0 env REEVE_REDIS="$(redis_as viewer:pw)" "$REEVE" show shown/a --json
    expect_has "$OUT" '"stalled":true'
}

a_command_frees_the_tasks() {
    strand freed
    until_done freed reschedule freed/a --in 1h
    expect_has "$ERR" "no worker has maintained queue freed for "
    expect_has "$ERR" "2 tasks of dead workers went back to it"
    expect_eq "$(of_task freed/a state)" '"scheduled"'
    expect_eq "$(of_task freed/a crashes)" 1
    expect_status 0 reeve delete freed/b
    expect_quiet
}

every_command_does() {
    local command
    for command in "list %" "queues %" "show %/a" "peek %" "failures %" "cancel %/a" "delete %/a" "purge % --type t" \
        "pause %" "limit %" "stats %" "settings %" "why %" "why %/a" "depend %/a --after %/b" "tags %"; do
        redis FLUSHALL >/dev/null
        strand each
        wait_for "expire each; run reeve ${command//%/each}; [ \"\$(redis ZCARD 'reeve:{each}:sessions')\" = 0 ]" 10
    done
}

what_is_due_becomes_ready() {
    expect_status 0 reeve enqueue due noop --id a --in 0.01
    wait_for 'run reeve list due --state ready; [ "$(grep -c due/a "$TEST_DIR/out")" = 1 ]' 10
    expect_has "$ERR" "1 scheduled tasks became ready"
}

# A message to a task of another queue: when it was made, that queue took none, and nobody serves this one.
messages_are_delivered() {
    expect_status 0 reeve enqueue near noop --id a
    expect_status 0 reeve enqueue far noop --id b --after near/a
    redis RENAME 'reeve:{far}:blocked' 'reeve:{far}:kept' >/dev/null
    redis SET 'reeve:{far}:blocked' odd >/dev/null
    expect_status 0 reeve lease near --exec true
    expect_eq "$(of_task near/a state)" '"completed"'
    redis RENAME 'reeve:{far}:kept' 'reeve:{far}:blocked' >/dev/null
    expect_eq "$(redis LLEN 'reeve:{near}:outbox')" 1
    wait_for 'reeve doctor near --json 2>/dev/null | grep -q "\"finding\":\"unmaintained\""' 10
    expect_eq "$(redis LLEN 'reeve:{near}:outbox')" 1
    run "$@"
    expect_eq "$STATUS" 0
    expect_eq "$(of_task far/b state)" '"ready"'
    expect_status 0 reeve delete far/b
    expect_status 0 reeve delete near/a
}

nothing_is_said_where_a_worker_serves() {
    write_conf served 'session = 1;' 'pools = ( { queues = [ "served" ]; threads = 1; } );'
    start_alone served
    expect_status 0 reeve enqueue served noop --wait=30
    expect_status 0 reeve list served --state completed
    expect_quiet
    end "$WORKER_PID"
}

a_stalled_task_is_shown
a_command_frees_the_tasks
every_command_does
what_is_due_becomes_ready
messages_are_delivered reeve list near
messages_are_delivered reeve queues
nothing_is_said_where_a_worker_serves

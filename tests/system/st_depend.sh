# st_depend.sh - tasks that wait for others, from the command line.
. "$(dirname "$0")/lib.sh"

usage() {
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 2 reeve enqueue q t --after q
    expect_has "$ERR" "QUEUE/ID"
    expect_has "$ERR" "fail, go, wait or death"
    expect_status 2 reeve enqueue q t --after q/a:never/x
    expect_status 2 reeve cancel q --all --cascade
    expect_has "$ERR" "--cascade goes with a HANDLE"
    unset REEVE_REDIS
}

shown() {
    expect_status 0 reeve enqueue a noop --id one
    expect_status 0 reeve enqueue b noop --id two
    expect_status 0 reeve enqueue b noop --id three --after a/one --after b/two:go --after b/never:wait:known-or-gone
    expect_status 1 reeve enqueue b noop --id typo --after b/never
    expect_has "$ERR" "b/typo cannot wait for b/never"
    expect_eq "$(of_task b/three state)" '"blocked"'
    expect_status 0 reeve show b/three
    expect_has "$OUT" "after:"
    expect_has "$OUT" "a/one (ready)"
    expect_has "$OUT" "b/two (ready; on death: go)"
    expect_has "$OUT" "b/never (completed; on death: wait)"
    expect_status 0 reeve show b/two
    expect_has "$OUT" "before:"
    expect_has "$OUT" "b/three"
    expect_status 0 reeve show b/three --json
    expect_has "$OUT" '"parents":[{"handle":"a/one","on_death":"fail","ended":null,"state":"ready"},{"handle":"b/two","on_death":"go","ended":null,"state":"ready"},'
    expect_has "$OUT" '"parent_count":3,"children":null,"child_count":0'
    expect_status 0 reeve show a/one --json
    expect_has "$OUT" '"children":["b/three"],"child_count":1'
    expect_status 0 reeve list b --state blocked
    expect_has "$OUT" "b/three"
    expect_eq "$(in_queue b blocked)" 1
}

# A dead parent that may be retried is shown as dead, also one in another queue.
dead_parents() {
    local queue
    write_conf die 'session = 2; log = { level = "error"; };' 'pools = ( { queues = [ "d", "e" ]; threads = 1; } );'
    start_alone die
    for queue in d e; do
        reeve enqueue $queue fail '{"kind":"k","message":"m"}' --id dies --attempts 1 --wait=30 >/dev/null 2>&1
    done
    expect_status 0 reeve enqueue d noop --id waits --after d/dies:wait --after e/dies:wait
    expect_status 0 reeve show d/waits
    expect_has "$OUT" "d/dies (dead, waits for a retry of it; on death: wait)"
    expect_has "$OUT" "e/dies (dead, waits for a retry of it; on death: wait)"
    expect_has "$OUT" 'it waits for e/dies, which is dead: a retry of that may complete (`reeve retry e/dies`)'
    expect_status 0 reeve show d/waits --json
    expect_has "$OUT" '{"handle":"e/dies","on_death":"wait","ended":null,"state":"dead"}'
    expect_status 0 reeve delete d/waits
    wait_for '[ "$(redis EXISTS "reeve:{d}:outbox")$(redis EXISTS "reeve:{e}:linked")" = 00 ]' 30
    end "$WORKER_PID"
}

# Of a task that waits already.
changed() {
    expect_status 0 reeve enqueue b noop --id later --in 1h
    expect_status 0 reeve depend b/later --after a/one --after b/two:go
    expect_eq "$OUT" "changed b/later"
    expect_status 0 reeve show b/later
    expect_has "$OUT" "state:    blocked"
    expect_has "$OUT" "b/two (ready; on death: go)"
    expect_status 0 reeve depend b/later --remove-after a/one --remove-after b/two
    expect_status 0 reeve show b/later --json
    expect_has "$OUT" '"state":"scheduled"'
    expect_status 1 reeve depend b/nobody --after a/one
    expect_status 2 reeve depend b/later
    expect_status 2 reeve depend b/later --after nonsense
    # A rule that was mistyped is no part of an id.
    expect_status 2 reeve enqueue b noop --after a/one:wiat
    expect_has "$ERR" "fail, go, wait or death"
    expect_status 2 reeve enqueue b noop --after a/one:deaht
    expect_status 0 reeve enqueue b noop --id cleanup --after a/one:death --after b/two:death
    expect_has "$(reeve show b/cleanup)" "on death: death"
    expect_status 0 reeve delete b/cleanup
    expect_status 0 reeve delete b/later
}

cancelled() {
    expect_status 1 reeve cancel a/one
    expect_has "$ERR" "others wait for it (1)"
    expect_status 0 reeve cancel a/one --cascade
    expect_eq "$OUT" "cancelled a/one"
    expect_eq "$(of_task b/three state)" '"cancelled"'
    # Several of them, in whatever order; a chain, and one in another queue.
    expect_status 0 reeve enqueue a noop --id parent
    expect_status 0 reeve enqueue a noop --id child --after a/parent
    expect_status 0 reeve enqueue b noop --id grandchild --after a/child
    expect_status 1 reeve cancel a/parent a/child
    expect_has "$ERR" "cannot cancel a/parent: others wait for it (1)"
    expect_has "$ERR" "cannot cancel a/child: others wait for it (1)"
    expect_status 1 reeve cancel a/parent a/child b/grandchild a/nobody
    expect_eq "$OUT" "cancelled b/grandchild
cancelled a/child
cancelled a/parent"
    expect_has "$ERR" "a/nobody"
    expect_status 0 reeve delete a/parent a/child b/grandchild
    expect_status 0 reeve enqueue a noop --id parent
    expect_status 0 reeve enqueue a noop --id child --after a/parent
    expect_status 0 reeve delete a/parent a/child
    expect_eq "$OUT" "deleted a/child
deleted a/parent"
    write_conf main "session = 5;" 'pools = ( { name = "main"; queues = [ "a", "b" ]; threads = 2; } );'
    start_alone main
    wait_for '[ "$(of_task b/two state)" = "\"completed\"" ]' 30
}

# A pipeline of three stages over two queues, in bulk, with a worker that is killed in between.
pipeline() {
    local i
    {
        for i in $(seq 40); do echo "{\"id\":\"p$i\",\"queue\":\"a\",\"payload\":{\"ms\":20}}"; done
        for i in $(seq 40); do echo "{\"id\":\"s$i\",\"queue\":\"b\",\"payload\":{\"ms\":5},\"after\":\"a/p$i\"}"; done
        printf '{"id":"last","queue":"a","type":"noop","after":['
        for i in $(seq 39); do printf '"b/s%d",' "$i"; done
        echo '"b/s40:go"]}'
    } | reeve enqueue --bulk none sleep >"$TEST_DIR/handles" || fail "not all was enqueued"
    end "$WORKER_PID" KILL
    start_alone main
    expect_status 0 reeve wait a/last --timeout 60
    expect_eq "$(redis KEYS 'reeve:{*}:children:*')$(redis KEYS 'reeve:{*}:linked')$(redis KEYS 'reeve:{*}:outbox')" ""
    for i in 1 20 40; do expect_eq "$(of_task "b/s$i" state)" '"completed"'; done
}

a_death() {
    expect_status 0 reeve enqueue a fail '{"kind":"k","message":"m"}' --id bad --attempts 1 --in 1h
    expect_status 0 reeve enqueue b noop --id child --after a/bad
    expect_status 0 reeve enqueue b noop --id patient --after a/bad:wait
    expect_status 0 reeve enqueue b noop --id grandchild --after b/child
    expect_status 0 reeve reschedule a/bad --now
    wait_for '[ "$(of_task b/grandchild state)" = "\"dead\"" ]' 30
    expect_eq "$(of_task b/child error_kind)" '"parent"'
    expect_eq "$(of_task b/child error_message)" '"the task it waited for, a/bad, is dead"'
    expect_eq "$(of_task b/patient state)" '"blocked"'
    expect_status 0 reeve cancel b --state blocked --all
    expect_eq "$(of_task b/patient state)" '"cancelled"'
    expect_status 0 reeve delete a/bad
}

usage
start_redis
shown
dead_parents
changed
cancelled
pipeline
a_death

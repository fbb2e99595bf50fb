#!/usr/bin/env bash
# What `reeve list --state all --json` prints is enqueued again by `reeve enqueue --bulk`: the same tasks.
. "$(dirname "$0")/lib.sh"

make_tasks() {
    {
        printf '{"queue":"q","id":"plain","type":"a","payload":"text"}\n'
        printf '{"queue":"q","id":"raw","type":"a","payload_base64":"AP8KAGE="}\n'
        printf '{"queue":"q","id":"empty","type":"a"}\n'
        printf '{"queue":"q","id":"late","type":"a","at":"2030-01-01T00:00:00Z","deadline":"2031-01-01T00:00:00Z"}\n'
        printf '{"queue":"q","id":"full","type":"b/c","payload":{"a":[1.50, "\\u00e9"]},"priority":-7,"group":"g",'
        printf '"weight":3,"cost":5,"limit_keys":["gpu","customer:\\"7\\""],"attempts":9,"max_crashes":2,"timeout":"90s","heartbeat":"5s","at_most_once":true,'
        printf '"backoff":"fixed:30s","unique":"key","unique_until":"started","on_dead":"d","tags":["x","y \\"z"],'
        printf '"meta":{"k":"v","l":"=\\n"}}\n'
        printf '{"queue":"q","id":"kept","type":"a","unique":"other","unique_for":"1h","on_dead":""}\n'
        printf '{"queue":"q","id":"child","type":"a","after":["q/late","far/p:go"],"in":"1000h"}\n'
        printf '{"queue":"q","id":"grandchild","type":"a","after":"q/child:wait"}\n'
        printf '{"queue":"q","id":"gone","type":"a"}\n'
        printf '{"queue":"far","id":"p","type":"a","in":"1h"}\n'
    } >"$TEST_DIR/in"
    expect_status 0 reeve enqueue --bulk <"$TEST_DIR/in"
    reeve cancel q/gone >/dev/null || fail "no cancel"
    # Both queues hear of their dependency.
    wait_for '[ "$(in_queue q blocked)" = 2 ] && [ "$(of_task far/p child_count)" = 1 ]' 30
}

# What a task is, without when it was enqueued.
tasks() {
    for queue in q far; do reeve list "$queue" --state all --json; done |
        sed 's/"enqueued_ms":[0-9]*/"enqueued_ms":0/; s/"segment":[0-9]*//' | LC_ALL=C sort
}

round_trip() {
    expect_status 0 reeve list q --state all --json
    expect_lines 9
    for queue in q far; do reeve list "$queue" --state all --json || fail "no list"; done >"$TEST_DIR/export"
    tasks | grep -v q/gone >"$TEST_DIR/before"
    redis flushall >/dev/null
    expect_status 0 reeve enqueue --bulk <"$TEST_DIR/export"
    expect_lines 9
    expect_eq "$ERR" "9 enqueued, 0 refused, 1 skipped as they had ended (--ended enqueues them, too)"
    wait_for '[ "$(in_queue q blocked)" = 2 ] && [ "$(of_task far/p child_count)" = 1 ]' 30
    tasks >"$TEST_DIR/after"
    diff "$TEST_DIR/before" "$TEST_DIR/after" || fail "the tasks differ"
    expect_eq "$(of_task q/grandchild state)" '"blocked"'
    # A second time all exist.
    expect_status 1 reeve enqueue --bulk <"$TEST_DIR/export"
    expect_has "$ERR" "0 enqueued, 9 refused"
}

ended() {
    grep q/gone "$TEST_DIR/export" >"$TEST_DIR/gone"
    expect_status 0 reeve enqueue --bulk --ended <"$TEST_DIR/gone"
    expect_eq "$(of_task q/gone state)" '"ready"'
    expect_status 2 reeve enqueue q t --ended
    expect_status 2 reeve enqueue --bulk --ended --id x
}

refused() {
    printf '{"queue":"q","id":"x","type":"a","state":"ready","parents":[],"parent_count":200}\n' >"$TEST_DIR/in"
    printf '{"queue":"q","id":"x","type":"a","state":"odd"}\n' >>"$TEST_DIR/in"
    printf '{"queue":"q","id":"x","type":"a","state":"ready","tags":["a"],"tags":["b"]}\n' >>"$TEST_DIR/in"
    printf '{"queue":"q","id":"x","state":"ready"}\n' >>"$TEST_DIR/in"
    expect_status 1 reeve enqueue --bulk <"$TEST_DIR/in"
    expect_has "$ERR" "line 1: it has 200 parents, and the line lists only 0 of them"
    expect_has "$ERR" "line 2: \"state\": expected a state"
    expect_has "$ERR" "line 3: \"tags\" stands twice"
    expect_has "$ERR" "line 4: \"type\" is missing"
}

start_redis
make_tasks
round_trip
ended
refused

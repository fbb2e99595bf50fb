# st_reschedule.sh - waiting tasks get another time or priority.
. "$(dirname "$0")/lib.sh"

# ids QUEUE [STATE]: the ids in their order, on one line.
ids() { reeve list "$1" --state "${2:-ready}" --limit 0 --json | sed 's/.*"id":"\([^"]*\)".*/\1/' | paste -sd' '; }

usage() {
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 2 reeve reschedule
    expect_status 2 reeve reschedule q/i
    expect_has "$ERR" "--in DURATION, --at TIME or --now"
    expect_status 2 reeve reschedule q/i --in 5 --now
    expect_has "$ERR" "give one of them"
    expect_status 2 reeve reschedule q/i --in 5 --at 2030-01-01T00:00:00Z
    expect_status 2 reeve reschedule q/i --in soon
    expect_has "$ERR" "5m"
    expect_status 2 reeve reschedule q/i --at tomorrow
    expect_has "$ERR" "2026-11-21T09:00:00Z"
    expect_status 2 reeve reschedule q/i --priority 128
    expect_has "$ERR" "from -128 to 127"
    expect_status 2 reeve reschedule q --now
    expect_has "$ERR" "QUEUE/ID"
    expect_status 3 reeve reschedule q/i --now
    expect_eq "$OUT" ""
    unset REEVE_REDIS
}

times() {
    expect_status 0 reeve enqueue t noop --id a
    expect_status 0 reeve enqueue t noop --id b --in 1h
    expect_status 0 reeve reschedule t/a --in 2h
    expect_eq "$OUT" "rescheduled t/a"
    expect_eq "$ERR" ""
    expect_eq "$(ids t scheduled)" "b a"
    expect_eq "$(ids t)" ""
    expect_status 0 reeve reschedule t/b --at 2035-01-01T00:00:00Z --json
    expect_eq "$OUT" '{"handle":"t/b","queue":"t","id":"b","action":"reschedule","cancelling":false}'
    expect_eq "$(of_task t/b due_ms)" 2051222400000
    expect_eq "$(ids t scheduled)" "a b"
    expect_status 0 reeve show t/b
    expect_has "$OUT" "hint:     run it now with: reeve reschedule t/b --now"
    expect_status 0 reeve reschedule t/b --now
    expect_eq "$(of_task t/b state)" '"ready"'
    expect_eq "$(of_task t/b due_ms)" null
    # (A time in the past means now.)
    expect_status 0 reeve reschedule t/a --at 2001-01-01T00:00:00Z
    expect_eq "$(ids t)" "b a"
}

priorities() {
    printf '{"id":"%s","type":"noop"}\n' 1 2 3 4 | bulk p || exit 1
    expect_status 0 reeve reschedule p/4 p/3 --priority -5
    expect_eq "$OUT" "$(printf 'rescheduled p/4\nrescheduled p/3')"
    expect_eq "$(ids p)" "4 3 1 2"
    expect_eq "$(of_task p/4 priority)" -5
    expect_status 0 reeve reschedule p/1 --priority 10
    expect_eq "$(ids p)" "4 3 2 1"
    expect_status 0 reeve reschedule p/2 --in 1h --priority -128
    expect_eq "$(of_task p/2 state)" '"scheduled"'
    expect_status 0 reeve reschedule p/2 --now
    expect_eq "$(ids p)" "2 4 3 1"
}

many_at_once() {
    seq 1 50 | sed 's/.*/{"id":"&","type":"noop"}/' | bulk m || exit 1
    reeve list m --limit 0 --json | sed 's/.*"handle":"\([^"]*\)".*/\1/' >"$TEST_DIR/in"
    printf 'm/nope\nnonsense\n' >>"$TEST_DIR/in"
    expect_status 1 reeve reschedule - --in 1h <"$TEST_DIR/in"
    expect_eq "$(wc -l <"$TEST_DIR/out")" 50
    expect_has "$ERR" "m/nope"
    expect_has "$ERR" "nonsense: no handle; expected QUEUE/ID"
    expect_eq "$(in_queue m scheduled)" 50
}

# An idle worker hears of a task that is due sooner, and leaves one alone that was pushed back.
with_a_worker() {
    write_conf one "" 'pools = ( { queues = [ "w" ]; } );'
    expect_status 0 reeve pause w
    expect_status 0 reeve enqueue w noop --id later
    expect_status 0 reeve reschedule w/later --in 1h
    expect_status 0 reeve enqueue w noop --id sooner --in 1h
    expect_status 0 reeve resume w
    start_worker one
    wait_for '[ "$(reeve workers --json | wc -l)" = 1 ]' 30
    expect_status 0 reeve reschedule w/sooner --in 0.3
    expect_status 0 reeve wait w/sooner --timeout 30
    expect_eq "$(of_task w/later state)" '"scheduled"'
    expect_status 0 reeve reschedule w/later --now
    expect_status 0 reeve wait w/later --timeout 30
    # What runs or has ended does not wait.
    expect_status 1 reeve reschedule w/later --now
    expect_has "$ERR" "w/later"
    expect_has "$ERR" "completed"
    expect_status 0 reeve enqueue w sleep '{"ms":600000}' --id runs
    wait_for '[ "$(of_task w/runs state)" = "\"running\"" ]' 30
    expect_status 1 reeve reschedule w/runs --in 5 --json
    expect_eq "$OUT" ""
    expect_eq "$(member error "$ERR") $(member handle "$ERR")" '"state" "w/runs"'
    expect_has "$ERR" "running"
    expect_status 1 reeve reschedule w/runs --priority 5
    expect_status 1 reeve reschedule w/nope --now
}

usage
start_redis
times
priorities
many_at_once
with_a_worker

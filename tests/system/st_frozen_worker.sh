# st_frozen_worker.sh - a worker that was frozen for longer than its session lives comes back too late.
#
# Another worker has taken its tasks over by then; what the first one says about them is refused, and it works on. And an
# idle worker that is frozen, though it has waited longest for tasks, gets none and holds none up.
. "$(dirname "$0")/lib.sh"

TASKS=6

busy_when_frozen() {
    local first second i begun handle
    start_alone first
    first=$WORKER_PID
    for ((i = 1; i <= TASKS; i++)); do echo '{"type":"sleep","payload":{"ms":4000}}'; done | bulk q || exit 1
    wait_for '[ "$(in_queue q running)" = 2 ]' 20
    freeze "$first"
    reeve list q --state running --json | sed 's/.*"handle":"\([^"]*\)".*/\1/' >"$TEST_DIR/taken"
    expect_eq "$(wc -l <"$TEST_DIR/taken")" 2
    begun=$(in_queue q completed)

    start_alone second
    second=$WORKER_PID
    wait_for 'is_still q $TASKS 0' 60
    expect_eq "$begun" 0 "tasks that the first completed before it was frozen"
    expect_eq "$(logged second session.reaped)" 1 "sessions that the second reaped"
    expect_eq "$(logged first task.refused)" 0
    while read -r handle; do expect_eq "$(of_task "$handle" crashes)" 1 "crashes of $handle"; done <"$TEST_DIR/taken"

    kill -CONT "$first"
    wait_for '[ "$(logged first task.refused)" -ge 1 ] || [ "$(logged first session.lost)" -ge 1 ]' 20
    end "$second"
    expect_eq "$ENDED" 0 "the second worker's exit status"
    expect_status 0 reeve enqueue q echo again --wait=20
    expect_has "$OUT" "result: again"
    wait_for 'is_still q $((TASKS + 1)) 0' 20
    end "$first"
    expect_eq "$ENDED" 0 "the first worker's exit status"
    grep -q ' event=program.ended .* completed=1 failed=0 .* refused=[1-9]' "$TEST_DIR/first.log" ||
        fail "what the first worker counted: $(tail -n 1 "$TEST_DIR/first.log")"

    aof_ended ':completed' | sort >"$TEST_DIR/accepted"
    expect_eq "$(uniq "$TEST_DIR/accepted" | wc -l)" $((TASKS + 1)) "tasks accepted"
    expect_eq "$(uniq -d "$TEST_DIR/accepted")" "" "accepted twice"
}

waiting() { redis INFO clients | tr -d '\r' | sed -n 's/^blocked_clients://p'; }

# idle_when_frozen QUEUE: the worker `first` serves it with 8 threads, which wait.
idle_when_frozen() {
    local queue=$1 first=$WORKER_PID took=0 i
    wait_for '[ "$(waiting)" = 8 ]' 20
    freeze "$first"
    start_alone "other-$queue"
    wait_for '[ "$(waiting)" = 10 ]' 20
    wait_for '[ "$(redis ZCARD "reeve:{$queue}:sessions")" = 0 ]' 20
    for i in 1 2 3 4 5 6 7 8 9 10; do
        expect_status 0 reeve enqueue "$queue" echo "$i" --wait=20 --json
        expect_eq "$(member crashes "$OUT")" 0 "crashes of task $i"
        took=$((took + $(member ended_ms "$OUT") - $(member enqueued_ms "$OUT")))
    done
    [ $took -lt 5000 ] || fail "10 tasks took $took ms beside a frozen worker"
    kill -CONT "$first"
    end "$WORKER_PID"
    for i in 1 2 3; do expect_status 0 reeve enqueue "$queue" echo "$i" --wait=20; done
    end "$first"
    expect_eq "$ENDED" 0 "the exit status of the worker that was frozen"
}

start_redis --appendonly yes --appendfsync no --auto-aof-rewrite-percentage 0
write_conf first 'session = 1;' 'pools = ( { queues = [ "q" ]; threads = 2; } );'
write_conf second 'session = 30;' 'pools = ( { queues = [ "q" ]; threads = 2; } );'
for queue in fresh used; do
    write_conf idle-$queue 'session = 1;' "pools = ( { queues = [ \"$queue\" ]; threads = 8; } );"
    write_conf other-$queue 'session = 30;' "pools = ( { queues = [ \"$queue\" ]; threads = 2; } );"
done
busy_when_frozen
# One that never had a task, and one that had.
start_alone idle-fresh
idle_when_frozen fresh
start_alone idle-used
expect_status 0 reeve enqueue used noop --wait=20
idle_when_frozen used

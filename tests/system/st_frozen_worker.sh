# st_frozen_worker.sh - a worker that was frozen for longer than its session lives comes back too late.
#
# Another worker has taken its tasks over by then; what the first one says about them is refused, and it works on.
. "$(dirname "$0")/lib.sh"

TASKS=6

start_redis --appendonly yes --appendfsync no --auto-aof-rewrite-percentage 0
for name in first second; do
    write_conf $name 'session = 1;' 'pools = ( { queues = [ "q" ]; threads = 2; } );'
done
start_worker first
first=$WORKER_PID
for ((i = 1; i <= TASKS; i++)); do echo '{"type":"sleep","payload":{"ms":800}}'; done | bulk q || exit 1
wait_for '[ "$(in_queue q running)" = 2 ]' 20
reeve list q --state running --json | sed 's/.*"handle":"\([^"]*\)".*/\1/' >"$TEST_DIR/taken"
expect_eq "$(wc -l <"$TEST_DIR/taken")" 2
kill -STOP "$first"
begun=$(in_queue q completed)

start_worker second
second=$WORKER_PID
wait_for 'is_still q $TASKS 0' 30
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

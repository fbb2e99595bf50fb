# st_long_tasks.sh - a long task whose worker is killed goes on from its last checkpoint, and tells of it; one that runs is
# cancelled.
. "$(dirname "$0")/lib.sh"

start_redis
write_conf long 'session = 1; drain = 0.1;' 'pools = ( { queues = [ "q" ]; threads = 1; } );'

# ---- SIGKILL at a checkpoint ---------------------------------------------------------------------------------------

start_alone long
expect_status 0 reeve enqueue q steps '{"steps":40,"ms":150}' --id walk
wait_for '[ "$(of_task q/walk progress)" -ge 20 ] 2>/dev/null' 30
end "$WORKER_PID" KILL
left=$(redis HGET 'reeve:{q}:info:walk' checkpoint)
[ "$left" -ge 8 ] || fail "only $left steps were taken"
expect_eq "$(of_task q/walk checkpoint_bytes)" "${#left}"
start_alone long
expect_status 0 reeve wait q/walk --timeout 60s
result=$(reeve show q/walk --json)
expect_has "$result" "\\\"steps\\\":40,\\\"of_this_attempt\\\":$((40 - left))"
expect_eq "$(member crashes "$result")" 1
expect_eq "$(member checkpoint_bytes "$result")" null "it is done: nothing is left of it"
expect_eq "$(member logged "$result")" 2
expect_status 0 reeve show q/walk --log
expect_has "$OUT" "attempt 1 begins after step 0"
expect_has "$OUT" "attempt 1 begins after step $left"
expect_eq "$(wc -l <"$TEST_DIR/out")" 2
expect_status 0 reeve show q/walk --log --json
expect_has "$OUT" '{"at_ms":'
expect_has "$OUT" '"text":"attempt 1 begins after step 0"}'

# ---- stopped on the way: neither a crash nor a failure -------------------------------------------------------------

expect_status 0 reeve enqueue q steps '{"steps":20,"ms":300}' --id stroll
wait_for '[ "$(of_task q/stroll progress)" -ge 20 ] 2>/dev/null' 30
end "$WORKER_PID"
expect_eq "$ENDED" 0
expect_eq "$(of_task q/stroll state)" '"ready"'
left=$(redis HGET 'reeve:{q}:info:stroll' checkpoint)
start_alone long
expect_status 0 reeve wait q/stroll --timeout 60s
expect_has "$OUT" "\"of_this_attempt\":$((20 - left))"
expect_eq "$(of_task q/stroll failures) $(of_task q/stroll crashes)" "0 0"

# ---- cancelled on the way ------------------------------------------------------------------------------------------

expect_status 0 reeve enqueue q steps '{"steps":1000,"ms":50}' --id hike
wait_for '[ "$(of_task q/hike state)" = "\"running\"" ]' 30
expect_status 0 reeve cancel q/hike
expect_eq "$OUT" "cancelling q/hike: it is running"
expect_status 6 reeve wait q/hike --timeout 30s
expect_has "$ERR" "q/hike was cancelled"
expect_status 0 reeve enqueue q sleep '{"ms":60000}' --id nap
wait_for '[ "$(of_task q/nap state)" = "\"running\"" ]' 30
expect_status 0 reeve cancel --json q/nap
expect_eq "$OUT" '{"handle":"q/nap","queue":"q","id":"nap","action":"cancel","cancelling":true}'
expect_status 6 reeve wait q/nap --timeout 30s
expect_eq "$(of_task q/nap state)" '"cancelled"'

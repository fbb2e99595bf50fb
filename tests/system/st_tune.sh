#!/usr/bin/env bash
# st_tune.sh - `reeve tune` measures a handler with more and more threads, recommends a number, and leaves the Redis of the workers
# as it is; `reeve stats --watch`.
. "$(dirname "$0")/lib.sh"

cd "$TEST_DIR" || exit 1
# rate THREADS BATCH: tasks per second of a step.
rate() { grep -o "{\"threads\":$1,\"batch\":$2,\"tasks_per_s\":[0-9.]*" out | tail -n 1 | sed 's/.*://; s/\..*//'; }
number() { member "$1" "$OUT"; }

# Handlers that wait: twice the threads, twice the rate.
expect_status 0 reeve tune --plugin "$PLUGIN_DIR/sample.so" --type sleep --payload '{"ms":60}' --for 700ms --max-threads 4 --json
[ "$(rate 4 128)" -gt $((2 * $(rate 1 128))) ] || fail "rates $(rate 1 128) $(rate 2 128) $(rate 4 128)"
expect_eq "$(number recommended_threads) $(number present_threads)" "4 null"
expect_has "$OUT" "measure with a higher --max-threads"
[ "$(grep -o '"run_ms":6[0-9]' out | wc -l)" -ge 1 ] || fail "run times: $OUT"

# For people, with the threads of a pool; its Redis is read only.
start_redis
write_conf w 'session = 5;' 'pools = ( { name = "fast"; queues = [ "q" ]; threads = 3; } );'
start_worker w
wait_for '[ -n "$(reeve workers 2>/dev/null)" ]' 20
before=$(redis --scan | grep -v ':worker' | sort)
expect_status 0 reeve tune fast --type sleep --payload '{"ms":5}' --for 500ms --max-threads 2
expect_has "$OUT" "recommended: threads = "
expect_has "$ERR" "2 threads, batch 128"
expect_has "$OUT" 'the pool "fast" has 3 now: `reeve threads all fast'
expect_eq "$(redis --scan | grep -v ':worker' | sort)" "$before" "keys"
expect_eq "$(reeve queues 2>/dev/null | grep -c tune)" 0

# What cannot be measured.
expect_status 1 reeve tune nosuch --type sleep
expect_has "$ERR" 'no live worker has a pool "nosuch"'
expect_status 1 reeve tune fast --type nosuch
expect_has "$ERR" 'has the type "nosuch": name it with --plugin'
expect_status 1 reeve tune --plugin "$PLUGIN_DIR/sample.so" --type nosuch
expect_has "$ERR" 'has no handler for "nosuch"'
expect_status 1 reeve tune --plugin "$PLUGIN_DIR/sample.so" --type fail --payload '{"message":"on purpose"}'
expect_has "$ERR" "a first run of the handler ended with retry: on purpose"
expect_status 1 reeve tune --plugin "$PLUGIN_DIR/sample.so" --type sleep --payload '{"ms":1500}' --for 200ms
expect_has "$ERR" "longer than a step: give a longer --for, such as 9s"
expect_status 2 reeve tune fast
expect_has "$ERR" "--type"
expect_status 2 reeve tune --type sleep
expect_has "$ERR" "give a POOL, or a --plugin"

# A signal ends it, and the scratch server with it.
TMPDIR=$TEST_DIR "$REEVE" tune --plugin "$PLUGIN_DIR/sample.so" --type sleep --payload '{"ms":5}' --for 20s >/dev/null 2>tune.err &
own $!
wait_for 'grep -q "2 threads\|1 thread," tune.err' 20
end $! INT
expect_eq "$ENDED" 130
expect_eq "$(find "$TEST_DIR" -name '*.sock' -newer tune.err | wc -l)" 0

# ---- bench --handler --------------------------------------------------------------------------------------------------------

expect_status 0 reeve bench drain --handler "$PLUGIN_DIR/sample.so" --type sleep --handler-payload '{"ms":5}' --tasks 40 --rounds 1 --threads 2 --json
rate=$(sed 's/.*"tasks_per_s":{"unit":"[^"]*","median":\([0-9]*\).*/\1/' out)
{ [ "$rate" -gt 20 ] && [ "$rate" -le 400 ]; } || fail "tasks of 5 ms on two threads: $rate a second"
expect_status 1 reeve bench drain --handler "$PLUGIN_DIR/sample.so" --type fail --tasks 10 --rounds 1
expect_has "$ERR" "a task failed"
expect_status 2 reeve bench work --handler "$PLUGIN_DIR/sample.so" --type sleep
expect_status 2 reeve bench drain --handler "$PLUGIN_DIR/sample.so"
expect_status 2 reeve bench drain --type sleep

# ---- stats --watch ----------------------------------------------------------------------------------------------------------

reeve enqueue --wait q noop >/dev/null || fail "not run"
"$REEVE" stats q --watch 100ms --json >watched &
own $!
wait_for '[ "$(wc -l <watched)" -ge 3 ]' 20
end $! TERM
expect_eq "$ENDED" 143
[ "$(grep -c "\"queue\":\"q\"" watched)" -ge 3 ] || fail "watched: $(cat watched)"

#!/usr/bin/env bash
# The stacks of a live worker: by `reeve stack`, by QUIT, and of a worker that froze and is killed.
. "$(dirname "$0")/lib.sh"
start_redis

# write_worker NAME SETTINGS
write_worker() {
    cat >"$TEST_DIR/$1.conf" <<END
worker = { name = "$1"; $2 };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample" ];
pools = ( { name = "p"; queues = [ "q" ]; threads = 2; } );
END
}
child_of() { cat "/proc/$1/task/$1/children" 2>/dev/null | tr -d ' '; }

# ---- on request -----------------------------------------------------------------------------------------------------------

for supervise in no- ""; do
    name=w${supervise%-}
    write_worker "$name" ""
    start_worker "$name" "--${supervise}supervise"
    wait_for '[ "$(logged $name worker.started)" = 1 ]' 20
    reeve enqueue q sleep '{"ms":2000}' --id "long$name" >/dev/null
    wait_for 'are_busy $name 1' 10
    expect_status 0 reeve stack "$name"
    expect_has "$OUT" "runs q/long$name sleep for "
    expect_has "$OUT" "sleep_task+0x"
    expect_has "$OUT" "(sample.so+0x"
    expect_has "$OUT" "reeve-keeper"
    [ "$(grep -c 'no stack' "$TEST_DIR/out")" = 0 ] || fail "threads without a stack: $OUT"
    busy=$(sed -n 's/.*: thread [0-9]* \(p\/[0-9]\) runs .*/\1/p' "$TEST_DIR/out")
    expect_status 0 reeve stack "$name" "$busy"
    expect_eq "$(grep -c ': thread ' "$TEST_DIR/out")" 1 "threads"
    expect_has "$OUT" "sleep_task+0x"
    expect_status 1 reeve stack "$name" p/99
    expect_has "$ERR" "no such thread"
    # QUIT writes them to the log, and the worker works on.
    kill -QUIT "$WORKER_PID"
    wait_for 'grep "event=worker.stack " "$TEST_DIR/$name.log" | grep "task=long$name " | grep -q sleep_task' 10
    # It is not disturbed by many requests, nor is its task.
    for _ in $(seq 20); do expect_status 0 reeve stack "$name"; done
    wait_for '[ "$(reeve show "q/long$name" --json | grep -c "\"state\":\"completed\"")" = 1 ]' 10
    expect_eq "$(reeve show "q/long$name" --json | grep -o '"crashes":[0-9]*')" '"crashes":0'
    end "$WORKER_PID"
    expect_eq "$ENDED" 0 "status of worker $name"
done

# ---- runners --------------------------------------------------------------------------------------------------------------

write_worker apart ""
sed -i 's/threads = 2;/threads = 2; isolation = "process";/' "$TEST_DIR/apart.conf"
start_worker apart --no-supervise
wait_for '[ "$(logged apart worker.started)" = 1 ]' 20
reeve enqueue q sleep '{"ms":3000}' --id apart >/dev/null
wait_for 'are_busy apart 1' 10
expect_status 0 reeve stack apart
thread=$(sed -n 's/.*: thread [0-9]* \(p\/[0-9]\) (runner) runs q\/apart sleep for .*/\1/p' "$TEST_DIR/out")
[ -n "$thread" ] || fail "no runner runs the task: $OUT"
expect_has "$OUT" "sleep_task+0x"
[ "$(grep -c 'no stack' "$TEST_DIR/out")" = 0 ] || fail "threads without a stack: $OUT"
# That of the thread, and of its runner.
expect_status 0 reeve stack apart "$thread"
expect_has "$OUT" "sleep_task+0x"
expect_has "$OUT" "rv_isolated_run+0x"
pid=$(reeve stack apart --json | grep 'runner)' | grep sleep_task | grep -o '"tid":[0-9]*' | cut -d : -f 2)
expect_status 0 reeve stack apart "$pid"
expect_has "$OUT" "sleep_task+0x"
# One that is stopped is told of, and holds nobody up.
kill -STOP "$pid"
expect_status 0 reeve stack apart "$thread"
expect_has "$OUT" "no stack"
kill -CONT "$pid"
expect_status 0 reeve wait q/apart --timeout 20
# Its crash is listed.
if [ -z "$SANITIZED" ]; then
    expect_status 5 reeve enqueue q crash --id fault --max-crashes 1 --wait=20
    expect_status 0 reeve workers --crashes --limit 1
    expect_has "$OUT" "q/fault"
    expect_has "$OUT" "SIGSEGV at address 0x"
    expect_has "$OUT" "#0 crash+0x"
    expect_has "$OUT" "1 crashed, 0 settled, 0 given back"
fi
end "$WORKER_PID"
expect_eq "$ENDED" 0

# ---- frozen ---------------------------------------------------------------------------------------------------------------

write_worker frozen "frozen = 1; session = 10;"
start_worker frozen --supervise
wait_for '[ "$(logged frozen worker.started)" = 1 ]' 20
reeve enqueue q sleep '{"ms":4000}' --id held >/dev/null
wait_for 'are_busy frozen 1' 10
child=$(child_of "$WORKER_PID")
kill -STOP "$child"
wait_for 'grep "event=worker.stack " "$TEST_DIR/frozen.log" | grep "task=held " | grep -q sleep_task' 20
wait_for '[ -n "$(child_of "$WORKER_PID")" ] && [ "$(child_of "$WORKER_PID")" != "$child" ]' 20
wait_for '[ "$(reeve show q/held --json | grep -c "\"state\":\"completed\"")" = 1 ]' 20
expect_status 0 reeve workers --crashes --limit 1
expect_has "$OUT" "gave no sign of life"
expect_has "$OUT" "sleep_task+0x"
end "$WORKER_PID"
expect_eq "$ENDED" 0 "status of the supervised worker"

# ---- supervisor and worker are paused together ----------------------------------------------------------------------------

# On one processor, and continued first, the supervisor sees that the worker was silent before the worker can say a word.
write_worker paused "frozen = 2; session = 30;"
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
taskset -c "$cpu" "$REEVE_WORKER" -c "$TEST_DIR/paused.conf" --supervise </dev/null >>"$TEST_DIR/paused.log" 2>&1 &
WORKER_PID=$!
own "$WORKER_PID"
wait_for '[ "$(logged paused worker.started)" = 1 ]' 20
reeve enqueue q sleep '{"ms":8000}' --id innocent >/dev/null
wait_for 'are_busy paused 1' 10
child=$(child_of "$WORKER_PID")
for _ in 1 2 3; do
    kill -STOP "$child" "$WORKER_PID"
    sleep 2.5
    kill -CONT "$WORKER_PID" "$child"
    sleep 0.2
done
wait_for '[ "$(reeve show q/innocent --json | grep -c "\"state\":\"completed\"")" = 1 ]' 20
expect_eq "$(member crashes "$(reeve show q/innocent --json)")" 0 "crashes of a task that was paused with its worker"
expect_eq "$(logged paused worker.frozen)" 0 "workers that counted as frozen"
expect_eq "$(child_of "$WORKER_PID")" "$child" "the worker"
end "$WORKER_PID"
expect_eq "$ENDED" 0 "status of the supervised worker"

# st_cli_worker.sh - the verbs that have to do with workers, as their user sees them: wait, enqueue --wait, workers, run.
. "$(dirname "$0")/lib.sh"

waiting_without_end() {
    local signal job
    reeve enqueue w noop --id w1 >/dev/null
    expect_status 7 reeve wait w/w1 --timeout 0.1
    expect_silent
    expect_has "$ERR" "has not ended in time"
    expect_status 1 reeve wait w/nope
    expect_has "$ERR" "w/nope"
    expect_status 7 reeve enqueue w noop --wait=0.1 --json
    expect_lines 1
    expect_eq "$(member queue "$OUT")" '"w"'
    for signal in INT:130 TERM:143; do
        "$REEVE" wait w/w1 >"$TEST_DIR/out" 2>"$TEST_DIR/err" &
        job=$!
        own $job
        wait_for 'redis PUBSUB CHANNELS | grep -q w1' 20
        kill "-${signal%:*}" $job
        wait $job
        expect_eq $? "${signal#*:}" "status after $signal"
        expect_eq "$(cat "$TEST_DIR/out" "$TEST_DIR/err")" ""
        wait_for '! redis PUBSUB CHANNELS | grep -q w1' 20
    done
    # (A closed standard output must not become the number of a connection.)
    "$REEVE" wait w/w1 >&- 2>&- &
    job=$!
    own $job
    wait_for 'redis PUBSUB CHANNELS | grep -q w1' 20
    expect_eq "$(readlink /proc/$job/fd/1 /proc/$job/fd/2)" "$(printf '/dev/null\n/dev/null')"
    kill -TERM $job
    wait $job
    expect_status 0 reeve cancel w/w1
    expect_status 6 reeve wait w/w1
    expect_has "$OUT" "state: cancelled"
    expect_has "$ERR" "w/w1 was cancelled"
}

workers_rows() {
    expect_status 0 reeve workers
    expect_has "$OUT" "cli-test"
    expect_has "$OUT" " 0/2 "
    expect_status 0 reeve workers --json
    expect_eq "$(member pid "$OUT")" "$(worker_child "$WORKER_PID")"
    expect_eq "$(member name "$OUT")" '"cli-test"'
    expect_eq "$(member state "$OUT")" '"running"'
    expect_eq "$(member threads "$OUT")" 2
    expect_has "$OUT" '"pools":[{"name":"all"'
}

no_workers() {
    expect_status 0 reeve workers
    expect_silent
    expect_has "$ERR" "no worker is alive"
    expect_status 0 reeve workers --json
    expect_silent
    expect_quiet
}

results() {
    expect_status 0 reeve enqueue work echo '{"x":1}' --id done --wait=30
    expect_eq "${OUT%%$'\n'*}" work/done
    expect_has "$OUT" "state:  completed"
    expect_has "$OUT" 'result: {"x":1}'
    expect_quiet
    expect_status 0 reeve wait work/done --json
    expect_lines 1
    expect_eq "$(member state "$OUT")" '"completed"'
    expect_eq "$(member result "$OUT")" '"{\"x\":1}"'
    expect_status 0 reeve enqueue work sleep '{"ms":300}' --wait
    expect_has "$OUT" "state: completed"
    expect_status 0 reeve --json enqueue work echo $'a\nb' --wait
    expect_lines 1
    expect_eq "$(member result "$OUT")" '"a\nb"'
    expect_status 0 reeve enqueue work echo @"$TEST_DIR/bytes" --wait=30 --json
    expect_eq "$(member result_base64 "$OUT")" "\"$(base64 -w0 "$TEST_DIR/bytes")\""
    expect_status 5 reeve enqueue work fail '{"kind":"decode","message":"no JPEG"}' --attempts 1 --id dead --wait=30
    expect_has "$OUT" "state:      dead"
    expect_has "$OUT" "error kind: decode"
    expect_has "$ERR" "work/dead is dead: decode: no JPEG"
    expect_status 0 reeve list work --state dead
    expect_has "$OUT" "decode: no JPEG"
    expect_status 0 reeve show work/dead --json
    expect_eq "$(member error_kind "$OUT")" '"decode"'
    expect_eq "$(member failures "$OUT")" 1
}

a_running_task() {
    expect_status 0 reeve enqueue work sleep '{"ms":600000}' --id long
    wait_for '[ "$(reeve list work --state running --json | wc -l)" = 1 ]' 30
    expect_status 0 reeve show work/long
    expect_has "$OUT" "worker:"
    expect_status 1 reeve retry work/long
    expect_has "$ERR" "running"
    expect_status 1 reeve delete work/long
    expect_status 0 reeve queues work --json
    expect_eq "$(member running "$OUT")" 1
}

running_here() {
    local sample=$PLUGIN_DIR/sample.so
    unset REEVE_REDIS
    expect_status 0 reeve run "$sample" echo @"$TEST_DIR/bytes"
    cmp -s "$TEST_DIR/out" "$TEST_DIR/bytes" || fail "the result is not the payload"
    expect_has "$ERR" "reeve: run: done"
    expect_status 0 reeve run sample noop --plugin-dir "$PLUGIN_DIR"
    expect_silent
    expect_status 1 reeve run "$sample" fail '{"kind":"k","message":"m","times":2}' --attempt 2
    expect_has "$ERR" "reeve: run: retry after "
    expect_has "$ERR" "k: m"
    expect_status 0 reeve run "$sample" fail '{"kind":"k","message":"m","times":2}' --attempt 3
    expect_status 1 reeve run "$sample" fail '{"kind":"k","message":"m"}' --json
    expect_eq "$(member outcome "$OUT")" '"retry"'
    expect_eq "$(member kind "$OUT")" '"k"'
    expect_eq "$(member result "$OUT")" null
    expect_status 1 reeve run "$sample" sleep '{"ms":-1}' --json
    expect_eq "$(member outcome "$OUT")" '"fail"'
    expect_has "$ERR" '"message":"fail: payload: expected'
    expect_status 0 reeve run "$sample" echo hi --json
    expect_eq "$(member outcome "$OUT")" '"done"'
    expect_eq "$(member result "$OUT")" '"hi"'
    expect_quiet
    expect_has "$OUT" '"dead":false,"delay_ms":null,"kind":null,"message":null,"elapsed_us":'
    expect_has "$OUT" ',"progress":[],"log":[],"pauses":[],"chained":[],"checkpoint":null,"result":"hi"}'
    expect_status 1 reeve run "$sample" fail --attempts 3 --attempt 3 --backoff fixed:5s --json
    expect_eq "$(member dead "$OUT")" true
    expect_eq "$(member delay_ms "$OUT")" 5000
    expect_status 1 reeve run "$sample" fail --attempts 3 --attempt 3
    expect_has "$ERR" "failed at its last attempt"
    expect_status 1 reeve run "$sample" sleep '{"ms":5000}' --timeout 20ms
    expect_has "$ERR" "timeout: not done within 20 ms"
    expect_status 0 reeve run "$REEVE_BUILD/tests/plugins/layered.so" layered:in --meta traceparent=00-1 --id x --queue q
    expect_eq "$OUT" "<(00-1)>"
    expect_status 0 reeve run "$REEVE_BUILD/tests/plugins/good.so" good:one --json --now 2026-01-01T00:00:00Z
    expect_has "$OUT" '"progress":[{"percent":50,"words":"half way","at_ms":1767225600000}],'
    expect_status 2 reeve run "$sample" noop --id a/b
    expect_has "$ERR" 'id "a/b"'
    expect_status 2 reeve run "$sample" noop --meta nonsense
    expect_status 1 reeve run "$sample" nosuch
    expect_has "$ERR" "echo"
    expect_status 1 reeve run nosuch echo --plugin-dir "$PLUGIN_DIR"
    expect_has "$ERR" "nosuch.so"
}

for byte in {0..255}; do printf "\\x$(printf %02x "$byte")"; done >"$TEST_DIR/bytes"
start_redis
no_workers
waiting_without_end
write_conf cli-test "log = { level = \"off\"; };" 'pools = ( { name = "all"; queues = [ "work" ]; threads = 2; } );'
start_worker cli-test
wait_for '[ "$(reeve workers --json | wc -l)" = 1 ]' 30
workers_rows
results
a_running_task
running_here

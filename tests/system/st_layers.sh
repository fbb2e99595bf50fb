# st_layers.sh - the plugins that are layers: timing tells of slow runs and of their traces, faults makes a share of runs
# fail, and all is done in the end; `reeve run` shows both without a Redis.
. "$(dirname "$0")/lib.sh"

[ -e "$PLUGIN_DIR/timing.so" ] || { echo "built without the plugins: skipped"; exit 77; }
export REEVE_PLUGIN_DIR=$PLUGIN_DIR

described() {
    expect_status 0 "$REEVE_WORKER" --dump-plugin timing
    expect_has "$OUT" "layers        1"
    expect_has "$OUT" "layer timing: logs runs of REEVE_TIMING_MS milliseconds and more"
    expect_has "$OUT" "  around      all types"
    expect_status 0 "$REEVE_WORKER" --dump-plugin faults --json
    expect_has "$OUT" '"handlers":[],"layers":[{"name":"faults","type":null,"summary":"fails or delays'
    expect_status 0 "$REEVE_WORKER" --dump-plugin "$REEVE_BUILD/tests/plugins/layered.so"
    expect_has "$OUT" "  around      layered:in"
    REEVE_TIMING_MS=soon expect_status 2 "$REEVE_WORKER" --dump-plugin timing
    expect_has "$ERR" 'name=REEVE_TIMING_MS value=soon'
}

without_redis() {
    expect_status 0 reeve run sample sleep '{"ms":20}' --layers timing
    expect_lacks "$ERR" timing.slow
    export REEVE_TIMING_MS=500
    expect_status 0 reeve run sample noop --layers timing
    expect_lacks "$ERR" timing.slow
    expect_status 0 reeve run sample sleep '{"ms":600}' --layers timing --id t1 --meta traceparent=00-4bf9-01
    expect_has "$ERR" 'level=warn event=timing.slow message="a task took long" task=local/t1 type=sleep ms='
    expect_has "$ERR" 'outcome=done attempt=1 traceparent=00-4bf9-01'
    expect_status 1 reeve run sample fail --layers timing
    REEVE_TIMING_MS=0 expect_status 1 reeve run sample fail --layers timing
    expect_has "$ERR" 'outcome=retry attempt=1'
    REEVE_TIMING_MS=soon expect_status 1 reeve run sample noop --layers timing
    expect_has "$ERR" 'event=plugin.setting'
    expect_has "$ERR" 'name=REEVE_TIMING_MS value=soon expected="a number from 0 to'
    expect_has "$ERR" 'its load hook failed'

    REEVE_FAULTS_FAIL=1 expect_status 1 reeve run sample echo hi --layers faults
    expect_eq "$OUT" ""
    expect_has "$ERR" "fault: failed on purpose, before it ran"
    REEVE_FAULTS_LOSE=1 expect_status 1 reeve run sample echo hi --layers faults
    expect_eq "$OUT" ""
    expect_has "$ERR" "fault: failed on purpose, after it ran"
    REEVE_FAULTS_FAIL=1 REEVE_FAULTS_TYPE=noop expect_status 0 reeve run sample echo hi --layers faults
    expect_eq "$OUT" hi
    REEVE_FAULTS_DELAY=1 REEVE_FAULTS_DELAY_MS=50 expect_status 0 reeve run sample noop --layers faults --json
    [ "$(member elapsed_us "$OUT")" -ge 50000 ] || fail "it was not delayed"
    expect_status 1 reeve run sample noop --layers nosuch
    expect_status 1 reeve run timing noop
    expect_has "$ERR" 'has no type "noop"'
}

# A third of the runs fails before, a third after; timing is around faults and sees both.
in_a_worker() {
    start_redis
    write_conf timed "" "pools = ( { queues = [ \"q\" ]; } );"
    sed -i 's/"sample"/"timing"/' "$TEST_DIR/timed.conf"
    expect_status 0 "$REEVE_WORKER" --check -c "$TEST_DIR/timed.conf"
    REEVE_TIMING_MS=soon expect_status 2 "$REEVE_WORKER" --check -c "$TEST_DIR/timed.conf"
    expect_has "$ERR" 'name=REEVE_TIMING_MS value=soon'
    write_conf faulty "session = 2;" "pools = ( { queues = [ \"q\" ]; threads = 2; } );" \
        "handlers = ( { type = \"noop\"; attempts = 100; backoff = { base = 0.001; cap = 0.01; }; } );"
    sed -i 's/"sample"/"timing", "sample", "faults"/' "$TEST_DIR/faulty.conf"
    REEVE_TIMING_MS=0 REEVE_FAULTS_FAIL=0.33 REEVE_FAULTS_LOSE=0.5 start_worker faulty
    for i in $(seq 200); do echo "{\"type\":\"noop\",\"id\":\"n$i\",\"meta\":{\"traceparent\":\"00-$i-01\"}}"; done |
        bulk q || exit 1
    wait_for 'is_still q 200 0' 60
    # (What ends last is logged before it is settled.)
    expect_eq "$(grep -c 'event=timing.slow .*outcome=done' "$TEST_DIR/faulty.log")" 200
    [ "$(grep -c 'event=timing.slow .*outcome=retry' "$TEST_DIR/faulty.log")" -gt 200 ] || fail "too few faults"
    expect_eq "$(grep -c 'outcome=done.* traceparent=00-17-01$' "$TEST_DIR/faulty.log")" 1
}

described
without_redis
in_a_worker

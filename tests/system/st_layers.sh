# st_layers.sh - the plugins that are layers: timing tells of slow runs and of their traces, faults makes a share of runs
# fail, and all is done in the end; `reeve run` shows both without a Redis.
. "$(dirname "$0")/lib.sh"

[ -e "$PLUGIN_DIR/timing.so" ] || { echo "built without the plugins: skipped"; exit 77; }
export REEVE_PLUGIN_DIR=$PLUGIN_DIR

described() {
    expect_status 0 "$REEVE_WORKER" --dump-plugin timing
    expect_has "$OUT" "layers        1"
    expect_has "$OUT" "layer timing: logs runs that take long"
    expect_has "$OUT" "  around      all types"
    expect_status 0 "$REEVE_WORKER" --dump-plugin faults --json
    expect_has "$OUT" '"handlers":[],"layers":[{"name":"faults","type":null,"summary":"fails or delays a share of the runs"}],"options":[{"name":"fail","type":"number","expected":"a number from 0 to 1","default":"0"'
    expect_status 0 "$REEVE_WORKER" --dump-plugin "$REEVE_BUILD/tests/plugins/layered.so"
    expect_has "$OUT" "  around      layered:in"
}

without_redis() {
    expect_status 0 reeve run sample sleep '{"ms":20}' --layers timing
    expect_lacks "$ERR" timing.slow
    expect_status 0 reeve run sample noop --layers timing --layers-option slow=0.5
    expect_lacks "$ERR" timing.slow
    expect_status 0 reeve run sample sleep '{"ms":600}' --layers timing --layers-option slow=0.5 --id t1 --meta traceparent=00-4bf9-01
    expect_has "$ERR" 'level=warn event=timing.slow message="a task took long" task=local/t1 type=sleep ms='
    expect_has "$ERR" 'outcome=done attempt=1 traceparent=00-4bf9-01'
    expect_status 1 reeve run sample fail --layers timing
    expect_status 1 reeve run sample fail --layers timing --layers-option slow=0
    expect_has "$ERR" 'outcome=retry attempt=1'
    expect_status 1 reeve run sample noop --layers timing --layers-option slow=soon
    expect_has "$ERR" 'option "slow": expected seconds from 0 to 1000000000, got "soon"'

    expect_status 1 reeve run sample echo hi --layers faults --layers-option fail=1
    expect_eq "$OUT" ""
    expect_has "$ERR" "fault: failed on purpose, before it ran"
    expect_status 1 reeve run sample echo hi --layers faults --layers-option lose=1
    expect_eq "$OUT" ""
    expect_has "$ERR" "fault: failed on purpose, after it ran"
    expect_status 0 reeve run sample echo hi --layers faults --layers-option fail=1 --layers-option type=noop
    expect_eq "$OUT" hi
    expect_status 0 reeve run sample noop --layers faults --layers-option delay=1 --layers-option delay_for=0.05 --json
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
    sed -i 's/ plugins = .*/ plugins = ( { name = "timing";\n options = { slow = "soon"; }; } );/' "$TEST_DIR/timed.conf"
    expect_status 2 "$REEVE_WORKER" --check -c "$TEST_DIR/timed.conf"
    expect_has "$ERR" 'option "slow": expected seconds from 0 to 1000000000, got "soon"'
    write_conf faulty "session = 2;" "pools = ( { queues = [ \"q\" ]; threads = 2; } );" \
        "handlers = ( { type = \"noop\"; attempts = 100; backoff = { base = 0.001; cap = 0.01; }; } );"
    sed -i 's/ plugins = .*/ plugins = ( { name = "timing"; options = { slow = 0; }; }, "sample",\n { name = "faults"; options = { fail = 0.33; lose = 0.5; }; } );/' "$TEST_DIR/faulty.conf"
    start_worker faulty
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

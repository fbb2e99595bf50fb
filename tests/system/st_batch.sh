# st_batch.sh - task batches from the command line.
. "$(dirname "$0")/lib.sh"

counts() { reeve batch show "$1" | sed -n 's/^[a-z]*: *\([0-9a-z]*\)$/\1/p' | tr '\n' ' '; }

# Members that die are reported at the end; the callbacks come when they should.
callbacks() {
    local batch
    write_conf members 'session = 2; log = { level = "error"; };' 'pools = ( { queues = [ "m" ]; threads = 1; } );'
    batch=$(reeve batch open --success '{"queue":"c","type":"noop","id":"success"}' \
        --complete '{"queue":"c","type":"noop","id":"complete","payload":{"a":1}}' --death '{"queue":"c","type":"noop","id":"death"}')
    expect_eq "$(echo $batch)" "c/success c/complete c/death"
    printf '{"id":"one"}\n{"id":"two","type":"fail","payload":{"kind":"k","message":"m"},"attempts":1}\n' |
        reeve batch add $batch --queue m --type noop >"$TEST_DIR/added" 2>"$TEST_DIR/err"
    expect_eq "$(tr '\n' ' ' <"$TEST_DIR/added")" "m/one m/two "
    expect_has "$(cat "$TEST_DIR/err")" "2 enqueued, 0 refused"
    expect_eq "$(counts c/complete)" "yes 2 0 0 0 2 0 "
    start_worker members
    wait_for '[ "$(counts c/success)" = "yes 2 1 1 0 0 0 " ]' 30
    wait_for '[ "$(of_task c/death state)" = "\"ready\"" ]' 30
    expect_eq "$(of_task c/complete state)" '"blocked"'
    expect_status 0 reeve batch close $batch
    expect_eq "$(echo $OUT)" "closed c/success closed c/complete closed c/death"
    wait_for '[ "$(of_task c/complete state)" = "\"ready\"" ]' 30
    expect_eq "$(of_task c/success state)" '"blocked"'
    expect_status 5 reeve batch wait c/complete
    expect_has "$ERR" "members of the batch of c/complete: 1 dead, 0 cancelled"
    end "$WORKER_PID"
}

# A member that runs adds others. The batch waits for them.
from_inside() {
    reeve batch open --success '{"queue":"tree","type":"noop","id":"inside"}' >/dev/null || fail "not opened"
    echo '{"id":"root"}' | reeve batch add tree/inside --queue tree --type scan >/dev/null 2>&1 || fail "not added"
    expect_status 0 reeve lease tree --exec "printf '{\"id\":\"left\"}\n{\"id\":\"right\"}\n' | '$REEVE' batch add tree/inside --queue tree --type scan"
    expect_status 0 reeve batch close tree/inside
    expect_eq "$(counts tree/inside)" "no 3 1 0 0 2 0 "
    expect_status 7 reeve batch wait tree/inside --timeout 10ms
    expect_has "$ERR" "2 members are left"
    expect_status 0 reeve lease tree --count 2 --exec true
    expect_status 0 reeve batch wait tree/inside
    expect_has "$OUT" "completed: 3"
    expect_status 1 reeve batch add tree/inside
    expect_has "$ERR" "tree/inside is no callback of an open batch"
}

# The bar is for people.
on_a_terminal() {
    command -v script >/dev/null || return 0
    script -qec "'$REEVE' batch show tree/inside" /dev/null </dev/null >"$TEST_DIR/out" 2>&1
    expect_has "$(cat "$TEST_DIR/out")" "[####################] 100 %"
    reeve batch open --complete '{"queue":"bars","type":"noop","id":"bar"}' >/dev/null || fail "not opened"
    printf '{"id":"b1"}\n{"id":"b2"}\n' | reeve batch add bars/bar --queue bars --type noop >/dev/null 2>&1 || fail "not added"
    expect_status 0 reeve lease bars --exec true
    script -qec "'$REEVE' batch wait bars/bar --timeout 1ms" /dev/null </dev/null >"$TEST_DIR/out" 2>&1
    expect_has "$(cat "$TEST_DIR/out")" "[##########----------]  50 %  1 of 2 have ended"
}

# The callback is gone before its members have ended.
cancelled() {
    reeve batch open --complete '{"queue":"c","type":"noop","id":"gone"}' >/dev/null || fail "not opened"
    echo '{"id":"stays"}' | reeve batch add c/gone --queue rest --type noop >/dev/null 2>&1 || fail "not added"
    expect_status 0 reeve cancel c/gone
    expect_status 1 reeve batch wait c/gone
    expect_has "$ERR" "c/gone has ended before the members of its batch"
}

start_redis
callbacks
from_inside
on_a_terminal
cancelled

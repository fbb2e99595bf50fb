# reeve flush: the tasks of a buffer file are delivered. For st_json.sh.
away() { env REEVE_REDIS="unix://$TEST_DIR/none.sock" "$REEVE" "$@"; }
for id in one two two; do
    expect_status 0 away --json enqueue buffered noop --id "$id" --buffer "$TEST_DIR/mail.buffer"
    shape enqueue "$TEST_DIR/out"
    shape :error "$TEST_DIR/err"
    expect_eq "$(member error "$ERR")" '"buffered"'
done
expect_status 0 away enqueue buffered noop --id three --buffer "$TEST_DIR/mail.buffer"
expect_eq "$OUT" buffered/three
expect_has "$ERR" "the task is in $TEST_DIR/mail.buffer"
printf '{"id":"four"}\n{"id":"five"}\n' >"$TEST_DIR/lines"
expect_status 0 away enqueue --bulk buffered noop --buffer "$TEST_DIR/mail.buffer" <"$TEST_DIR/lines"
expect_lines 2
expect_has "$ERR" "tasks are kept in"
expect_status 3 away flush "$TEST_DIR/mail.buffer" --timeout 100ms
prints flush 1 flush "$TEST_DIR/mail.buffer"
expect_eq "$(member delivered "$OUT") $(member refused "$OUT") $(member left "$OUT")" "5 1 0"
expect_eq "$CODE" exists
expect_eq "$(reeve list buffered --json | grep -o '"id":"[a-z]*"' | tr -d '\n')" '"id":"one""id":"two""id":"three""id":"four""id":"five"'
prints flush 0 flush "$TEST_DIR/mail.buffer"
expect_status 0 reeve enqueue buffered noop --id six --buffer "$TEST_DIR/mail.buffer"
expect_eq "$ERR" ""
fails 2 usage flush
fails 2 usage enqueue buffered noop --buffer "$TEST_DIR/mail.buffer" --wait
fails 1 input flush /nonexistent/buffer
echo something >"$TEST_DIR/odd.buffer"
fails 1 state flush "$TEST_DIR/odd.buffer"

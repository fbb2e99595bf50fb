# st_terminal.sh - tables fit the terminal: texts are cut and columns are left out, but for --wide and where there is no terminal.
. "$(dirname "$0")/lib.sh"

start_redis
reeve enqueue "$(printf 'q%.0s' {1..40})" echo >/dev/null
reeve enqueue mail echo --id "$(printf 'i%.0s' {1..30})" >/dev/null

# on COLUMNS ARGUMENT...: reeve on a terminal of that width; what it printed is in $TEST_DIR/shown.
on() {
    local columns=$1
    shift
    script -qec "stty cols $columns; '$REEVE' $*" /dev/null </dev/null 2>&1 | tr -d '\r' >"$TEST_DIR/shown"
}
longest() { awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }' "$TEST_DIR/shown"; }

on 80 queues
[ "$(longest)" -le 80 ] || fail "$(longest) columns: $(cat "$TEST_DIR/shown")"
expect_has "$(cat "$TEST_DIR/shown")" "READY"
expect_has "$(cat "$TEST_DIR/shown")" "RUNNING"
grep -qE '^[0-9]+ columns are left out; --wide prints all$' "$TEST_DIR/shown" || fail "no word of what is missing"
expect_lacks "$(head -2 "$TEST_DIR/shown")" "LIMITS"
on 80 queues --wide
[ "$(longest)" -gt 80 ] || fail "--wide prints $(longest) columns"
expect_has "$(cat "$TEST_DIR/shown")" "LIMITS"
on 300 queues
expect_has "$(cat "$TEST_DIR/shown")" "LIMITS"
expect_lacks "$(cat "$TEST_DIR/shown")" "left out"
on 48 peek mail
[ "$(longest)" -le 48 ] || fail "$(longest) columns: $(cat "$TEST_DIR/shown")"
expect_has "$(cat "$TEST_DIR/shown")" "mail/iiiiiiiiiiiiiiiiiiiiiiiiiiiiii"
# Into a pipe all columns go.
expect_status 0 reeve queues
expect_has "$OUT" "LIMITS"

# A literal @, and a plugin by the name of its file.
expect_eq "$(reeve run "$PLUGIN_DIR/sample.so" echo @@home 2>/dev/null)" "@home"
cd "$PLUGIN_DIR" || exit 1
expect_status 0 "$REEVE" run sample.so echo hi
expect_eq "$OUT" hi
cd / || exit 1
expect_status 0 "$REEVE" run sample.so echo hi --plugin-dir "$PLUGIN_DIR"
expect_status 2 "$REEVE_WORKER" --chekc
expect_has "$ERR" "did you mean --check?"

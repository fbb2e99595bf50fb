#!/usr/bin/env bash
# `reeve run --isolation process`: the report is that of a run on the thread, and a crash is one, too.
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
SANITIZER_EXPECTED=1
isolated=$REEVE_BUILD/tests/plugins/isolated.so
ulimit -c 0

# run_both STATUS ARGUMENT...: standard output is the same in both ways, but for times.
run_both() {
    local status=$1 of_thread
    shift
    expect_status "$status" reeve run "$@" --plugin-dir "$PLUGIN_DIR"
    of_thread=$(without_times)
    expect_status "$status" reeve run "$@" --plugin-dir "$PLUGIN_DIR" --isolation process
    expect_eq "$(without_times)" "$of_thread" "$*"
}
without_times() { printf '%s\n' "$OUT" | sed 's/"\(elapsed_us\|at_ms\)":[0-9]*//g'; }

run_both 0 sample echo hello
run_both 0 sample noop --json
run_both 1 sample fail '{"kind":"smtp"}' --attempt 3 --json
run_both 0 "$isolated" calls x --checkpoint half --meta tenant=acme --group g --json
expect_has "$OUT" '"handle":"local/chained"'
expect_has "$OUT" '"words":"half way"'
run_both 0 "$isolated" many hi --json
run_both 0 "$isolated" large --json
run_both 1 sample nothing
run_both 0 sample echo hello --layers timing --json
head -c 300000 /dev/zero | tr '\0' y >"$TEST_DIR/payload"
run_both 0 sample echo "@$TEST_DIR/payload"

expect_status 1 reeve run "$isolated" leave --isolation process
expect_has "$ERR" "crash: its process ended with status 3"
if [ -z "$SANITIZED" ]; then
    expect_status 1 reeve run sample crash --plugin-dir "$PLUGIN_DIR" --isolation process
    expect_has "$ERR" "SIGSEGV at address 0x"
    expect_has "$ERR" "log: #0 crash+0x"
fi
expect_status 1 reeve run "$isolated" stubborn x --isolation process --timeout 0.2
expect_has "$ERR" "timeout: not done within 200 ms"
expect_status 2 reeve run sample noop --isolation process --now 2026-01-01T00:00:00Z
expect_has "$ERR" "the clock of a process of its own is the machine's"
expect_status 2 reeve run sample noop --isolation container
expect_has "$ERR" "thread or process"
REEVE_RUNNER=$TEST_DIR/nothing expect_status 1 reeve run sample noop --plugin-dir "$PLUGIN_DIR" --isolation process
expect_has "$ERR" "cannot start the runner $TEST_DIR/nothing"

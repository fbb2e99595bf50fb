#!/usr/bin/env bash
# st_crash_dir.sh - `worker.crash_dir`: a worker without a supervisor is killed, and the next one settles what it left at once, long
# before the session of the first one expires.
. "$(dirname "$0")/lib.sh"

cd "$TEST_DIR" || exit 1
conf() { write_conf w "session = 600; supervise = false; $1 log = { level = \"info\"; };" 'pools = ( { queues = [ "q" ]; threads = 1; } );'; }
killed() {
    start_worker w
    id=$(reeve enqueue q sleep "{\"ms\":$1}" --max-crashes 5)
    wait_for '[ "$(member state "$(reeve show "$id" --json)")" = "\"running\"" ]' 20
    end "$WORKER_PID" KILL
}

start_redis
mkdir crashes
conf 'crash_dir = "crashes";'
killed 2000
[ -n "$(ls crashes)" ] || fail "nothing is recorded"
start_worker w
expect_status 0 reeve wait "$id" --timeout 20
expect_eq "$(member crashes "$(reeve show "$id" --json)")" 1
end "$WORKER_PID"
expect_eq "$ENDED" 0
expect_eq "$(ls crashes)" "" "files that are left"

# Supervised, it is not used.
start_worker w --supervise
expect_status 0 reeve enqueue q noop --wait=20
expect_eq "$(ls crashes)" ""
end "$WORKER_PID"

conf 'crash_dir = "missing";'
"$REEVE_WORKER" -c w.conf >out 2>err
expect_eq "$?" 1
expect_has "$(cat err)" missing
exit 0

#!/usr/bin/env bash
# A password in --redis does not stand in the list of processes.
. "$(dirname "$0")/lib.sh"

write_conf w 'session = 5;' 'pools = ( { queues = [ "q" ]; threads = 1; } );'
for argument in "--redis redis://user:topsecret@127.0.0.1:1/0" "--redis=redis://:topsecret@127.0.0.1:1" \
    "--redis=redis://:topsecret@/?a@127.0.0.1:1"; do
    : >"$TEST_DIR/w.log"
    # shellcheck disable=SC2086
    start_worker w $argument
    wait_for '[ "$(logged w worker.started)" = 1 ]' 20
    expect_lacks "$(tr '\0' ' ' <"/proc/$WORKER_PID/cmdline")" "topsecret"
    expect_has "$(tr '\0' ' ' <"/proc/$WORKER_PID/cmdline")" "*********@127.0.0.1:1"
    expect_lacks "$(cat "$TEST_DIR/w.log")" "topsecret"
    kill -TERM "$WORKER_PID"
    end "$WORKER_PID" KILL
done

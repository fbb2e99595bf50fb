#!/bin/bash
# show, why and wait take several handles: each is looked at in the order of the arguments, and one that is refused does not stop
# the others.
. "$(dirname "$0")/lib.sh"

start_redis
write_conf w 'drain = 1; log = { level = "error"; }' 'pools = ( { name = "p"; queues = [ "q" ]; threads = 1; } );'
reeve enqueue q noop --id one >/dev/null
reeve enqueue q fail '{"kind":"smtp","message":"no route"}' --id two --attempts 1 >/dev/null
reeve enqueue other noop --id three --in 1h >/dev/null


# ---- show ----------------------------------------------------------------------------------------------------------------
expect_status 0 reeve show q/one other/three
expect_eq "$(printf '%s\n' "$OUT" | grep -cE '^handle: +(q/one|other/three)$')" 2 "both are shown"
expect_eq "$(printf '%s\n' "$OUT" | grep -c '^$')" 1 "with an empty line between them"
expect_status 1 reeve show --json q/none q/two other/three
expect_has "$ERR" '"handle":"q/none"'
expect_eq "$(printf '%s\n' "$OUT" | grep -oE '^\{"handle":"[^"]*"' | tr '\n' ' ')" '{"handle":"q/two" {"handle":"other/three" '
expect_status 2 reeve show q/one two
expect_eq "$OUT" ""
expect_status 2 reeve show q/one q/two --log

# ---- why -----------------------------------------------------------------------------------------------------------------
expect_status 0 reeve why other/three q
expect_eq "$(printf '%s\n' "$OUT" | grep -cE '^(handle: +other/three|queue: +q)$')" 2 "a task and a queue"
expect_status 1 reeve why q/none q/one --json
expect_has "$OUT" '"handle":"q/one"'

# ---- watch ---------------------------------------------------------------------------------------------------------------
expect_status 2 reeve watch q/one other/three
expect_has "$ERR" 'q/one and other/three are of different queues'
expect_status 2 reeve watch q q/one
for id in a b c; do reeve enqueue later noop --id $id --in 1h >/dev/null; done
(
    status=0
    reeve watch later/a later/b --timeout 60 >"$TEST_DIR/watched" || status=$?
    echo "$status" >"$TEST_DIR/watch_status"
) &
WATCHER=$!
wait_for '[ "$(redis HEXISTS "reeve:{later}:settings" events_until)" = 1 ]' 30
reeve cancel later/c later/b later/a >/dev/null
wait "$WATCHER"
expect_eq "$(grep -oE 'cancelled +later/.' "$TEST_DIR/watched" | tr -s ' ' | tr '\n' ' ')" 'cancelled later/b cancelled later/a '
expect_eq "$(cat "$TEST_DIR/watch_status")" 6
expect_status 6 reeve watch later/a later/b

# ---- wait ----------------------------------------------------------------------------------------------------------------
start_worker w
expect_status 5 reeve wait q/two q/one
expect_eq "$(printf '%s\n' "$OUT" | grep -oE '^(q/(one|two)|state: +[a-z]+)' | tr -s ' ' | tr '\n' ' ')" \
    'q/two state: dead q/one state: completed '
expect_has "$ERR" 'q/two is dead: smtp: no route'
expect_status 0 reeve wait q/one q/one --json
expect_eq "$(printf '%s\n' "$OUT" | grep -c '"state":"completed"')" 2
# One limit for all: behind its end each is looked at once.
expect_status 7 reeve wait other/three q/one --timeout 50ms
expect_has "$ERR" 'other/three has not ended in time'
expect_has "$OUT" 'completed'
end "$WORKER_PID"

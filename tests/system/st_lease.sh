# st_lease.sh - tasks are leased, extended and settled from a shell, by commands of their own, and run by --exec.
. "$(dirname "$0")/lib.sh"

start_redis

# lease ARGUMENT...: leases; TOKEN and HANDLE are of the first task.
lease() {
    expect_status 0 reeve lease q --json "$@"
    TOKEN=$(member lease "${OUT%%$'\n'*}" | tr -d '"')
    HANDLE=$(member handle "${OUT%%$'\n'*}" | tr -d '"')
}
put() { for id in "$@"; do reeve enqueue q t "payload of $id" --id "$id" >/dev/null || fail "not enqueued"; done; }
state() { echo "$(of_task "q/$1" state | tr -d '"')"; }

# Each outcome, by a process that is not the one which leased.
outcomes() {
    put done retry dead snooze back cancel discard
    lease --count 7 --for 1m
    expect_lines 7
    tokens=$(printf '%s\n' "$OUT" | sed 's/.*"lease":"\([^"]*\)".*/\1/')
    expect_eq "$(printf '%s\n' "$tokens" | cut -d. -f1 | sort -u | wc -l)" 1
    expect_status 0 reeve settle q/done done --lease "$TOKEN" --result - <<<"the result"
    expect_eq "$OUT" "q/done done"
    expect_status 0 reeve settle q/retry retry --lease "$TOKEN" --in 1h --kind k --message m
    expect_status 0 reeve settle q/dead fail --lease "$TOKEN" --kind broken --message "all is lost"
    expect_status 0 reeve settle q/snooze snooze --lease "$TOKEN" --in 1h
    expect_status 0 reeve settle q/back give-back --lease "$TOKEN"
    expect_status 0 reeve settle q/cancel cancel --lease "$TOKEN" --reason "not wanted"
    expect_eq "$(of_task q/cancel cancel_reason)" '"not wanted"'
    expect_status 2 reeve settle q/discard discard --lease "$TOKEN" --reason "none"
    expect_status 0 reeve settle q/discard discard --lease "$TOKEN"
    expect_status 1 reeve show q/discard
    expect_status 1 reeve settle q/discard discard --lease "$TOKEN"
    expect_eq "$(for id in done retry dead snooze back cancel; do state $id; done | tr '\n' ' ')" \
        "completed scheduled dead scheduled ready cancelled "
    expect_eq "$(of_task q/done result)" '"the result\n"'
    expect_eq "$(of_task q/retry failures) $(of_task q/dead error_kind) $(of_task q/snooze failures)" '1 "broken" 0'
    reeve delete q/back >/dev/null
}

# A task waits for one that comes later.
parents() {
    put whole
    lease
    expect_status 2 reeve settle q/whole wait --lease "$TOKEN"
    expect_status 2 reeve settle q/whole done --lease "$TOKEN" --after q/part
    expect_status 2 reeve settle q/whole wait --lease "$TOKEN" --after q/part:death
    expect_has "$ERR" '"q/part:death": expected QUEUE/ID'
    expect_status 2 reeve settle q/whole wait --lease "$TOKEN" --after q/part:known-or-gone
    put part
    expect_status 0 reeve settle q/whole wait --lease "$TOKEN" --after q/part:go --json
    expect_has "$OUT" '"outcome":"wait"'
    expect_eq "$(state whole)" blocked
    lease
    expect_eq "$HANDLE" q/part
    expect_status 0 reeve settle q/part done --lease "$TOKEN"
    expect_eq "$(state whole)" ready
    reeve delete q/whole >/dev/null
}

# The last attempt is the death; the backoff of the queue decides about the delay.
attempts() {
    reeve enqueue q t --id last --attempts 1 >/dev/null
    reeve enqueue q t --id first --attempts 2 --backoff fixed:1h~0 >/dev/null
    lease --count 2
    expect_status 0 reeve settle q/last retry --lease "$TOKEN"
    expect_status 0 reeve settle q/first retry --lease "$TOKEN"
    expect_eq "$(state last) $(state first)" "dead scheduled"
    expect_eq "$(of_task q/last error_kind)" '"failed"'
}

# A lease that expires is refused, and the task runs again; a heartbeat keeps it.
expiry() {
    put short long
    lease --for 500ms
    expect_eq "$HANDLE" q/short
    short=$TOKEN
    lease --for 500ms
    long=$TOKEN
    expect_status 0 reeve heartbeat q/long --lease "$long" --for 1h
    # No worker serves the queue: a command that names it recovers the task.
    wait_for '[ "$(reeve list q >/dev/null 2>&1; state short)" = ready ]' 20
    expect_status 1 reeve settle q/short done --lease "$short"
    expect_has "$ERR" "the lease is not held any more"
    expect_status 1 reeve heartbeat q/short --lease "$short"
    expect_eq "$(of_task q/short crashes) $(state long)" "1 running"
    lease
    expect_eq "$HANDLE" q/short
    [ "$TOKEN" != "$short" ] || fail "the same token again"
    expect_status 1 reeve settle q/short done --lease "$short"
    expect_status 0 reeve settle q/short done --lease "$TOKEN"
    expect_status 0 reeve settle q/long done --lease "$long"
    expect_status 2 reeve settle q/long done --lease "${long%.*}"
}

# Output that nobody reads: the lease is not known to anyone, and goes back.
unread() {
    put unread
    reeve lease q --json >/dev/full 2>"$TEST_DIR/err" && fail "it was printed"
    expect_eq "$(state unread)" ready
    reeve delete q/unread >/dev/null
}

waiting() {
    "$REEVE" lease q --wait 1m --json >"$TEST_DIR/waited" &
    own $!
    waiter=$!
    wait_for '! redis INFO clients | grep -q blocked_clients:0' 20
    put awaited
    wait "$waiter" || fail "it ended with $?"
    expect_has "$(cat "$TEST_DIR/waited")" '"handle":"q/awaited"'
    TOKEN=$(member lease "$(cat "$TEST_DIR/waited")" | tr -d '"')
    expect_status 0 reeve settle q/awaited done --lease "$TOKEN"
    expect_status 1 reeve lease q --wait 100ms
    expect_has "$ERR" "no task of q is ready"
    "$REEVE" lease q --wait 1m >"$TEST_DIR/waited" 2>&1 &
    own $!
    waiter=$!
    wait_for '! redis INFO clients | grep -q blocked_clients:0' 20
    end "$waiter" TERM
    expect_eq "$ENDED" 143
}

# ---- --exec ------------------------------------------------------------------------------------------------------------

commands() {
    put x y z
    expect_status 0 reeve lease q --count 2 --exec 'tr a-z A-Z; printf " of %s, attempt %s" "$REEVE_HANDLE" "$REEVE_ATTEMPT"'
    expect_eq "$OUT" "q/x done
q/y done"
    expect_eq "$(of_task q/x result)" '"PAYLOAD OF X of q/x, attempt 1"'
    expect_status 1 reeve lease q --exec 'echo first >&2; echo "the reason" >&2; exit 7'
    expect_eq "$OUT" "q/z retry"
    expect_has "$ERR" "the reason"
    expect_eq "$(of_task q/z error_kind) $(of_task q/z error_message)" '"exit" "first\nthe reason"'
    reeve delete q/z >/dev/null
}

# A payload that the command does not read, and outputs that are larger than a pipe.
bytes() {
    head -c 300000 /dev/urandom >"$TEST_DIR/random"
    reeve enqueue q t "@$TEST_DIR/random" --id large >/dev/null
    reeve enqueue q t "@$TEST_DIR/random" --id unread >/dev/null
    expect_status 0 reeve lease q --exec 'tee /dev/stderr' 2>/dev/null
    "$REEVE" show q/large --json | lua_result >"$TEST_DIR/result" && cmp "$TEST_DIR/random" "$TEST_DIR/result"
    expect_status 0 reeve lease q --exec 'exit 0'
    expect_eq "$(state unread)" completed
}
lua_result() { sed 's/.*"result_base64":"\([^"]*\)".*/\1/' | base64 -d; }

# The lease lives as long as the command, whatever --for says.
heartbeats() {
    put slow
    expect_status 0 reeve lease q --for 500ms --exec 'sleep 1.5; echo done'
    expect_eq "$(of_task q/slow result) $(of_task q/slow crashes)" '"done\n" 0'
}

signals() {
    put stopped
    "$REEVE" lease q --exec "trap 'echo heard >$TEST_DIR/heard; exit 0' TERM; echo begun >$TEST_DIR/begun; while :; do sleep 0.05; done" \
        >"$TEST_DIR/out" 2>"$TEST_DIR/err" &
    own $!
    runner=$!
    wait_for '[ -s "$TEST_DIR/begun" ]' 20
    end "$runner" TERM
    expect_eq "$ENDED" 143
    expect_eq "$(cat "$TEST_DIR/heard") $(state stopped) $(of_task q/stopped failures)" "heard ready 0"
    rm "$TEST_DIR/begun"
    "$REEVE" lease q --exec "echo begun >$TEST_DIR/begun; exec sleep 60" >"$TEST_DIR/out" 2>"$TEST_DIR/err" &
    own $!
    runner=$!
    wait_for '[ -s "$TEST_DIR/begun" ]' 20
    expect_status 0 reeve cancel q/stopped
    wait "$runner" && fail "the task was not completed"
    expect_eq "$(state stopped)" cancelled
}

# What the command leaves in the background is not waited for, though it holds the pipes.
left_behind() {
    put parent
    expect_status 0 reeve lease q --exec "sleep 60 & echo \$! >$TEST_DIR/left; echo done"
    own "$(cat "$TEST_DIR/left")"
    kill "$(cat "$TEST_DIR/left")" || fail "the background was waited for"
    expect_eq "$(of_task q/parent result)" '"done\n"'
}

# A command that does not end when it is told to.
stubborn() {
    put deaf
    "$REEVE" lease q --exec "trap '' TERM; echo \$\$ >$TEST_DIR/deaf; while :; do sleep 0.05; done" >"$TEST_DIR/out" 2>"$TEST_DIR/err" &
    own $!
    runner=$!
    wait_for '[ -s "$TEST_DIR/deaf" ]' 20
    end "$runner" TERM
    expect_eq "$ENDED $(state deaf)" "143 ready"
    kill -0 "$(cat "$TEST_DIR/deaf")" 2>/dev/null && fail "the command still runs"
    reeve delete q/deaf >/dev/null
}

outcomes
parents
attempts
expiry
unread
waiting
commands
bytes
heartbeats
signals
left_behind
stubborn
expect_status 3 "$REEVE" --redis unix:///nowhere.sock lease q
exit 0

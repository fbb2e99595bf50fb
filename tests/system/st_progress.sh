# st_progress.sh - what takes long tells on a terminal how far it is, and is silent where a program reads.
. "$(dirname "$0")/lib.sh"

command -v script >/dev/null || { echo "script(1) is not installed"; exit 77; }

# on_terminal COMMAND: runs a line of shell whose standard streams are a terminal; what came there is in $TEST_DIR/out.
on_terminal() {
    script -qec "$1" /dev/null </dev/null >"$TEST_DIR/out" 2>&1 || fail "on a terminal: $1"
    OUT=$(tr '\r' '\n' <"$TEST_DIR/out")
}

# has_bar WORDS: a bar was drawn with these words behind it, and taken away again.
has_bar() {
    printf '%s\n' "$OUT" | grep -qE "^.{0,3}\[#*-*\] +[0-9]+ %  $1 \.\.\." || fail "no bar with: $1"
    expect_has "$OUT" $'\033[K'
}

BULK="'$REEVE' enqueue --bulk p noop"

bulk() {
    seq 1 3000 | sed 's/.*/{"id":"&","tags":["t"]}/' >"$TEST_DIR/in"
    on_terminal "$BULK <'$TEST_DIR/in' >'$TEST_DIR/handles'"
    has_bar "[0-9,]+ enqueued"
    expect_has "$OUT" "3000 enqueued, 0 refused"
    expect_eq "$(wc -l <"$TEST_DIR/handles")" 3000
    # Without an end that is known there is no bar.
    on_terminal "sed 's/id\":\"/&p/' '$TEST_DIR/in' | $BULK >'$TEST_DIR/handles'"
    printf '%s\n' "$OUT" | grep -qE '[0-9,]+ enqueued \.\.\.' || fail "no progress of a pipe"
    expect_lacks "$OUT" "["$'#'
    # What is refused stands on a line of its own.
    (seq 10001 11000 | sed 's/.*/{"id":"&","tags":["t"]}/' && echo nonsense) >"$TEST_DIR/in2"
    run script -qec "$BULK <'$TEST_DIR/in2' >/dev/null" /dev/null </dev/null
    expect_has "$OUT" $'\033[Kreeve: enqueue: line 1001: invalid JSON'
}

sweeps() {
    on_terminal "'$REEVE' cancel p --all"
    has_bar "cancelled [0-9,]+ of [0-9,]+"
    expect_has "$OUT" "cancelled 7,000 of 7,000"
    on_terminal "'$REEVE' retry p --all --state cancelled"
    has_bar "retried [0-9,]+ of [0-9,]+"
    on_terminal "'$REEVE' delete p --tag t --state ready"
    has_bar "deleted [0-9,]+ of [0-9,]+"
    seq 1 2000 | sed 's/.*/{"id":"&"}/' | "$REEVE" enqueue --bulk p noop >/dev/null 2>&1
    "$REEVE" cancel p --all >/dev/null
    on_terminal "'$REEVE' purge p --all --state cancelled"
    has_bar "purged [0-9,]+ of [0-9,]+"
}

# Dead ones of a kind: the bar is about these.
of_a_kind() {
    write_conf w 'session = 2; log = { level = "error"; }' 'pools = ( { name = "p"; queues = [ "d" ]; threads = 2; } );'
    start_worker w
    seq 1 10 | sed 's/.*/{"id":"&","type":"fail","payload":{"kind":"k","message":"m"},"attempts":1}/' |
        "$REEVE" enqueue --bulk d >/dev/null 2>&1
    "$REEVE" enqueue d fail '{"kind":"other","message":"m"}' --attempts 1 >/dev/null
    wait_for '[ "$(in_queue d dead)" = 11 ]' 30
    end "$WORKER_PID"
    on_terminal "'$REEVE' retry d --kind k"
    has_bar "retried 10 of 10"
    expect_has "$OUT" "100 %"
    expect_has "$OUT" "retried 10 of 10"
}

where_programs_read() {
    on_terminal "'$REEVE' cancel p --all --json"
    expect_eq "${OUT%%$'\n'*}" '{"queue":"p","action":"cancel","seen":0,"done":0,"cancelling":0,"refused":0,"dry_run":false,"first":null}'
    expect_lacks "$OUT" $'\033'
    on_terminal "$BULK --json <'$TEST_DIR/in' >'$TEST_DIR/handles'"
    expect_eq "$OUT" ""
    expect_status 0 reeve cancel p --all
    expect_eq "$OUT" "cancelled 3,000 of 3,000"
    expect_eq "$ERR" ""
    expect_status 0 reeve delete p --all --state cancelled
    expect_status 0 reeve enqueue --bulk p noop <"$TEST_DIR/in"
    expect_eq "$ERR" "3000 enqueued, 0 refused"
}

start_redis
bulk
sweeps
of_a_kind
where_programs_read

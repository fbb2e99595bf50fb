# st_by_hand.sh - tasks that are changed by hand, as a user sees it: leases that end, tasks that die, and run again.
. "$(dirname "$0")/lib.sh"

usage() {
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 2 reeve expire
    expect_status 2 reeve expire q
    expect_has "$ERR" "QUEUE/ID"
    expect_status 2 reeve fail q/i --kind
    expect_status 2 reeve retry q --completed --all
    expect_has "$ERR" "--state completed"
    expect_status 3 reeve expire q/i
    unset REEVE_REDIS
}

waiting() {
    expect_status 0 reeve enqueue f noop --id a
    expect_status 0 reeve enqueue f noop --id b --in 1h
    expect_status 0 reeve fail f/a f/b --kind odd --message 'no use'
    expect_eq "$OUT" "$(printf 'failed f/a\nfailed f/b')"
    expect_eq "$(of_task f/b error_kind)" '"odd"'
    expect_status 0 reeve failures f
    expect_has "$OUT" odd
    expect_status 1 reeve fail f/a f/nope
    expect_has "$ERR" "it is dead"
    expect_has "$ERR" "f/nope"
    expect_status 0 reeve retry f --all
    expect_eq "$(in_queue f ready)" 2
    expect_status 0 reeve fail f/a
    expect_eq "$(of_task f/a error_kind) $(of_task f/a error_message)" '"manual" "failed by hand"'
}

editing() {
    expect_status 2 reeve edit e/a
    expect_has "$ERR" "what is to change?"
    expect_status 2 reeve edit e/a --unset nonsense
    expect_status 2 reeve edit e/a --weight 2
    expect_status 2 reeve tag e/a
    expect_status 0 reeve enqueue e noop '{"a":1}' --id a --attempts 3 --group old --tag x --meta k=v
    expect_status 0 reeve enqueue e noop --id b
    printf 'from a file' >"$TEST_DIR/payload"
    expect_status 0 reeve edit e/a e/b --payload @"$TEST_DIR/payload" --type echo --unset group --attempts 7 --tag y --untag x \
        --meta l=m --unmeta k
    expect_eq "$OUT" "$(printf 'edited e/a\nedited e/b')"
    expect_eq "$(of_task e/a type) $(of_task e/a attempts) $(of_task e/a group)" '"echo" 7 null'
    expect_eq "$(of_task e/a tags) $(of_task e/a meta)" '["y"] {"l":"m"}'
    expect_status 0 reeve show e/b --json
    expect_has "$OUT" 'from a file'
    expect_status 0 reeve tag e/a e/b --add z --remove y
    expect_eq "$OUT" "$(printf 'tagged e/a\ntagged e/b')"
    expect_status 0 reeve list e --tag z
    expect_has "$OUT" e/a
    expect_status 1 reeve edit e/nope --priority 1
}

# The handler of a task is told, and the task runs again in another thread; what runs is not in the way.
running() {
    write_conf one 'session = 60;' 'pools = ( { queues = [ "w" ]; threads = 1; } );'
    reeve events w --keep 1000 >/dev/null || fail "events"
    start_worker one
    expect_status 0 reeve enqueue w sleep '{"ms":600000}' --id long
    wait_for '[ "$(of_task w/long state)" = "\"running\"" ]' 30
    expect_status 0 reeve fail w/long --kind stuck
    expect_eq "$OUT" "failed w/long"
    expect_eq "$(of_task w/long error_kind) $(of_task w/long state)" '"stuck" "dead"'
    # The one thread is free: its handler was told to stop.
    expect_status 0 reeve enqueue w echo hi --wait=30
    expect_status 0 reeve enqueue w sleep '{"ms":600000}' --id again
    wait_for '[ "$(of_task w/again state)" = "\"running\"" ]' 30
    expect_status 0 reeve expire w/again
    expect_eq "$OUT" "expired the lease of w/again"
    wait_for 'reeve watch w --since 1m --count 20 --timeout 1s 2>/dev/null | grep -q "lease_expired  w/again"' 30
    wait_for '[ "$(of_task w/again state)" = "\"running\"" ]' 30
    expect_eq "$(of_task w/again failures) $(of_task w/again crashes)" '0 0'
    expect_status 0 reeve cancel w/again
    wait_for '[ "$(of_task w/again state)" = "\"cancelled\"" ]' 30
    expect_eq "$(of_task w/long state)" '"dead"'
}

again() {
    expect_status 0 reeve enqueue w echo old --id done --wait=30
    expect_status 1 reeve retry w/done
    expect_has "$ERR" "it is completed"
    expect_status 0 reeve retry w/done --completed
    expect_eq "$OUT" "retried w/done"
    expect_status 0 reeve wait w/done --timeout 30
    expect_has "$(of_task w/done history)" '"from":"completed"'
    expect_status 0 reeve retry w --state completed --type echo
    wait_for '[ "$(in_queue w ready)" = 0 ]' 30
}

moving() {
    expect_status 2 reeve move m/a
    expect_has "$ERR" "to which queue?"
    expect_status 2 reeve move m/a --to no/queue
    expect_status 0 reeve enqueue m noop --id a --tag x
    expect_status 0 reeve enqueue m noop --id b --after m/a
    expect_status 0 reeve move m/a m/b --to n
    expect_eq "$OUT" "$(printf 'moved m/a\nmoved m/b')"
    expect_eq "$(of_task n/a state) $(of_task n/b state)" '"ready" "blocked"'
    expect_has "$(of_task n/b parents)" '"handle":"n/a"'
    expect_eq "$(in_queue m ready)" 0
    expect_status 0 reeve enqueue m noop --id a
    expect_status 1 reeve move m/a --to n
    expect_has "$ERR" "n/a exists already"
    expect_status 1 reeve move m/nope --to n
    expect_status 0 reeve fail n/a
    expect_eq "$(of_task n/b state)" '"dead"'
}

reasons() {
    expect_status 2 reeve log c/a
    expect_status 2 reeve unlock c
    expect_status 0 reeve enqueue c noop --id a --unique k
    expect_status 0 reeve unlock c k
    expect_eq "$OUT" 'unlocked "k", which c/a held'
    expect_status 1 reeve unlock c k
    expect_status 0 reeve log c/a --line 'seen by ops'
    expect_status 0 reeve show c/a --log
    expect_has "$OUT" "seen by ops"
    expect_status 0 reeve cancel c/a --reason 'not needed'
    expect_eq "$(of_task c/a cancel_reason)" '"not needed"'
    expect_status 2 reeve cancel w/x --reason
    expect_status 0 reeve enqueue w sleep '{"ms":600000}' --id reason
    wait_for '[ "$(of_task w/reason state)" = "\"running\"" ]' 30
    expect_status 0 reeve cancel w/reason --reason 'too late'
    wait_for '[ "$(of_task w/reason state)" = "\"cancelled\"" ]' 30
    expect_eq "$(of_task w/reason cancel_reason)" '"too late"'
}

forgetting() {
    expect_status 0 reeve pause mistyped
    expect_has "$ERR" "no such queue yet: mistyped"
    expect_status 0 reeve limit mistyped --concurrency 2
    expect_status 0 reeve queues
    expect_lacks "$OUT" mistyped
    expect_status 0 reeve forget mistyped
    expect_eq "$OUT" "forgot mistyped"
    expect_status 1 reeve forget mistyped
    expect_has "$ERR" "no such queue: mistyped"
    expect_status 1 reeve forget w f
    expect_has "$ERR" "sessions of workers lease from it"
    expect_has "$ERR" "tasks are in it"
    expect_status 0 reeve forget f e --all
    expect_has "$OUT" "forgot f and deleted its tasks: 2"
    expect_status 0 reeve queues
    expect_eq "$(reeve queues --json | grep -c '"queue":"[ef]"')" 0
}

# A signal ends a verb between two tasks: each task that was changed is reported, by a whole line.
interrupted() {
    local option pid done
    for option in '' --json; do
        redis FLUSHALL >/dev/null
        for i in $(seq 6000); do echo "{\"queue\":\"i\",\"type\":\"noop\",\"id\":\"t$i\"}"; done | reeve enqueue --bulk >/dev/null 2>&1
        seq -f 'i/t%.0f' 6000 >"$TEST_DIR/handles"
        "$REEVE" cancel - $option <"$TEST_DIR/handles" >"$TEST_DIR/out" 2>"$TEST_DIR/err" &
        pid=$!
        own "$pid"
        wait_for '[ "$(redis ZCARD "reeve:{i}:cancelled")" -gt 0 ]' 30
        end "$pid"
        done=$(redis ZCARD 'reeve:{i}:cancelled')
        [ "$done" -lt 6000 ] || fail "all were cancelled before the signal came"
        expect_eq "$ENDED" 143
        expect_eq "$(grep -cE '^cancelled i/t[0-9]+$|"action":"cancel","cancelling":false}$' "$TEST_DIR/out")" "$done" "reported tasks"
        expect_lines "$done"
        [ -z "$option" ] || expect_has "$(cat "$TEST_DIR/err")" '"interrupted"'
    done
}

usage
start_redis
waiting
editing
moving
running
again
reasons
forgetting
interrupted

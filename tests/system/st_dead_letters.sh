# st_dead_letters.sh - dead tasks by the kind of their error: seen, retried, deleted and purged by filters; on_dead.
. "$(dirname "$0")/lib.sh"

usage() {
    local verb
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    for verb in retry cancel delete; do
        expect_status 2 reeve $verb q
        expect_has "$ERR" '"q" is no task but may be a queue'
        expect_has "$ERR" "--all"
        expect_status 2 reeve $verb q --state scheduled
        expect_has "$ERR" "--state alone picks no tasks"
        expect_status 2 reeve $verb q/i --all
        expect_has "$ERR" "go with a QUEUE"
        expect_status 2 reeve $verb - --all
        expect_status 2 reeve $verb q r --all
        expect_has "$ERR" "one QUEUE"
        expect_status 2 reeve $verb 'q q' --all
        expect_status 2 reeve $verb q --all --type t
        [ "$verb" = cancel ] || expect_status 2 reeve $verb q --all --state running
        [ "$verb" = cancel ] || expect_has "$ERR" "running tasks are not for $verb"
        expect_status 2 reeve $verb q --all --state gone
        expect_status 2 reeve $verb q --older-than 0
        expect_status 3 reeve $verb q --all
    done
    expect_status 3 reeve retry q --kind k --state scheduled
    expect_status 3 reeve cancel q --kind k
    expect_status 2 reeve retry q --all --state ready
    expect_status 2 reeve cancel q --all --state dead
    expect_status 2 reeve purge
    expect_status 2 reeve purge q/i
    expect_status 2 reeve purge q --state ready
    expect_has "$ERR" "dead, completed or cancelled"
    expect_status 2 reeve purge q
    expect_has "$ERR" "--all"
    expect_status 3 reeve purge q --all
    expect_status 2 reeve failures q k x
    expect_status 2 reeve failures 'q q'
    expect_status 2 reeve failures q k --by type
    expect_status 2 reeve failures q --by queue
    expect_has "$ERR" "kind or type"
    expect_status 2 reeve failures --offset 5
    expect_has "$ERR" "QUEUE"
    for verb in failures "failures q" "failures q k" "list q --kind k"; do
        # shellcheck disable=SC2086
        expect_status 3 reeve $verb
    done
    unset REEVE_REDIS
}

# line QUEUE ID KIND MESSAGE TAG: a line for bulk: a task that dies of that kind at once.
line() {
    printf '{"queue":"%s","id":"%s","type":"fail","attempts":1,"payload":{"kind":"%s","message":"%s"},"tags":["%s"]}\n' \
        "$@"
}

make_deaths() {
    {
        for i in 1 2 3 4 5; do line d "io$i" io "disk $i" a; done
        for i in 1 2 3; do line d "decode$i" decode "no JPEG" b; done
        line d odd 'kind with \"ü\" / :' odd b
        line e one io "elsewhere" a
    } | reeve enqueue --bulk >/dev/null 2>"$TEST_DIR/err" || fail "not all was enqueued"
    wait_for '[ "$(in_queue d dead)" = 9 ] && [ "$(in_queue e dead)" = 1 ]' 60
}

seeing() {
    local second
    expect_status 0 reeve failures d
    expect_lines 4
    expect_has "${OUT%%$'\n'*}" "KIND"
    grep -Eq '^d +io +5 +.* fail +disk [1-5]$' "$TEST_DIR/out" || fail "no row of io"
    grep -Eq '^d +decode +3 +.* fail +no JPEG$' "$TEST_DIR/out" || fail "no row of decode"
    expect_status 0 reeve failures
    expect_lines 5
    grep -Eq '^e +io +1 ' "$TEST_DIR/out" || fail "no row of e"
    expect_status 0 reeve failures e --json
    expect_lines 1
    expect_has "$OUT" '{"queue":"e","kind":"io","count":1,"last_ms":1'
    expect_has "$OUT" ',"last_handle":"e/one","last_type":"fail","last_message":"elsewhere"}'
    expect_status 0 reeve failures d --json
    second=$(sed -n 2p "$TEST_DIR/out")
    expect_status 0 reeve failures --by type
    expect_lines 3
    grep -Eq '^d +fail +9 +.* (io|decode|kind with .*) +(disk [1-5]|no JPEG|odd)$' "$TEST_DIR/out" || fail "no row of d by type"
    grep -Eq '^e +fail +1 ' "$TEST_DIR/out" || fail "no row of e by type"
    expect_status 0 reeve failures e --by type --json
    expect_lines 1
    expect_has "$OUT" '{"queue":"e","type":"fail","count":1,"last_ms":1'
    expect_has "$OUT" ',"last_handle":"e/one","last_kind":"io","last_message":"elsewhere"}'
    expect_status 0 reeve failures d --by type --offset 1 --json
    expect_eq "$OUT" ""
    expect_status 0 reeve failures d --limit 1 --offset 1 --json
    expect_eq "$OUT" "$second"
    expect_status 0 reeve failures d --limit 2
    expect_lines 3
    expect_eq "$ERR" "2 of 3 kinds (--limit 0 lists all)"
    expect_status 0 reeve failures d io
    expect_lines 6
    expect_status 0 reeve failures d 'kind with "ü" / :' --json
    expect_lines 1
    expect_eq "$(member handle "$OUT")" '"d/odd"'
    expect_status 0 reeve list d --state dead --kind decode --json
    expect_lines 3
    expect_status 0 reeve list d --kind decode --limit 2
    expect_lines 3
    expect_eq "$ERR" "2 of 3 dead tasks (--limit 0 lists all)"
    expect_status 0 reeve failures d nosuch
    expect_eq "$OUT" ""
    expect_eq "$ERR" "no dead task of that kind in d"
    expect_status 0 reeve failures never
    expect_eq "$OUT" ""
    expect_eq "$ERR" "reeve: failures: no such queue yet: never"$'\n'"no dead task in never"
    expect_status 0 reeve show d/io1
    expect_has "$OUT" "run it again with: reeve retry d/io1"
}

# (Paused, so that what is retried stays where it can be seen.)
retrying() {
    expect_status 0 reeve pause d
    expect_status 0 reeve retry d --kind decode --tag a
    expect_eq "$OUT" "retried 0 of 3"
    expect_status 0 reeve retry d --kind decode
    expect_eq "$OUT" "retried 3 of 3"
    expect_eq "$ERR" ""
    expect_eq "$(in_queue d ready)" 3
    expect_eq "$(of_task d/decode1 failures)" 0
    expect_status 0 reeve failures d decode
    expect_eq "$OUT" ""
    expect_status 0 reeve retry d --older-than 1h
    expect_has "$OUT" "retried 0 of "
    expect_status 0 reeve retry d --type nosuch --json
    expect_eq "$(member done "$OUT")" 0
    expect_status 0 reeve retry d --tag b --json
    expect_eq "$(member done "$OUT")" 1
    expect_eq "$(member action "$OUT")" '"retry"'
    expect_eq "$(in_queue d dead)" 5
    expect_status 0 reeve retry d --all
    expect_eq "$OUT" "retried 5 of 5"
    expect_eq "$(in_queue d dead)" 0
    expect_eq "$(in_queue e dead)" 1
    expect_status 0 reeve failures d
    expect_eq "$OUT" ""
}

cancelling() {
    expect_status 0 reeve enqueue d noop --id later --in 1h --tag b
    expect_status 0 reeve cancel d --tag b --state scheduled
    expect_eq "$OUT" "cancelled 1 of 1"
    expect_status 0 reeve enqueue d noop --id later2 --in 1h --tag b
    # (b: three of decode, the odd one, and the scheduled one)
    expect_status 0 reeve cancel d --tag b --json
    expect_eq "$OUT" '{"queue":"d","action":"cancel","seen":10,"done":5,"cancelling":0,"refused":0,"dry_run":false,"first":null}'
    expect_eq "$(in_queue d ready)" 5
    expect_status 0 reeve cancel d --all
    expect_eq "$OUT" "cancelled 5 of 5"
    expect_status 0 reeve retry d --all --state cancelled
    expect_eq "$OUT" "retried 11 of 11"
    expect_eq "$(in_queue d ready)" 11
}

deleting() {
    expect_status 0 reeve resume d
    wait_for 'is_still d 2 9' 60
    expect_status 0 reeve delete d --kind decode
    expect_eq "$OUT" "deleted 3 of 3"
    expect_status 1 reeve show d/decode1
    expect_status 0 reeve purge d --tag b
    expect_eq "$OUT" "purged 1 of 6"
    expect_status 0 reeve purge d --state completed --type noop --json
    expect_eq "$OUT" '{"queue":"d","action":"purge","seen":2,"done":2,"cancelling":0,"refused":0,"dry_run":false,"first":null}'
    expect_status 0 reeve purge d --older-than 1d
    expect_has "$OUT" "purged 0 of "
    expect_status 2 reeve purge d --state dead
    expect_status 0 reeve purge d --all --dry-run
    expect_has "$OUT" "would be purged; nothing was done"
    expect_status 0 reeve purge d --all
    expect_eq "$OUT" "purged 5 of 5"
    expect_status 0 reeve purge d --all
    expect_eq "$OUT" "purged 0 of 0"
    expect_eq "$(redis --scan --pattern 'reeve:{d}:info:*')" ""
    expect_eq "$(redis --scan --pattern 'reeve:{d}:failures*')" ""
    expect_eq "$(redis HLEN 'reeve:{d}:tasks')" 0
    expect_eq "$(in_queue e dead)" 1
}

# Many: in steps, counted right, with how far on a terminal.
in_steps() {
    expect_status 0 reeve pause s
    seq 1 3000 | sed 's/.*/{"id":"&","type":"noop","tags":["t"]}/' | bulk s || exit 1
    expect_status 0 reeve cancel s --all
    expect_eq "$OUT" "cancelled 3,000 of 3,000"
    expect_eq "$ERR" ""
    expect_eq "$(in_queue s cancelled)" 3000
    if command -v script >/dev/null; then
        script -qec "'$REEVE' retry s --all --state cancelled 2>&1" /dev/null </dev/null >"$TEST_DIR/out" 2>&1
        expect_has "$(cat "$TEST_DIR/out")" "retried 3,000 of 3,000"
        expect_has "$(cat "$TEST_DIR/out")" " ..."
    else
        expect_status 0 reeve retry s --all --state cancelled
    fi
    expect_status 0 reeve delete s --tag t --state ready
    expect_eq "$OUT" "deleted 3,000 of 3,000"
}

# told QUEUE TYPE: how many tasks of a type have completed there.
told() { reeve list "$1" --state completed --limit 0 --json | grep -c "\"type\":\"$2\""; }

telling() {
    expect_status 0 reeve enqueue e fail '{"kind":"k","message":"m"}' --attempts 1 --id told --on-dead echo
    wait_for '[ "$(told e echo)" = 1 ]' 30
    OUT=$(reeve list e --state completed --json | grep '"type":"echo"')
    expect_has "$OUT" '\"id\":\"told\"'
    expect_has "$OUT" '\"kind\":\"k\"'
    expect_has "$OUT" '\"message\":\"m\"'
    # (The queue t has it by the worker's configuration; a task may say otherwise.)
    expect_status 5 reeve enqueue t fail '{}' --attempts 1 --wait=30
    wait_for '[ "$(told t noop)" = 1 ]' 30
    expect_status 5 reeve enqueue t fail '{}' --attempts 1 --on-dead '' --wait=30
    expect_status 5 reeve enqueue t fail '{}' --attempts 1 --on-dead echo --wait=30
    wait_for '[ "$(told t echo)" = 1 ]' 30
    expect_eq "$(told t noop)" 1
}

usage
start_redis
write_conf one "" 'pools = ( { queues = [ "d", "e", "t" ]; threads = 2; } );' \
    'queues = ( { name = "t"; on_dead = "noop"; } );'
start_worker one
make_deaths
seeing
retrying
cancelling
deleting
in_steps
telling

#!/usr/bin/env bash
# The verbs that make a call for each task of a queue that a filter selects: what they select, their limits, and their
# dry runs. (Those that scripts change are in st_search.sh and st_dead_letters.sh.)
. "$(dirname "$0")/lib.sh"

# The ids of queue q in a state, sorted. ids_in STATE [OPTION]...
ids_in() {
    local state=$1
    shift
    reeve list q --state "$state" --json --limit 0 "$@" | sed 's/.*"id":"\([^"]*\)".*/\1/' | sort | paste -sd' '
}

# changes SUMS COMMAND...: the command, of which a dry run tells the same number and changes nothing, prints these sums.
changes() {
    local sums=$1 before
    shift
    before=$(reeve list q --state all --json --limit 0)
    expect_status 0 reeve "$@" --dry-run --json
    expect_eq "$(member dry_run "$OUT")" true
    expect_eq "$(member 'done' "$OUT")" "$(sed 's/[^0-9]*\([0-9]*\).*/\1/' <<<"$sums")"
    expect_eq "$(reeve list q --state all --json --limit 0)" "$before"
    expect_status 0 reeve "$@"
    expect_has "$OUT" "$sums"
}

make_tasks() {
    cat >"$TEST_DIR/in" <<'LINES'
{"queue":"q","id":"a1","type":"mail","group":"acme","tags":["new"],"meta":{"customer":"4"}}
{"queue":"q","id":"a2","type":"mail","group":"acme"}
{"queue":"q","id":"a3","type":"mail"}
{"queue":"q","id":"b1","type":"sms","tags":["new"]}
{"queue":"q","id":"b2","type":"sms"}
{"queue":"q","id":"s1","type":"mail","at":"2040-01-01T00:00:00Z"}
{"queue":"q","id":"s2","type":"sms","at":"2041-01-01T00:00:00Z"}
{"queue":"q","id":"c1","type":"sms","after":"q/s1"}
LINES
    expect_status 0 reeve enqueue --bulk <"$TEST_DIR/in"
}

tagging() {
    changes "tagged 2 of 8" tag q --type mail --group acme --add big
    expect_eq "$(ids_in all --tag big)" "a1 a2"
    changes "tagged 1 of " tag q --tag big --limit 1 --remove big
    expect_eq "$(ids_in all --tag big | wc -w)" 1
    changes "tagged 8 of 8" tag q --all --add seen
    expect_eq "$(ids_in all --tag seen | wc -w)" 8
}

# Filters of names that are also those of changes begin with "only-".
editing() {
    changes "edited 1 of " edit q --only-type sms --only-tag new --not-failed --priority 7 --meta by=ops
    expect_eq "$(ids_in all --meta by=ops)" b1
    changes "edited 2 of 8" edit q --only-type sms --state all --id-prefix b --tag late --type text
    expect_eq "$(ids_in all --type text --tag late)" "b1 b2"
    expect_status 2 reeve edit q --only-tag '' --priority 7
    expect_has "$ERR" "--only-tag: the text is empty"
}

# A task that is moved to a state that is searched later is changed once.
rescheduling() {
    changes "rescheduled 2 of 7" reschedule q --id-prefix s --now
    expect_eq "$(ids_in scheduled)" ""
    changes "rescheduled 2 of " reschedule q --id-prefix s --state ready --in 1h
    expect_eq "$(ids_in scheduled)" "s1 s2"
    changes "rescheduled 8 of 8" reschedule q --all --priority 3
    expect_status 2 reeve reschedule q --all --state blocked --now
    expect_has "$ERR" "expected scheduled, parked or ready"
}

others() {
    changes "changed 2 of 2" depend q --state scheduled --all --after q/a1
    expect_eq "$(ids_in blocked)" "c1 s1 s2"
    changes "changed 2 of 3" depend q --state blocked --id-prefix s --remove-after q/a1
    changes "noted 2 of " log q --tag late --state ready --line 'looked at it'
    expect_has "$(reeve show q/b1 --log)" "looked at it"
}

# What is refused is counted; the first reason is printed. A limit counts what was changed.
refusals() {
    reeve enqueue to noop --id a1 >/dev/null || fail "not enqueued"
    expect_status 1 reeve move q --group acme --to to --limit 1 --json
    expect_eq "$(member 'done' "$OUT") $(member refused "$OUT")" "1 1"
    expect_has "$ERR" '"error":"exists"'
    expect_eq "$(reeve list to --json | wc -l)" 2
    expect_status 1 reeve move q --group acme --to to
    expect_has "$OUT" "moved 0 of "
    expect_has "$OUT" "(1 refused)"
    expect_has "$ERR" "refused: cannot move q/a1: a task to/a1 exists already"
    changes "moved 2 of " move q --id-prefix b --to to
    expect_status 2 reeve move q --all --state running --to to
    expect_has "$ERR" "running tasks are not for move"
}

running() {
    write_conf r '' 'pools = ( { name = "r"; queues = [ "r" ]; threads = 3; } );'
    reeve pause r >/dev/null || fail "not paused"
    for id in x1 x2 y1; do reeve enqueue r sleep '{"ms":60000}' --id "$id" >/dev/null || fail "not enqueued"; done
    reeve resume r >/dev/null || fail "not resumed"
    start_worker r
    wait_for '[ "$(in_queue r running)" = 3 ]' 30
    expect_status 0 reeve expire r --id-prefix x --dry-run
    expect_has "$OUT" "2 of 3 would be expired; nothing was done"
    expect_status 0 reeve fail r --state running --only-kind none
    expect_has "$OUT" "failed 0 of 3"
    expect_status 0 reeve fail r --state running --id-prefix y --kind obsolete
    expect_has "$OUT" "failed 1 of 3"
    expect_eq "$(of_task r/y1 error_kind)" '"obsolete"'
    expect_status 0 reeve expire r --all --limit 1
    expect_has "$OUT" "expired 1 of "
    expect_status 0 reeve cancel r --state running --all --dry-run
    expect_has "$OUT" "would be asked to stop; nothing was done"
    expect_status 0 reeve cancel r --state running --id-prefix x
    wait_for '[ "$(in_queue r cancelled)" -ge 1 ]' 30
}

# Running tasks are asked to stop. The test holds their leases, so they still run when the command ends.
asking() {
    local id
    reeve enqueue stop sleep --id w >/dev/null || fail "not enqueued"
    for id in z1 z2 z3; do
        reeve enqueue stop sleep --id "$id" >/dev/null || fail "not enqueued"
        expect_status 0 reeve lease "stop/$id" --for 10m
    done
    expect_status 0 reeve cancel stop --state running --all --dry-run
    expect_has "$OUT" "3 of 3 would be asked to stop; nothing was done"
    expect_status 0 reeve cancel stop --state running --all --dry-run --json
    expect_eq "$(member 'done' "$OUT") $(member cancelling "$OUT")" "0 3"
    expect_status 0 reeve cancel stop --state running --all --limit 1
    expect_eq "$OUT" "cancelled 0 of 1; asked 1 running task to stop"
    expect_status 0 reeve cancel stop --state running --all
    expect_eq "$OUT" "cancelled 0 of 3; asked 3 running tasks to stop"
    expect_eq "$(in_queue stop running)" 3
    expect_status 0 reeve cancel stop --state running --id-prefix z --json
    expect_eq "$(member 'done' "$OUT") $(member cancelling "$OUT")" "0 3"
    expect_status 0 reeve cancel stop --all --json
    expect_eq "$(member 'done' "$OUT") $(member cancelling "$OUT")" "1 0"
}

# A reason takes a call for each task, also of waiting ones.
reasons() {
    for id in w1 w2; do reeve enqueue why noop --id "$id" >/dev/null || fail "not enqueued"; done
    changes "cancelled 1 of " cancel why --id-prefix w1 --reason "no longer needed"
    expect_status 2 reeve cancel why --all --reason "$(printf '%0300d' 0)"
    changes "cancelled 1 of " cancel why --all --reason "no longer needed"
    for id in w1 w2; do expect_eq "$(of_task "why/$id" cancel_reason)" '"no longer needed"'; done
}

# An error of all calls ends the work at the first task. An error of one task is counted.
ends_at_once() {
    expect_status 2 reeve edit q --all --group ''
    expect_has "$ERR" "--group: the text is empty"
    for dry in '' --dry-run; do
        expect_status 2 reeve move q --all --to q $dry
        expect_has "$ERR" "--to q: the tasks are in this queue"
    done
    reeve enqueue own noop --id a >/dev/null && reeve enqueue own noop --id b >/dev/null || fail "not enqueued"
    expect_status 2 reeve edit own --all --on-dead "$(printf '%0300d' 0)"
    expect_eq "$OUT" "edited 0 of 2"
    expect_has "$ERR" "on_dead"
    expect_status 1 reeve depend own --all --after own/a
    expect_eq "$OUT" "changed 1 of 2 (1 refused)"
    expect_has "$ERR" "own/a cannot wait for itself"
}

# A replica refuses every write, and each call is repeated for some seconds.
on_a_replica() {
    # (A server in cluster mode becomes no replica without a master.)
    [ "${REEVE_TEST_OVER:-unix}" != cluster ] || return 0
    redis REPLICAOF 127.0.0.1 1 >/dev/null
    expect_status 1 reeve tag own --all --add x
    expect_eq "$OUT" "tagged 0 of 2"
    expect_has "$ERR" "READONLY"
    # Neither are calls made for the other handles, keys or queues that a command lists.
    while read -r words; do
        # shellcheck disable=SC2086
        expect_status 1 reeve $words
        expect_has "$ERR" "READONLY"
        expect_eq "$(grep -c READONLY <<<"$ERR")" 1 "$words"
    done <<'END'
cancel own/a own/b own/a
tag own/a own/b --add x
delete own/b own/a
unlock own one two three
forget own to --all
END
    printf '%s\n' own/a own/b >"$TEST_DIR/handles"
    expect_status 1 reeve tag - --add x <"$TEST_DIR/handles"
    expect_eq "$(grep -c READONLY <<<"$ERR")" 1
    redis REPLICAOF NO ONE >/dev/null
}

# Redis refuses every write of this user. No call is repeated, so one script call fails.
without_rights() {
    redis ACL SETUSER reader on '>secret' '~*' '&*' +@all -@write >/dev/null
    redis CONFIG RESETSTAT >/dev/null
    expect_status 1 reeve tag own --all --add x --redis "$(redis_as reader:secret)" --json
    expect_eq "$(member seen "$OUT") $(member 'done' "$OUT") $(member refused "$OUT")" "2 0 0"
    expect_has "$ERR" '"error":"redis"'
    expect_has "$(redis INFO commandstats | grep '^cmdstat_evalsha:')" "failed_calls=1"
}

failing() {
    changes "failed 3 of " fail q --type mail --state all --kind obsolete --message 'not any more'
    expect_eq "$(ids_in dead --kind obsolete)" "a1 a3 s1"
}

words() {
    for verb in expire fail edit move reschedule tag log depend; do
        expect_status 0 reeve "$verb" --help
        for option in --all --limit --dry-run --id-prefix; do expect_has "$OUT" "$option"; done
    done
    expect_status 2 reeve fail q
    expect_has "$ERR" "--all for all waiting tasks, or pick some with --type, --only-kind, --older-than"
    expect_status 2 reeve tag q --add x
    expect_has "$ERR" "--all for all its tasks"
    expect_status 2 reeve expire q/a1 --dry-run
    expect_status 2 reeve tag q/a1 --add x --type mail
    expect_has "$ERR" "names single tasks"
}

start_redis
make_tasks
tagging
editing
rescheduling
others
refusals
failing
running
asking
reasons
ends_at_once
on_a_replica
without_rights
words

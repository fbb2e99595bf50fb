#!/usr/bin/env bash
# What `reeve list` and the verbs that change many tasks select: the same filter, the same limits.
. "$(dirname "$0")/lib.sh"

ids() { sed 's/.*"id":"\([^"]*\)".*/\1/' "$TEST_DIR/out" | paste -sd' '; }

# selects IDS OPTION...: the tasks of queue q that the options select, sorted.
selects() {
    local expected=$1
    shift
    expect_status 0 reeve list q --json --limit 0 "$@"
    expect_eq "$(ids | tr ' ' '\n' | sort | paste -sd' ')" "$expected"
}

make_tasks() {
    cat >"$TEST_DIR/in" <<'LINES'
{"queue":"q","id":"a1","type":"mail","group":"acme","meta":{"customer":"4","color":"red"},"payload":{"to":"ann"}}
{"queue":"q","id":"a2","type":"mail","group":"bolt","meta":{"customer":"5"},"payload":{"to":"bob"}}
{"queue":"q","id":"b1","type":"sms","tags":["vip"],"payload":"plain text"}
{"queue":"q","id":"s1","type":"mail","at":"2030-01-01T00:00:00Z"}
{"queue":"q","id":"s2","type":"mail","at":"2031-01-01T00:00:00Z","tags":["vip"]}
{"queue":"q","id":"c1","type":"sms","after":"q/s1"}
LINES
    expect_status 0 reeve enqueue --bulk <"$TEST_DIR/in"
    reeve cancel q/a2 >/dev/null || fail "no cancel"
}

listing() {
    selects "a1 a2 b1 c1 s1 s2" --state all
    selects "a1 a2 s1 s2" --type mail
    selects "a1" --type mail --state ready
    selects "a2" --state cancelled
    selects "b1 s2" --tag vip
    selects "b1" --tag vip --type sms
    selects "a1" --group acme
    selects "a1" --meta customer=4
    selects "a1" --meta customer=4 --meta color=red
    selects "" --meta customer=5 --meta color=red
    selects "a1 a2" --id-prefix a
    selects "a2" --payload-has '"bob"'
    selects "s1" --due-before 2030-06-01T00:00:00Z
    selects "s2" --due-after 2030-06-01T00:00:00Z --state scheduled
    selects "a2" --ended-after 2020-01-01T00:00:00Z
    selects "" --ended-before 2020-01-01T00:00:00Z
    selects "" --enqueued-before 2020-01-01T00:00:00Z
    selects "a1 a2 b1 c1 s1 s2" --enqueued-after 2020-01-01T00:00:00Z
    selects "" --worker nobody
    selects "s1 s2" --state scheduled --not-failed
    selects "" --failed
    expect_status 0 reeve list q --type mail
    expect_lines 5
    expect_eq "$ERR" "4 tasks shown; looked at 6 of 6"
    expect_status 0 reeve list q --state all --limit 2
    expect_lines 3
    expect_has "$ERR" "2 tasks shown; looked at "
    expect_has "$ERR" " of 6 (--limit 0 lists all)"
    expect_status 0 reeve list q --type mail --scan 1
    expect_has "$ERR" "(--scan 0 looks at all)"
    expect_status 0 reeve list q --state all --offset 5 --json
    expect_lines 1
}

refused() {
    expect_status 2 reeve list q --failed --not-failed
    expect_status 2 reeve list q --group ''
    expect_status 2 reeve list q --meta novalue
    expect_status 2 reeve list q --state none
    expect_has "$ERR" "or all"
    expect_status 2 reeve list q --due-before yesterday
    expect_status 2 reeve retry q/a1 --limit 3
    expect_status 2 reeve cancel q --all --type mail
}

# refuses FILTER STATES VERB...: the verb takes no tasks that the filter selects, and does not offer it.
refuses() {
    local filter=$1 states=$2
    shift 2
    expect_status 2 reeve "$@" q "--$filter" 2030-01-01T00:00:00Z
    expect_has "$ERR" "--$filter selects only $states tasks, and $1 takes none of these"
    expect_status 0 reeve help "$1"
    expect_lacks "$OUT" "--$filter"
    expect_status 0 reeve complete -- "$1" --
    expect_lacks "$OUT" "--$filter"
}

# Filters that select no task of a verb, or none in the state that it goes through.
never_matching() {
    local ended="completed, dead or cancelled"
    refuses due-after scheduled expire
    refuses due-before scheduled purge
    for verb in expire cancel fail depend reschedule; do refuses ended-before "$ended" "$verb"; done
    for verb in depend reschedule; do refuses worker "running or completed" "$verb"; done
    expect_status 0 reeve help expire
    expect_has "$OUT" "--worker"
    expect_lacks "$OUT" "--state scheduled"
    expect_status 2 reeve retry q --due-before 2030-01-01T00:00:00Z
    expect_has "$ERR" "--due-before selects only tasks with --state scheduled"
    expect_status 2 reeve list q --state dead --worker media-1
    expect_has "$ERR" "--worker selects only tasks with --state running or completed"
    expect_status 2 reeve edit q --priority 1 --ended-before 2030-01-01T00:00:00Z
    expect_has "$ERR" "--ended-before selects only tasks with --state $ended"
    expect_status 0 reeve edit q --priority 1 --state dead --ended-before 2030-01-01T00:00:00Z --dry-run
    expect_status 2 reeve enqueue q mail --due-after 2030-01-01T00:00:00Z
    expect_has "$ERR" 'unknown option "--due-after"'
}

changing() {
    expect_status 0 reeve cancel q --meta customer=4 --dry-run
    expect_has "$OUT" "1 of 5 would be cancelled"
    expect_has "$OUT" "q/a1"
    expect_status 0 reeve cancel q --due-before 2030-06-01T00:00:00Z --dry-run --json
    expect_eq "$(member 'done' "$OUT")" 1
    expect_status 0 reeve cancel q --type mail --state scheduled --limit 1 --id-prefix s2
    expect_has "$OUT" "cancelled 1 of "
    expect_status 0 reeve retry q --state cancelled --all --limit 1
    expect_has "$OUT" "retried 1 of 1"
    selects "s2" --state cancelled
    expect_status 0 reeve cancel q --id-prefix s2
    expect_status 0 reeve retry q --state all --id-prefix s --dry-run
    expect_has "$OUT" "2 of "
    expect_status 0 reeve retry q --state cancelled --id-prefix s2
    expect_status 0 reeve cancel q --id-prefix s2
    expect_status 0 reeve delete q --state all --payload-has plain
    expect_has "$OUT" "deleted 1 of "
    expect_status 0 reeve purge q --state all --id-prefix s
    expect_has "$OUT" "purged 1 of 1"
    selects "a1 a2 c1 s1" --state all
}

# A task that waits for a retry is told from one that waits for its time.
retries() {
    cat >"$TEST_DIR/r.conf" <<CONF
redis = "$REDIS_URL";
worker = { name = "media-1"; };
plugins = [ "$PLUGIN_DIR/sample.so" ];
pools = ( { name = "r"; queues = [ "r" ]; threads = 2; } );
CONF
    start_worker r
    reeve enqueue r fail '{"kind":"net","message":"m","times":9}' --id again --backoff fixed:1h >/dev/null || fail enqueue
    reeve enqueue r noop --id later --in 1h >/dev/null || fail enqueue
    wait_for '[ "$(in_queue r scheduled)" = 2 ]' 30
    expect_status 0 reeve list r --state scheduled --failed --json
    expect_eq "$(ids)" again
    expect_status 0 reeve list r --state scheduled --not-failed --json
    expect_eq "$(ids)" later
    expect_status 0 reeve list r --kind net --state scheduled --json
    expect_eq "$(ids)" again
    reeve enqueue r sleep '{"ms":60000}' --id now >/dev/null || fail enqueue
    wait_for '[ "$(in_queue r running)" = 1 ]' 30
    wait_for 'reeve workers --json | grep -q media-1' 30
    expect_status 0 reeve list r --worker media-1 --json
    expect_eq "$(ids)" now
    expect_status 0 reeve list r --worker "$(member worker "$(reeve workers --json)" | tr -d '"')" --json
    expect_eq "$(ids)" now
    expect_status 0 reeve retry r --state scheduled --failed --kind net
    expect_has "$OUT" "retried 1 of "
}

start_redis
make_tasks
listing
refused
never_matching
changing
retries

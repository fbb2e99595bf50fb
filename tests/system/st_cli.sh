# st_cli.sh - the command line as its user sees it: usage, every exit status, bad input, looking and steering.
. "$(dirname "$0")/lib.sh"

# ---- usage -------------------------------------------------------------------------------------------------------

usage_needs_no_redis() {
    local verb
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 0 reeve --version
    expect_eq "$OUT" "reeve $(sed -n 's/^#define REEVE_VERSION_[A-Z]* //p' "$REEVE_SOURCE/include/reeve/version.h" |
        paste -sd.)"
    expect_status 0 reeve --help
    for verb in $(verbs); do
        expect_status 0 reeve "$verb" --help
        expect_has "$OUT" "usage: reeve $verb"
        expect_has "$OUT" "Exit status: 0 "
        expect_has "$OUT" "xample"
        expect_quiet
    done
    # Each source of a verb adds it.
    expect_eq "$(verbs | sort)" "$(sed -n 's/^const cli_verb cli_verb_\([a-z]*\) = {$/\1/p' \
        "$REEVE_SOURCE"/src/programs/{cli,run,bench,web,reeve}/*.c | grep -vx complete | sort)"
    expect_status 0 reeve help enqueue
    expect_has "$OUT" "--priority N"
    expect_has "$OUT" "--unique KEY"
    expect_has "$OUT" "--after"
}

# Each line of help fits 120 columns, and none ends with a blank.
help_fits() {
    local verb
    {
        reeve --help
        "$REEVE_WORKER" --help
        for verb in $(verbs); do reeve help "$verb"; done
    } >"$TEST_DIR/help" 2>&1 || fail "no help"
    [ "$(wc -l <"$TEST_DIR/help")" -gt 1000 ] || fail "the help is short"
    awk 'length > 120 || / $/' "$TEST_DIR/help" >"$TEST_DIR/unfit"
    [ ! -s "$TEST_DIR/unfit" ] || fail "lines of help: $(cat "$TEST_DIR/unfit")"
    # An option's text stays in its column; a synopsis is not cut within brackets.
    reeve help enqueue | grep -A1 -e '^  --retry-for DURATION ' >"$TEST_DIR/out" || fail "no --retry-for"
    tail -n1 "$TEST_DIR/out" | grep -q '^ \{27\}[^ ]' || fail "the second line: $(cat "$TEST_DIR/out")"
    reeve help tune | sed -n '2p' | grep -q '^ \{11\}\[--' || fail "the synopsis: $(reeve help tune | head -2)"
    expect_eq "$(reeve help ping | head -n1)" "usage: reeve ping"
}

# A verb's help prints the defaults that hold for it: `bench` has its own, and `run` needs no Redis.
help_prints_own_defaults() {
    expect_status 0 reeve queues --help
    expect_has "$OUT" "namespace of all keys (reeve)"
    expect_has "$OUT" "REEVE_REDIS"
    expect_status 0 reeve bench --help
    expect_has "$OUT" "namespace of all keys (reeve-bench)"
    expect_has "$OUT" "URL of Redis (default: a private redis-server)"
    expect_has "$OUT" "--redis-file FILE"
    expect_status 0 reeve run --help
    expect_lacks "$OUT" "--redis"
    expect_lacks "$OUT" "--ns NAME"
    expect_has "$OUT" "--json"
}

usage_errors() {
    expect_status 2 reeve
    expect_has "$ERR" "reeve --help"
    expect_status 2 reeve enqeue q t
    expect_has "$ERR" 'did you mean "enqueue"?'
    expect_status 2 reeve --jsn queues
    expect_has "$ERR" 'did you mean "--json"?'
    expect_status 2 reeve enqueue q t --prioritty 1
    expect_has "$ERR" 'did you mean "--priority"?'
    expect_status 2 reeve list q --state reday
    expect_has "$ERR" '; did you mean "ready"?'
    expect_status 2 reeve enqueue
    expect_has "$ERR" "QUEUE is missing"
    expect_status 2 reeve enqueue q
    expect_has "$ERR" "TYPE is missing"
    expect_status 2 reeve enqueue q t p x
    expect_status 2 reeve enqueue 'q q' t
    expect_has "$ERR" '"q q"'
    expect_status 2 reeve enqueue q 't t'
    expect_status 2 reeve enqueue "$(printf 'q%.0s' {1..65})" t
    expect_status 2 reeve enqueue q "$(printf 't%.0s' {1..101})"
    expect_status 2 reeve enqueue q t --id 'a/b'
    expect_status 2 reeve enqueue q t --priority 128
    expect_status 2 reeve enqueue q t --weight 0
    expect_status 2 reeve enqueue q t --weight 2
    expect_has "$ERR" "weight 2: needs a group"
    expect_status 2 reeve enqueue q t --on-dead 'a b'
    expect_has "$ERR" 'on_dead "a b": a type has 1 to 100 of'
    expect_status 2 reeve enqueue q t --attempts 0
    expect_status 2 reeve enqueue q t --timeout soon
    expect_has "$ERR" "5m"
    expect_status 2 reeve enqueue q t --backoff slow
    expect_has "$ERR" '--backoff: backoff "slow": expected exponential[:BASE[:CAP]]'
    expect_status 2 reeve enqueue q t --backoff list:1s,0
    expect_status 2 reeve enqueue q t --in 5 --at 2030-01-01T00:00:00Z
    expect_status 2 reeve enqueue q t --meta novalue
    expect_has "$ERR" "KEY=VALUE"
    expect_status 2 reeve enqueue q t --tag $'\xff'
    expect_status 2 reeve enqueue q t --after q
    expect_has "$ERR" "--after \"q\""
    expect_status 2 reeve enqueue --bulk --in 5 q t
    expect_status 2 reeve enqueue --bulk q t payload
    expect_status 2 reeve show
    for handle in abc / q/ /i q/a/b 'q q/i'; do
        expect_status 2 reeve show "$handle"
        expect_has "$ERR" "QUEUE/ID"
    done
    expect_status 2 reeve wait q/i --timeout x
    expect_status 2 reeve list 'q q'
    expect_status 2 reeve list q --state gone
    expect_has "$ERR" "dead"
    expect_status 2 reeve list q --limit -1
    expect_status 2 reeve queues 'q q'
    expect_status 2 reeve workers x
    expect_status 2 reeve retry
    expect_status 2 reeve cancel q/i nohandle
    expect_status 2 reeve pause
    expect_status 2 reeve run sample
    expect_status 2 reeve run sample echo x --attempt 0
    expect_status 2 reeve --redis gopher://x queues
    expect_status 2 reeve --redis redis://user:secret@host:99999 queues
    expect_lacks "$ERR" secret
    expect_status 2 reeve --redis unix:///nonexistent/redis.sock --ns 'a b' queues
    expect_silent
}

no_redis() {
    local verb
    expect_status 3 reeve enqueue q t
    expect_has "$ERR" "reeve: enqueue: "
    expect_has "$ERR" "/nonexistent/redis.sock"
    expect_has "$ERR" "REEVE_REDIS"
    expect_status 3 reeve enqueue --bulk q t </dev/null
    for verb in show wait retry cancel delete; do expect_status 3 reeve "$verb" q/i; done
    for verb in list pause resume; do expect_status 3 reeve "$verb" q; done
    expect_status 3 reeve queues
    expect_status 3 reeve workers
    expect_silent
    expect_status 3 reeve queues --redis redis://:secret@127.0.0.1:1
    expect_lacks "$ERR" secret
}

# ---- list and queues -----------------------------------------------------------------------------------------------

# many: 5,000 tasks; b: one that is ready, one that is scheduled.
fill() {
    seq 1 5000 | sed 's/.*/{"payload":&,"id":"&"}/' | reeve enqueue --bulk many noop >/dev/null 2>&1 || fail "no tasks"
    expect_status 0 reeve enqueue b t --id one
    expect_status 0 reeve enqueue b t --id two --in 1h
}

lists() {
    expect_status 0 reeve list many
    expect_lines 51
    expect_eq "$ERR" "50 of 5000 ready tasks (--limit 0 lists all)"
    expect_has "${OUT%%$'\n'*}" "HANDLE"
    expect_status 0 reeve list many --limit 2 --offset 10 --json
    expect_lines 2
    expect_quiet
    expect_eq "$(member handle "$OUT")" '"many/11"'
    expect_eq "$(member payload "$OUT")" '"11"'
    expect_status 0 reeve list many --offset 4999
    expect_lines 2
    expect_status 0 reeve list many --state dead
    expect_silent
    expect_eq "$ERR" "no dead task in many"
    expect_status 0 reeve list b --state scheduled
    expect_has "$OUT" "in 59 m"
    expect_status 0 reeve list never
    expect_silent
}

queue_rows() {
    expect_status 0 reeve queues
    expect_has "${OUT%%$'\n'*}" "QUEUE"
    grep -Eq '^many +no +5000 +0 +0 +0 ' "$TEST_DIR/out" || fail "no row of many"
    expect_status 0 reeve queues many never --json
    expect_lines 2
    expect_eq "$(member ready "$OUT")" 5000
    expect_eq "$(member paused "$OUT")" false
    expect_has "$OUT" '{"queue":"never","paused":false,"blocked":0,"scheduled":0,"ready":0,'
    expect_status 0 reeve --ns other queues
    expect_silent
    expect_has "$ERR" "no queue yet"
}

pausing() {
    expect_status 0 reeve pause many b
    expect_eq "$OUT" "$(printf 'paused many\npaused b')"
    expect_status 0 reeve pause many
    expect_status 0 reeve queues many --json
    expect_eq "$(member paused "$OUT")" true
    expect_status 0 reeve resume many b --json
    expect_eq "$OUT" "$(printf '{"queue":"many","paused":false}\n{"queue":"b","paused":false}')"
    expect_status 0 reeve queues many --json
    expect_eq "$(member paused "$OUT")" false
}

# ---- steering ------------------------------------------------------------------------------------------------------

steering() {
    expect_status 0 reeve cancel many/1 many/2
    expect_eq "$OUT" "$(printf 'cancelled many/1\ncancelled many/2')"
    expect_status 1 reeve cancel many/3 many/nope many/4
    expect_eq "$OUT" "$(printf 'cancelled many/3\ncancelled many/4')"
    expect_has "$ERR" "many/nope"
    expect_status 1 reeve cancel many/5 many/nope --json
    expect_eq "${OUT%%$'\n'*}" '{"handle":"many/5","queue":"many","id":"5","action":"cancel","cancelling":false}'
    expect_eq "$(member error "$ERR") $(member handle "$ERR")" '"not_found" "many/nope"'
    reeve list many --state cancelled --json --limit 0 | sed 's/.*"handle":"\([^"]*\)".*/\1/' >"$TEST_DIR/in"
    echo nonsense >>"$TEST_DIR/in"
    expect_status 1 reeve retry - <"$TEST_DIR/in"
    expect_lines 5
    expect_has "$ERR" "nonsense: no handle"
    expect_status 1 reeve retry many/1
    expect_has "$ERR" "ready"
    expect_status 0 reeve retry b/two
    expect_status 0 reeve show b/two --json
    expect_eq "$(member state "$OUT")" '"ready"'
    expect_status 0 reeve delete b/two
    expect_eq "$OUT" "deleted b/two"
    expect_status 1 reeve delete b/two
    expect_status 1 reeve show b/two
    reeve list many --json --limit 0 | sed 's/.*"handle":"\([^"]*\)".*/\1/' | reeve delete - >"$TEST_DIR/deleted" ||
        fail "delete from standard input"
    expect_eq "$(wc -l <"$TEST_DIR/deleted")" 5000
    expect_status 0 reeve list many
    expect_silent
}

# ---- standard output that does not take it -------------------------------------------------------------------------

broken_output() {
    local status
    for command in queues "queues --json" "list b" --help; do
        run bash -c '"$0" $1 >/dev/full' "$REEVE" "$command"
        expect_eq "$STATUS" 1 "$command into a full device"
        expect_has "$ERR" "No space left"
        run bash -c '"$0" $1 >&-' "$REEVE" "$command"
        expect_eq "$STATUS" 1 "$command without standard output"
    done
    # (A reader that goes away: quietly.)
    seq 1 20000 | sed 's/.*/{"id":"&"}/' | reeve enqueue --bulk wide noop >/dev/null 2>&1
    { reeve list wide --limit 0 2>"$TEST_DIR/err"; echo $? >"$TEST_DIR/status"; } | head -1 >/dev/null
    status=$(cat "$TEST_DIR/status")
    expect_eq "$status" 1 "list into a closed pipe"
    expect_eq "$(cat "$TEST_DIR/err")" ""
}

usage_needs_no_redis
help_fits
help_prints_own_defaults
usage_errors
no_redis
start_redis
fill
lists
queue_rows
pausing
steering
broken_output

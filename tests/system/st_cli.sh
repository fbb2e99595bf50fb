# st_cli.sh - the command line as its user sees it: every verb, every exit status, bad input, the shapes of --json.
. "$(dirname "$0")/lib.sh"

# lines N: standard output of the last command has so many.
lines() { expect_eq "$(wc -l <"$TEST_DIR/out")" "$1" "lines of output"; }

quiet() { expect_eq "$ERR" "" "standard error"; }
silent() { expect_eq "$OUT" "" "standard output"; }

# ---- usage -------------------------------------------------------------------------------------------------------

VERBS="enqueue show list wait queues workers failures retry cancel delete purge reschedule pause resume limit settings run bench"

usage_needs_no_redis() {
    local verb
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 0 reeve --version
    expect_eq "$OUT" "reeve $(sed -n 's/^#define REEVE_VERSION_[A-Z]* //p' "$REEVE_SOURCE/include/reeve/version.h" |
        paste -sd.)"
    expect_status 0 reeve --help
    for verb in $VERBS; do expect_has "$OUT" "  $verb "; done
    for verb in $VERBS; do
        expect_status 0 reeve "$verb" --help
        expect_has "$OUT" "usage: reeve $verb"
        expect_has "$OUT" "Exit status: 0 "
        expect_has "$OUT" "xample"
        quiet
    done
    expect_status 0 reeve help enqueue
    expect_has "$OUT" "--priority N"
    expect_has "$OUT" "--unique KEY"
    expect_has "$OUT" "--after"
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
    silent
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
    silent
    expect_status 3 reeve queues --redis redis://:secret@127.0.0.1:1
    expect_lacks "$ERR" secret
}

# ---- enqueue and show ----------------------------------------------------------------------------------------------

enqueue_and_show() {
    expect_status 0 reeve enqueue e echo '{"a":"ü"}' --id a1 --priority -5 --group alice --weight 3 --attempts 4 \
        --timeout 90 --max-crashes 2 --backoff list:1,10s,90~0.1 --tag x --tag y --meta k=v=w
    expect_eq "$OUT" e/a1
    quiet
    expect_status 1 reeve enqueue e echo again --id a1
    expect_has "$ERR" "e/a1"
    silent
    expect_status 0 reeve show e/a1
    expect_has "$OUT" "handle:   e/a1"
    expect_has "$OUT" "state:    ready"
    expect_has "$OUT" 'payload:  {"a":"ü"}'
    expect_has "$OUT" "priority: -5"
    expect_has "$OUT" "timeout:  1 m"
    expect_has "$OUT" "weight:   3"
    expect_has "$OUT" "backoff:  list:1s,10s,90s~0.1"
    expect_status 0 reeve show --json e/a1
    lines 1
    expect_eq "$(member handle "$OUT")" '"e/a1"'
    expect_eq "$(member type "$OUT")" '"echo"'
    expect_eq "$(member state "$OUT")" '"ready"'
    expect_eq "$(member priority "$OUT")" -5
    expect_eq "$(member group "$OUT")" '"alice"'
    expect_eq "$(member weight "$OUT")" 3
    expect_eq "$(member backoff "$OUT")" '"list:1s,10s,90s~0.1"'
    expect_eq "$(member max_attempts "$OUT")" 4
    expect_eq "$(member max_crashes "$OUT")" 2
    expect_eq "$(member timeout_ms "$OUT")" 90000
    expect_eq "$(member tags "$OUT")" '["x","y"]'
    expect_eq "$(member meta "$OUT")" '{"k":"v=w"}'
    expect_eq "$(member payload "$OUT")" '"{\"a\":\"ü\"}"'
    expect_eq "$(member result "$OUT")" null
    expect_eq "$(member started_ms "$OUT")" null
    expect_status 1 reeve show e/nope
    expect_has "$ERR" "e/nope"
    silent
    expect_status 0 reeve --json enqueue e echo
    id=$(member id "$OUT")
    expect_eq "${#id}" 38 "the length of a UUID in quotes"
    expect_eq "$OUT" "{\"handle\":\"e/${id:1:36}\",\"queue\":\"e\",\"id\":$id}"
}

when_it_runs() {
    expect_status 0 reeve enqueue e echo x --id later --in 1h
    expect_status 0 reeve show e/later --json
    expect_eq "$(member state "$OUT")" '"scheduled"'
    expect_eq $(($(member due_ms "$OUT") - $(member enqueued_ms "$OUT"))) 3600000
    expect_status 0 reeve enqueue e echo x --id then --at 2035-01-01T00:00:00Z
    expect_status 0 reeve show e/then
    expect_has "$OUT" "2035-01-01T00:00:00.000Z (in "
    expect_status 0 reeve enqueue e echo x --id past --at 2001-01-01T00:00:00Z
    expect_status 0 reeve show e/past --json
    expect_eq "$(member state "$OUT")" '"ready"'
}

payload_sources() {
    local all
    for all in {0..255}; do printf "\\x$(printf %02x "$all")"; done >"$TEST_DIR/bytes"
    expect_status 0 reeve enqueue e echo @"$TEST_DIR/bytes" --id file
    expect_status 0 reeve enqueue e echo - --id input <"$TEST_DIR/bytes"
    for id in file input; do
        expect_status 0 reeve show "e/$id" --json
        expect_eq "$(member payload_base64 "$OUT")" "\"$(base64 -w0 "$TEST_DIR/bytes")\""
        expect_status 0 reeve show "e/$id"
        expect_has "$OUT" "256 bytes that are no text"
        expect_has "$OUT" "(128 bytes more)"
    done
    expect_status 0 reeve enqueue e echo --id dash -- --flag
    expect_status 0 reeve show e/dash
    expect_has "$OUT" "payload:  --flag"
    expect_status 1 reeve enqueue e echo @"$TEST_DIR/none"
    expect_has "$ERR" "$TEST_DIR/none: No such file"
    expect_status 1 reeve enqueue e echo @"$TEST_DIR"
    expect_has "$ERR" "Is a directory"
    head -c 1048576 /dev/zero | tr '\0' x >"$TEST_DIR/big"
    expect_status 0 reeve enqueue e echo @"$TEST_DIR/big" --id big
    expect_status 0 reeve show e/big
    expect_has "$OUT" "(1044480 bytes more)"
    expect_status 0 reeve show e/big --json
    expect_eq "$(member payload "$OUT" | wc -c)" 1048578
    truncate -s 67108865 "$TEST_DIR/huge"
    expect_status 1 reeve enqueue e echo @"$TEST_DIR/huge"
    expect_has "$ERR" "64 MiB"
    rm "$TEST_DIR/huge"
}

# What a payload or message holds never reaches a terminal as a control sequence.
harmless_output() {
    expect_status 0 reeve enqueue e echo $'\e]0;title\a' --id esc
    expect_status 0 reeve show e/esc
    expect_lacks "$OUT" $'\e'
    expect_status 0 reeve show e/esc --json
    expect_eq "$(member payload "$OUT")" '"\u001b]0;title\u0007"'
    expect_status 2 reeve show $'\e[31m'
    expect_lacks "$ERR" $'\e'
    expect_status 0 reeve delete e/esc
}

# ---- bulk ----------------------------------------------------------------------------------------------------------

TAKEN="a task with this id exists"

bulk_lines() {
    cat >"$TEST_DIR/in" <<'END'
{"queue":"b","type":"t","payload":{"n": 12345678901234567890.10, "s": "a b"},"id":"one"}

{"queue":"b","type":"t","payload_base64":"AP8=","id":"two","in":"1h","tags":["x"],"meta":{"k":"v"}}
no json
{"queue":"b","type":"t","prio":1}
{"queue":"b","type":"t","id":"one"}
{"type":"t","priority":"high"}
{"id":"three"}
END
    printf '{"queue":"b","type":"t"}\0\n{"queue":"b","type":"t","id":"last"}' >>"$TEST_DIR/in"
    expect_status 1 reeve enqueue --bulk <"$TEST_DIR/in"
    expect_eq "$OUT" "$(printf 'b/one\nb/two\nb/last')"
    expect_has "$ERR" "line 4: invalid JSON at byte 1"
    expect_has "$ERR" 'line 5: unknown member "prio"; did you mean "priority"?'
    expect_has "$ERR" "line 6: a task b/one exists"
    expect_has "$ERR" 'line 7: "priority": expected a whole number'
    expect_has "$ERR" 'line 8: "queue" is missing'
    expect_has "$ERR" "line 9: invalid JSON: a zero byte"
    expect_eq "${ERR##*$'\n'}" \
        "3 enqueued, 6 refused (invalid JSON: 2, unknown member: 1, wrong type: 1, member missing: 1, $TAKEN: 1)"
    expect_status 0 reeve show b/one --json
    expect_eq "$(member payload "$OUT")" '"{\"n\":12345678901234567890.10,\"s\":\"a b\"}"'
    expect_status 0 reeve show b/two --json
    expect_eq "$(member payload_base64 "$OUT")" '"AP8="'
    expect_eq "$(member state "$OUT")" '"scheduled"'
}

bulk_defaults_and_json() {
    expect_status 0 reeve enqueue --bulk c noop --json <<<'{"id":"i"}'
    expect_eq "$OUT" '{"handle":"c/i","queue":"c","id":"i","line":1}'
    quiet
    expect_status 0 reeve enqueue --bulk </dev/null
    expect_eq "$ERR" "0 enqueued, 0 refused"
    silent
}

bulk_many() {
    seq 1 5000 | sed 's/.*/{"payload":&,"id":"&"}/' >"$TEST_DIR/in"
    expect_status 0 reeve enqueue --bulk many noop <"$TEST_DIR/in"
    seq 1 5000 | sed 's,^,many/,' | cmp - "$TEST_DIR/out" || fail "handles are not in the order of the lines"
    expect_status 1 reeve enqueue --bulk many noop <"$TEST_DIR/in"
    silent
    expect_eq "$(grep -c '^reeve: enqueue: line' "$TEST_DIR/err")" 20 "refusals that are told one by one"
    expect_eq "${ERR##*$'\n'}" "0 enqueued, 5000 refused ($TAKEN: 5000)"
    expect_status 0 reeve list many --limit 0
    lines 5001
    expect_status 0 reeve list many --limit 0 --json
    lines 5000
}

# A line beyond the limit is skipped, and memory stays far below its size.
bulk_long_line() {
    { echo '{"id":"before"}'; head -c 100000000 /dev/zero | tr '\0' x; echo; echo '{"id":"after"}'; } >"$TEST_DIR/in"
    expect_status 1 reeve enqueue --bulk long noop <"$TEST_DIR/in"
    expect_eq "$OUT" "$(printf 'long/before\nlong/after')"
    expect_has "$ERR" "line 2: longer than 65 MiB"
    rm "$TEST_DIR/in"
}

# Lines are enqueued as they come: the pipe stays open until the first handle is there.
bulk_trickle() {
    local pipe=$TEST_DIR/pipe job
    mkfifo "$pipe"
    "$REEVE" enqueue --bulk trickle noop <"$pipe" >"$TEST_DIR/handles" 2>"$TEST_DIR/words" &
    job=$!
    own $job
    exec 7>"$pipe"
    echo '{"id":"1"}' >&7
    wait_for '[ "$(cat "$TEST_DIR/handles")" = trickle/1 ]' 20
    echo '{"id":"2"}' >&7
    wait_for '[ "$(wc -l <"$TEST_DIR/handles")" = 2 ]' 20
    kill -INT $job
    wait $job
    expect_eq $? 130
    exec 7>&-
    expect_eq "$(cat "$TEST_DIR/words")" "2 enqueued, 0 refused"
}

# ---- list and queues -----------------------------------------------------------------------------------------------

lists() {
    expect_status 0 reeve list many
    lines 51
    expect_eq "$ERR" "50 of 5000 ready tasks (--limit 0 lists all)"
    expect_has "${OUT%%$'\n'*}" "HANDLE"
    expect_status 0 reeve list many --limit 2 --offset 10 --json
    lines 2
    quiet
    expect_eq "$(member handle "$OUT")" '"many/11"'
    expect_eq "$(member payload "$OUT")" '"11"'
    expect_status 0 reeve list many --offset 4999
    lines 2
    expect_status 0 reeve list many --state dead
    silent
    expect_eq "$ERR" "no dead task in many"
    expect_status 0 reeve list b --state scheduled
    expect_has "$OUT" "in 59 m"
    expect_status 0 reeve list never
    silent
}

queue_rows() {
    expect_status 0 reeve queues
    expect_has "${OUT%%$'\n'*}" "QUEUE"
    grep -Eq '^many +no +5000 +0 +0 +0 ' "$TEST_DIR/out" || fail "no row of many"
    expect_status 0 reeve queues many never --json
    lines 2
    expect_eq "$(member ready "$OUT")" 5000
    expect_eq "$(member paused "$OUT")" false
    expect_has "$OUT" '{"queue":"never","paused":false,"blocked":0,"scheduled":0,"ready":0,'
    expect_status 0 reeve --ns other queues
    silent
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
    lines 5
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
    silent
}

# ---- wait ----------------------------------------------------------------------------------------------------------

waiting_without_end() {
    local signal job
    reeve enqueue w noop --id w1 >/dev/null
    expect_status 1 reeve wait w/w1 --timeout 0.1
    silent
    expect_has "$ERR" "has not ended in time"
    expect_status 1 reeve wait w/nope
    expect_has "$ERR" "w/nope"
    expect_status 1 reeve enqueue w noop --wait=0.1 --json
    lines 1
    expect_eq "$(member queue "$OUT")" '"w"'
    for signal in INT:130 TERM:143; do
        "$REEVE" wait w/w1 >"$TEST_DIR/out" 2>"$TEST_DIR/err" &
        job=$!
        own $job
        wait_for 'redis PUBSUB CHANNELS | grep -q w1' 20
        kill "-${signal%:*}" $job
        wait $job
        expect_eq $? "${signal#*:}" "status after $signal"
        expect_eq "$(cat "$TEST_DIR/out" "$TEST_DIR/err")" ""
        wait_for '! redis PUBSUB CHANNELS | grep -q w1' 20
    done
    # (A closed standard output must not become the number of a connection.)
    "$REEVE" wait w/w1 >&- 2>&- &
    job=$!
    own $job
    wait_for 'redis PUBSUB CHANNELS | grep -q w1' 20
    expect_eq "$(readlink /proc/$job/fd/1 /proc/$job/fd/2)" "$(printf '/dev/null\n/dev/null')"
    kill -TERM $job
    wait $job
    expect_status 0 reeve cancel w/w1
    expect_status 1 reeve wait w/w1
    expect_has "$OUT" "state: cancelled"
    expect_has "$ERR" "w/w1 was cancelled"
}

start_worker() {
    cat >"$TEST_DIR/worker.conf" <<END
redis = "$REDIS_URL";
worker = { name = "cli-test"; log = { level = "off"; }; };
plugins = [ "$PLUGIN_DIR/sample.so" ];
pools = ( { name = "all"; queues = [ "work" ]; threads = 2; } );
END
    "$REEVE_WORKER" -c "$TEST_DIR/worker.conf" >/dev/null 2>&1 &
    own $!
    WORKER_PID=$!
    wait_for '[ "$(reeve workers --json | wc -l)" = 1 ]' 30
}

workers_rows() {
    expect_status 0 reeve workers
    expect_has "$OUT" "cli-test"
    expect_has "$OUT" " 0/2 "
    expect_status 0 reeve workers --json
    expect_eq "$(member pid "$OUT")" "$WORKER_PID"
    expect_eq "$(member name "$OUT")" '"cli-test"'
    expect_eq "$(member state "$OUT")" '"running"'
    expect_eq "$(member threads "$OUT")" 2
    expect_has "$OUT" '"pools":[{"name":"all"'
}

no_workers() {
    expect_status 0 reeve workers
    silent
    expect_has "$ERR" "no worker is alive"
    expect_status 0 reeve workers --json
    silent
    quiet
}

results() {
    expect_status 0 reeve enqueue work echo '{"x":1}' --id done --wait=30
    expect_eq "${OUT%%$'\n'*}" work/done
    expect_has "$OUT" "state:  completed"
    expect_has "$OUT" 'result: {"x":1}'
    quiet
    expect_status 0 reeve wait work/done --json
    lines 1
    expect_eq "$(member state "$OUT")" '"completed"'
    expect_eq "$(member result "$OUT")" '"{\"x\":1}"'
    expect_status 0 reeve enqueue work sleep '{"ms":300}' --wait
    expect_has "$OUT" "state: completed"
    expect_status 0 reeve --json enqueue work echo $'a\nb' --wait
    lines 1
    expect_eq "$(member result "$OUT")" '"a\nb"'
    expect_status 0 reeve enqueue work echo @"$TEST_DIR/bytes" --wait=30 --json
    expect_eq "$(member result_base64 "$OUT")" "\"$(base64 -w0 "$TEST_DIR/bytes")\""
    expect_status 1 reeve enqueue work fail '{"kind":"decode","message":"no JPEG"}' --attempts 1 --id dead --wait=30
    expect_has "$OUT" "state:      dead"
    expect_has "$OUT" "error kind: decode"
    expect_has "$ERR" "work/dead is dead: decode: no JPEG"
    expect_status 0 reeve list work --state dead
    expect_has "$OUT" "decode: no JPEG"
    expect_status 0 reeve show work/dead --json
    expect_eq "$(member error_kind "$OUT")" '"decode"'
    expect_eq "$(member failures "$OUT")" 1
}

a_running_task() {
    expect_status 0 reeve enqueue work sleep '{"ms":600000}' --id long
    wait_for '[ "$(reeve list work --state running --json | wc -l)" = 1 ]' 30
    expect_status 0 reeve show work/long
    expect_has "$OUT" "worker:"
    expect_status 1 reeve retry work/long
    expect_has "$ERR" "running"
    expect_status 1 reeve delete work/long
    expect_status 0 reeve queues work --json
    expect_eq "$(member running "$OUT")" 1
}

# ---- run -----------------------------------------------------------------------------------------------------------

running_here() {
    local sample=$PLUGIN_DIR/sample.so
    unset REEVE_REDIS
    expect_status 0 reeve run "$sample" echo @"$TEST_DIR/bytes"
    cmp -s "$TEST_DIR/out" "$TEST_DIR/bytes" || fail "the result is not the payload"
    expect_has "$ERR" "reeve: run: done"
    expect_status 0 reeve run sample noop --plugin-dir "$PLUGIN_DIR"
    silent
    expect_status 1 reeve run "$sample" fail '{"kind":"k","message":"m","times":2}' --attempt 2
    expect_has "$ERR" "reeve: run: retry after "
    expect_has "$ERR" "k: m"
    expect_status 0 reeve run "$sample" fail '{"kind":"k","message":"m","times":2}' --attempt 3
    expect_status 1 reeve run "$sample" fail '{"kind":"k","message":"m"}' --json
    expect_eq "$(member outcome "$OUT")" '"retry"'
    expect_eq "$(member kind "$OUT")" '"k"'
    expect_eq "$(member result "$OUT")" null
    expect_status 0 reeve run "$sample" echo hi --json
    expect_eq "$(member outcome "$OUT")" '"done"'
    expect_eq "$(member result "$OUT")" '"hi"'
    quiet
    expect_has "$OUT" '"dead":false,"delay_ms":null,"kind":null,"message":null,"elapsed_us":'
    expect_has "$OUT" ',"progress":[],"log":[],"holds":[],"handed_on":[],"checkpoint":null,"result":"hi"}'
    expect_status 1 reeve run "$sample" fail --attempts 3 --attempt 3 --backoff fixed:5s --json
    expect_eq "$(member dead "$OUT")" true
    expect_eq "$(member delay_ms "$OUT")" 5000
    expect_status 1 reeve run "$sample" fail --attempts 3 --attempt 3
    expect_has "$ERR" "failed at its last attempt"
    expect_status 1 reeve run "$sample" sleep '{"ms":5000}' --timeout 20ms
    expect_has "$ERR" "timeout: not done within 20 ms"
    expect_status 0 reeve run "$REEVE_BUILD/tests/plugins/layered.so" layered:in --meta traceparent=00-1 --id x --queue q
    expect_eq "$OUT" "<(00-1)>"
    expect_status 0 reeve run "$REEVE_BUILD/tests/plugins/good.so" good:one --json --now 2026-01-01T00:00:00Z
    expect_has "$OUT" '"progress":[{"percent":50,"words":"half way","at_ms":1767225600000}],'
    expect_status 2 reeve run "$sample" noop --id a/b
    expect_has "$ERR" 'id "a/b"'
    expect_status 2 reeve run "$sample" noop --meta nonsense
    expect_status 1 reeve run "$sample" nosuch
    expect_has "$ERR" "echo"
    expect_status 1 reeve run nosuch echo --plugin-dir "$PLUGIN_DIR"
    expect_has "$ERR" "nosuch.so"
}

# ---- standard output that does not take it -------------------------------------------------------------------------

broken_output() {
    local status
    for command in queues "queues --json" "list c" --help; do
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

# ---- Redis goes away in the middle ---------------------------------------------------------------------------------

losing_redis() {
    local job
    "$REEVE" enqueue --bulk lost noop <"$TEST_DIR/pipe" >"$TEST_DIR/handles" 2>"$TEST_DIR/words" &
    job=$!
    own $job
    exec 7>"$TEST_DIR/pipe"
    echo '{"id":"1"}' >&7
    wait_for '[ "$(cat "$TEST_DIR/handles")" = lost/1 ]' 20
    stop_redis KILL
    printf '{"id":"2"}\n{"id":"3"}\n' >&7
    wait $job
    expect_eq $? 3 "bulk that lost Redis"
    exec 7>&-
    expect_has "$(cat "$TEST_DIR/words")" "reeve: enqueue: line 2: "
    expect_has "$(cat "$TEST_DIR/words")" "stopped here"
    expect_has "$(tail -n1 "$TEST_DIR/words")" "1 enqueued, 0 refused, "
    expect_eq "$(cat "$TEST_DIR/handles")" lost/1
}

usage_needs_no_redis
usage_errors
no_redis
start_redis
no_workers
enqueue_and_show
when_it_runs
payload_sources
harmless_output
bulk_lines
bulk_defaults_and_json
bulk_many
bulk_long_line
bulk_trickle
lists
queue_rows
pausing
steering
waiting_without_end
broken_output
start_worker
workers_rows
results
a_running_task
losing_redis
running_here

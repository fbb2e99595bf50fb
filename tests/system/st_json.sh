# st_json.sh - what --json prints is what docs/json.md says: every verb, its failures too; and what the document says is seen.
. "$(dirname "$0")/lib.sh"

DOC=${DOC:-$REEVE_SOURCE/docs/json.md}
SHAPE=$REEVE_BUILD/tests/json_shape
SEEN=$TEST_DIR/seen

# shape NAME FILE: FILE is what the command NAME prints, or lines of the shape :NAME.
shape() { "$SHAPE" "$DOC" "$SEEN" "$1" <"$2" || fail "$(head -c 1500 "$2")"; }

# prints NAME STATUS ARGUMENT...: reeve --json ARGUMENT... is the command NAME of the document and ends with STATUS. Standard
# error is empty, or, when it fails, has errors; then the code of the first one is in CODE.
prints() {
    local name=$1 status=$2
    shift 2
    expect_status "$status" reeve --json "$@"
    shape "$name" "$TEST_DIR/out"
    faults "$status"
}

# faults STATUS: standard error fits the exit status.
faults() {
    CODE=
    if [ "$1" = 0 ]; then
        expect_eq "$ERR" ""
        return
    fi
    [ -n "$ERR" ] || fail "no error with status $1"
    shape :error "$TEST_DIR/err"
    CODE=$(member error "$ERR" | tr -d '"')
    expect_eq "$(member exit "${ERR##*$'\n'}")" "$1"
}

# fails STATUS CODE ARGUMENT...: nothing on standard output, and an error.
fails() {
    local status=$1 code=$2
    shift 2
    expect_status "$status" reeve --json "$@"
    expect_eq "$OUT" ""
    faults "$status"
    expect_eq "$CODE" "$code"
}

# ---- the document ------------------------------------------------------------------------------------------------------

# Each verb has a row.
verbs_are_documented() {
    local verb
    "$SHAPE" "$DOC" "$SEEN" --commands >"$TEST_DIR/commands" || fail "$DOC cannot be read"
    for verb in $(verbs); do
        grep -qE "^$verb\b" "$TEST_DIR/commands" || fail "$DOC does not tell of $verb"
    done
    for verb in $("$REEVE" cron --help | sed -n 's/^ *reeve cron \([a-z|]*\) .*/\1/p' | tr '|' ' ') add; do
        grep -qx "cron $verb" "$TEST_DIR/commands" || fail "$DOC does not tell of cron $verb"
    done
    for verb in $("$REEVE" batch --help | sed -n 's/^[a-z: ]* reeve batch \([a-z]*\) [A-Z[].*/\1/p'); do
        grep -qx "batch $verb" "$TEST_DIR/commands" || fail "$DOC does not tell of batch $verb"
    done
}

# Each code of errors that the program has.
codes_are_documented() {
    local code
    for code in $(sed -n 's/.*return "\([a-z_]*\)";/\1/p' "$REEVE_SOURCE/src/programs/cli/say.c") \
        $(grep -ohE '\.code = "[a-z_]+"' "$REEVE_SOURCE"/src/programs/cli/*.c | sed 's/.*"\(.*\)"/\1/'); do
        grep -q "^| \`$code\` |" "$DOC" || fail "$DOC does not tell of the code $code"
    done
}

# Each event that a script tells of.
events_are_documented() {
    local event count=0
    for event in $(cat "$REEVE_SOURCE"/src/lua/*.lua "$REEVE_SOURCE"/src/lua/lib/*.lua |
        grep -ohE "tell(_as)?\(P, '[a-z_]+'" | sed "s/.*'\(.*\)'/\1/" | sort -u); do
        sed -n '/^### `event_name`/,/^### `steered`/p' "$DOC" | grep -q "^| \`$event\` |" || fail "$DOC does not tell of the event $event"
        count=$((count + 1))
    done
    [ "$count" -ge 18 ] || fail "only $count events were found"
}

# ---- without Redis -----------------------------------------------------------------------------------------------------

without_redis() {
    prints --version 0 --version
    prints version 0 version
    prints help 0 help
    prints "help COMMAND" 0 help enqueue
    prints "help COMMAND" 0 help list
    prints "cron next" 0 cron next '0 3 * * *' 3
    prints run 0 run "$PLUGIN_DIR/sample.so" echo hi
    prints bench 0 bench enqueue --tasks 500 --rounds 1
    prints tune 0 tune --plugin "$PLUGIN_DIR/sample.so" --type sleep --payload '{"ms":2}' --for 500ms --max-threads 2
    prints run 1 run "$PLUGIN_DIR/sample.so" fail '{"kind":"k","message":"m"}'
    expect_eq "$CODE" failed
    prints run 0 run "$REEVE_BUILD/tests/plugins/good.so" good:one
    expect_eq "$(member percent "$OUT")" 50
    prints run 1 run "$REEVE_BUILD/tests/plugins/teller.so" tells
    prints run 0 run "$REEVE_BUILD/tests/plugins/teller.so" hands
    fails 1 not_found run "$PLUGIN_DIR/sample.so" nosuch
    fails 1 plugin run /nonexistent.so t
    fails 2 usage
    fails 2 usage nosuch
    fails 2 usage list
    fails 2 usage list q --nonsense
    fails 2 usage show nohandle
    fails 2 usage retry q
    fails 2 usage cron next '0 3 * *'
    fails 2 invalid enqueue 'q' t --id a/b
    fails 1 input enqueue q t @/nonexistent
    fails 2 invalid queues --redis nonsense://
    fails 3 connect ping --redis "unix://$TEST_DIR/none.sock"
    # (--json behind what is wrong.)
    expect_status 2 reeve list q --nonsense --json
    faults 2
    expect_status 2 reeve nosuch --json
    faults 2
    expect_status 2 reeve list q -- x --json
    expect_has "$ERR" "reeve: list: "
}

# ---- tasks -------------------------------------------------------------------------------------------------------------

producing() {
    prints enqueue 0 enqueue q noop '{"a":1}' --id plain
    printf 'a\0b\377' >"$TEST_DIR/bytes"
    prints enqueue 0 enqueue q noop @"$TEST_DIR/bytes" --id full --in 1h --priority -3 --group 'g "1"' --weight 2 --cost 3 --limit-key gpu --limit-key customer:7 --attempts 4 \
        --max-crashes 2 --retry-for 2h --max-snoozes 4 --timeout 5 --heartbeat 2 --backoff fixed:1s --tag red --tag 'a,b' --meta k=v --unique key --unique-for 1h \
        --on-dead told --expires-in 2d
    prints enqueue 0 enqueue q noop --id child --after q/plain --after q/full:go
    fails 1 exists enqueue q noop --id plain
    fails 1 unique enqueue q noop --unique key
    expect_eq "$(member holder "$ERR")" '"q/full"'
    fails 2 invalid enqueue q noop --priority 3 --in 1h --tag ''
    cat >"$TEST_DIR/in" <<'END'
{"id":"b1","queue":"bulk","tags":["red"]}
nonsense
{"id":"b1"}
{"id":"b2","unique":"u"}
{"unique":"u"}
{"queue":"no good"}
{"id":"b3","priority":"high"}
END
    expect_status 1 reeve enqueue --bulk bulk noop --json <"$TEST_DIR/in"
    shape "enqueue --bulk" "$TEST_DIR/out"
    faults 1
    expect_eq "$(sed 's/.*"line":\([0-9]*\).*/\1/' "$TEST_DIR/out" | paste -sd' ')" "1 4"
    expect_eq "$(sed 's/.*"error":"\([a-z_]*\)".*"line":\([0-9]*\).*/\2:\1/' "$TEST_DIR/err" | sort | paste -sd' ')" \
        "2:invalid 3:exists 5:unique 6:invalid 7:invalid"
    # Each line has its error, not only the first ones.
    seq 1 50 | sed 's/.*/{"id":"b1"}/' >"$TEST_DIR/in"
    expect_status 1 reeve enqueue --bulk bulk noop --json <"$TEST_DIR/in"
    expect_eq "$(wc -l <"$TEST_DIR/err")" 50
    shape :error "$TEST_DIR/err"
}

# Each option of a task has a value once (src/protocol/definition/task_options.lua).
options_are_shown() {
    local json flags _
    "$(lua)" "$REEVE_SOURCE/src/protocol/generate/main.lua" option_cases "$TEST_DIR/cases" || fail "no cases of options"
    while IFS=$'\t' read -r json flags _; do
        # shellcheck disable=SC2086
        prints enqueue 0 enqueue "option-$json" noop --id one $flags
        prints show 0 show "option-$json/one"
        prints delete 0 delete "option-$json/one"
    done <"$TEST_DIR/cases"
}

looking() {
    local state
    prints show 0 show q/plain
    expect_eq "$(member child_count "$OUT")" 1
    prints show 0 show q/full
    expect_eq "$(member payload_base64 "$OUT")" '"YQBi/w=="'
    expect_eq "$(member unique_for_ms "$OUT") $(member on_dead "$OUT")" '3600000 "told"'
    options_are_shown
    prints show 0 show q/child
    for state in ready scheduled blocked; do prints list 0 list q --state "$state"; done
    prints list 0 list q --tag red
    prints top 0 top
    prints peek 0 peek q 5 --offset 0
    prints tags 0 tags
    prints why 0 why q/plain
    expect_has "$OUT" '{"reason":"unserved",'
    prints why 0 why q/full
    prints why 0 why q/child
    expect_has "$OUT" '"reason":"parent","text":"it waits for q/plain, which is ready"'
    prints why 0 why q
    fails 1 not_found why q/nope
    fails 1 not_found why never
    prints queues 0 queues
    prints queues 0 queues q never
    prints queues 0 queues --limit 1 --offset 1
    expect_eq "$(wc -l <"$TEST_DIR/out")" 1
    fails 1 not_found show q/nope
    expect_eq "$(member handle "$ERR")" '"q/nope"'
    fails 7 timeout wait q/full --timeout 50ms
    fails 1 not_found wait q/nope
    fails 7 timeout watch q/full --timeout 50ms
    expect_status 0 reeve --json list q --state dead
    expect_eq "$OUT$ERR" "" "an empty list"
    expect_status 0 reeve --json workers
    expect_eq "$OUT$ERR" "" "no worker"
}

# Those that work, and those that fail in between.
steering() {
    prints reschedule 0 reschedule q/full --in 2h --priority 5
    prints depend 0 depend q/full --after q/nobody:go:known-or-gone --remove-after q/nobody
    prints show 0 show q/full
    prints show 0 show bulk/b2
    expect_eq "$(member unique_until "$OUT")" '"ended"'
    printf 'q/nope\nnonsense\nq/full\n' >"$TEST_DIR/in"
    prints reschedule 1 reschedule - --now <"$TEST_DIR/in"
    expect_eq "$(wc -l <"$TEST_DIR/out") $(wc -l <"$TEST_DIR/err") $CODE" "1 2 not_found"
    fails 1 state cancel q/full
    expect_has "$ERR" "others wait for it"
    prints cancel 0 cancel q/child q/full
    fails 1 state cancel q/full
    prints retry 0 retry q/full
    prints show 0 show q/full
    expect_has "$(member history "$OUT")" '"from":"cancelled"'
    prints delete 0 delete q/full
    prints "cancel QUEUE" 0 cancel bulk --all
    prints "retry QUEUE" 0 retry bulk --all --state cancelled
    reeve enqueue bulk noop --id later --after bulk/b1 >/dev/null || fail "not enqueued"
    prints "cancel QUEUE" 1 cancel bulk --all --state ready
    expect_eq "$CODE" state
    prints "delete QUEUE" 0 delete bulk --all --state cancelled
    fails 2 usage purge bulk --state cancelled
    prints "delete QUEUE" 0 delete bulk --all --state ready --dry-run
    expect_has "$OUT" '"dry_run":true'
    expect_has "$OUT" '"first":["bulk/'
    prints purge 0 purge bulk --all --state cancelled
    reeve enqueue bulk noop --id asked >/dev/null && reeve lease bulk/asked >/dev/null || fail "not leased"
    prints "cancel QUEUE" 0 cancel bulk --all --state running
    expect_eq "$(member 'done' "$OUT") $(member cancelling "$OUT")" "0 1"
}

# ---- queues ------------------------------------------------------------------------------------------------------------

queues() {
    prints pause 0 pause q other
    prints resume 0 resume q other
    prints events 0 events q --keep 100
    prints limit 0 limit l
    prints "limit, changing" 0 limit l --concurrency 4 --rate 5/m --pause-for 1h
    prints "limit, changing" 0 limit l --each-group --concurrency 2 --rate 5/m
    prints "limit, changing" 0 limit l --group a --concurrency 3 --rate 5/m --pause-for 1h
    prints "limit, changing" 0 limit l --group b --rate none
    prints "limit, changing" 0 limit l --group c --strict yes
    prints limit 0 limit l
    prints "limit, changing" 0 limit l --group b --forget
    prints "limit, changing" 0 limit l --type video --concurrency 2
    prints "limit, changing" 0 limit l --key gpu --concurrency 2
    prints limit 0 limit l
    prints pause 0 pause l
    prints queues 0 queues l
    expect_has "$OUT" '"concurrency":4'
    prints "limit, changing" 0 limit l --pause-for none
    prints resume 0 resume l
    prints "limit, changing" 0 limit atmost --group c --concurrency 1 --rate 1/h
    reeve enqueue atmost noop --id one --group c >/dev/null || fail "not enqueued"
    reeve enqueue atmost noop --id two --group c >/dev/null || fail "not enqueued"
    prints settings 0 settings s
    "$(lua)" "$REEVE_SOURCE/src/protocol/generate/main.lua" setting_cases "$TEST_DIR/cases" || fail "no cases"
    # shellcheck disable=SC2046
    prints settings 0 settings s $(awk -F'\t' '$1 == "flag" { print "--" $2, $3 }' "$TEST_DIR/cases")
    fails 2 usage limit l --strict yes
    fails 2 usage limit l --rate nonsense
    fails 2 usage settings s --attempts 0
}

cron() {
    prints "cron add" 0 cron add nightly '0 3 * * *' q noop x --catch-up all --catch-up-max 5
    prints "cron add" 0 cron add nightly '0 3 * * *' q noop x --catch-up all --catch-up-max 5
    expect_eq "$(member changed "$OUT")" false
    prints "cron add" 0 cron add nightly '0 4 * * *' other noop
    expect_eq "$(member moved_from "$OUT") $(member kept "$OUT")" '"q" ["catch-up","payload"]'
    prints "cron add" 0 cron add nightly '0 3 * * *' q noop --group g --cost 3 --limit-key gpu --keep 1h --attempts 2 --max-crashes 2 --retry-for 1h --max-snoozes 4 --timeout 5 --heartbeat 5 --expires-in 60 --backoff fixed:1s --on-dead d --tag t --meta k=v
    prints "cron run" 0 cron run q/nightly
    prints "cron backfill" 0 cron backfill q/nightly --from 2020-01-01T00:00:00Z --to 2020-01-02T00:00:00Z
    prints "cron add" 0 cron add often 'every 1h' q noop --starts 2030-01-01T00:00:00Z --ends 2031-01-01T00:00:00Z --offset 5m --jitter 1m --runs 3
    prints "cron pause" 0 cron pause q/nightly
    prints "cron resume" 0 cron resume q/nightly
    prints "cron list" 0 cron list
    prints "cron remove" 0 cron remove q/nightly
    fails 1 not_found cron pause q/nightly
    fails 2 invalid cron add bad 'nonsense' q noop
}

# ---- with a worker -----------------------------------------------------------------------------------------------------

# What a cancelled watch of a task says, and what a queue's watch prints.
watching() {
    local clients pid
    clients=$(redis CLIENT LIST | grep -c 'cmd=xread')
    reeve enqueue w noop --id watched --in 1h >/dev/null || fail "not enqueued"
    "$REEVE" --json watch w/watched >"$TEST_DIR/watch" 2>"$TEST_DIR/watch.err" &
    pid=$!
    own "$pid"
    wait_for "[ \$(redis CLIENT LIST | grep -c 'cmd=xread') -gt $clients ]" 30
    reeve reschedule w/watched --in 2h --priority 3 >/dev/null || fail "not rescheduled"
    reeve cancel w/watched >/dev/null || fail "not cancelled"
    wait_for '! kill -0 '"$pid"' 2>/dev/null' 30
    end "$pid"
    expect_eq "$ENDED" 6
    shape watch "$TEST_DIR/watch"
    shape :error "$TEST_DIR/watch.err"
    fails 6 cancelled watch w/watched
}

# What a signal ends has an error, and its own status.
interrupted() {
    local pid
    "$REEVE" --json wait w/long >"$TEST_DIR/out" 2>"$TEST_DIR/err" &
    pid=$!
    own "$pid"
    wait_for 'redis PUBSUB CHANNELS | grep -q long' 30
    end "$pid"
    expect_eq "$ENDED" 143
    ERR=$(cat "$TEST_DIR/err")
    faults 143
    expect_eq "$CODE" interrupted
}

working() {
    write_conf one 'session = 2; log = { level = "error"; }' \
        'pools = ( { name = "p"; queues = [ "w" ]; threads = 2; },
                   { name = "r"; queues = [ "atmost", "y" ]; threads = 1; order = "weighted"; weights = [ 2, 1 ]; } );'
    reeve events w --keep 1000 >/dev/null || fail "events"
    start_worker one
    prints "enqueue --wait" 0 enqueue w echo hi --wait=30
    prints "enqueue --wait" 0 enqueue w echo @"$TEST_DIR/bytes" --wait=30
    prints "enqueue --wait" 5 enqueue w fail '{"kind":"smtp","message":"no route"}' --id dies --attempts 2 --backoff fixed:20ms~0 \
        --wait=30
    expect_eq "$CODE" dead
    prints wait 5 wait w/dies
    prints show 0 show w/dies
    expect_eq "$(member error_kind "$OUT")" '"smtp"'
    reeve enqueue w sleep '{"ms":600000}' --id long >/dev/null || fail "not enqueued"
    wait_for '[ "$(of_task w/long state)" = "\"running\"" ]' 30
    prints expire 0 expire w/long
    wait_for '[ "$(of_task w/long state)" = "\"running\"" ]' 30
    prints show 0 show w/long
    reeve enqueue w noop --id both --after w/dies:go --after w/long >/dev/null || fail "not enqueued"
    prints show 0 show w/both
    expect_has "$(member parents "$OUT")" '"ended":"dead"'
    wait_for 'reeve workers --json | grep -q "\"id\":\"long\""' 30
    wait_for 'reeve workers --json | grep -q "\"round_trip_us\":[0-9]"' 30
    prints workers 0 workers
    prints why 0 why w/dies
    expect_eq "$(member error_kind "$OUT")" '"smtp"'
    prints why 0 why w/long
    reeve limit w --concurrency 1 >/dev/null || fail "not limited"
    prints why 0 why w
    expect_has "$OUT" '"limit":1,"count":1'
    reeve limit w --concurrency none >/dev/null || fail "not unlimited"
    reeve enqueue w rare --id rare >/dev/null || fail "not enqueued"
    wait_for '[ "$(of_task w/rare state)" = "\"scheduled\"" ]' 30
    reeve pause w >/dev/null || fail "not paused"
    reeve retry w/rare >/dev/null || fail "not retried"
    prints why 0 why w/rare
    expect_has "$OUT" '"reason":"no_handler"'
    reeve delete w/rare >/dev/null || fail "not deleted"
    reeve resume w >/dev/null || fail "not resumed"
    wait_for '[ "$(of_task atmost/one state)" = "\"completed\"" ] && [ "$(of_task atmost/two state)" = "\"parked\"" ]' 30
    prints why 0 why atmost/two
    expect_has "$OUT" '"reason":"group_rate"'
    reeve pause w >/dev/null || fail "not paused" # or the parent may end before its child is there
    reeve enqueue w noop --id parent >/dev/null || fail "not enqueued"
    prints enqueue 0 enqueue w noop --id follows --after w/parent
    reeve resume w >/dev/null || fail "not resumed"
    prints wait 0 wait w/follows --timeout 30
    prints show 0 show w/follows
    expect_has "$(member history "$OUT")" '"by":"w/parent"'
    reeve settings w --record-runs yes >/dev/null || fail "not set"
    wait_for 'reeve enqueue w noop --id ran --wait=30 >/dev/null 2>&1; reeve show w/ran --json | grep -q "\"thread\":\"" || { reeve delete w/ran >/dev/null; false; }' 30
    prints show 0 show w/ran
    reeve settings w --record-runs no >/dev/null || fail "not set"
    prints failures 0 failures
    prints "failures, by type" 0 failures w --by type
    prints "failures QUEUE KIND" 0 failures w smtp
    wait_for '[ "$(member completed "$(reeve stats w --json)")" -ge 5 ]' 30
    prints stats 0 stats w --days 2
    prints "stats, minutes" 0 stats w --minutes 2
    prints watch 0 watch w --since 1h --count 11
    watching
    interrupted
    prints cancel 0 cancel w/both
    prints cancel 0 cancel w/long
    expect_eq "$(member cancelling "$OUT")" true
    prints wait 6 wait w/long --timeout 30
    expect_eq "$CODE" cancelled
    prints retry 0 retry w/dies
    end "$WORKER_PID"
}

# What tasks leave that the sample plugin does not.
long_tasks() {
    write_conf long 'session = 2; log = { level = "error"; }' \
        "plugins = [ \"$REEVE_BUILD/tests/plugins/teller.so\" ]; pools = ( { name = \"p\"; queues = [ \"g\" ]; threads = 1; } );"
    sed -i '/^plugin_dir/d' "$TEST_DIR/long.conf"
    start_worker long
    reeve events g --keep 100 >/dev/null 2>&1 || fail "no events"
    prints "enqueue --wait" 5 enqueue g tells --id tells --attempts 1 --wait=30
    prints show 0 show g/tells
    expect_eq "$(member progress "$OUT") $(member checkpoint_bytes "$OUT")" "40 4"
    prints "show --log" 0 show g/tells --log
    prints watch 0 watch g --since 1h --count 4
    expect_has "$OUT" '"event":"progress"'
    end "$WORKER_PID"
}

# verbs/NAME.sh has the cases of one verb: it may use all functions of this file and of lib.sh, and the Redis with its tasks.
each_verb() {
    local cases
    for cases in "${BASH_SOURCE%/*}"/verbs/*.sh; do
        # shellcheck disable=SC1090
        . "$cases"
    done
}

all_was_seen() {
    "$SHAPE" "$DOC" "$SEEN" --unseen >"$TEST_DIR/unseen" || fail "documented, but never seen: $(paste -sd' ' "$TEST_DIR/unseen")"
}

verbs_are_documented
codes_are_documented
events_are_documented
without_redis
start_redis
producing
looking
steering
queues
cron
working
long_tasks
each_verb
all_was_seen

# st_cron.sh - recurring entries as a user has them: one in the configuration, one from the command line, two workers; one of
# them is killed, both are away for a while, an entry is paused, changed, run, removed.
. "$(dirname "$0")/lib.sh"

# (A list of several pages tells a task twice that moved from one page to the next meanwhile: tasks come in front.)
# slots QUEUE NAME: the slots of an entry's tasks, ascending.
slots() {
    reeve list "$1" --state completed --limit 0 --json | sed -n "s/.*\"id\":\"cron:$2:\([0-9]*\)\".*/\1/p" | sort -nu
}
# When the tasks of an entry ended, in order.
ends() {
    reeve list "$1" --state completed --limit 0 --json |
        sed -n "s/.*\"id\":\"cron:$2:\([0-9]*\)\".*\"ended_ms\":\([0-9]*\).*/\1 \2/p" | sort -u | cut -d' ' -f2 | sort -n
}
# is_under_way QUEUE NAME: tasks of an entry wait or run. (In the order in which they go.)
is_under_way() {
    { reeve list "$1" --limit 0 --json && reeve list "$1" --state running --limit 0 --json; } | grep -q "\"id\":\"cron:$2:"
}
# Slots of one entry, each once, without a gap.
no_gap() {
    local every=$1
    awk -v every="$every" 'NR > 1 && $1 - last != every { bad = 1 } { last = $1 } END { exit bad || NR == 0 }'
}
of_entry() { member "$2" "$(reeve cron list "${1%/*}" --json | grep "\"name\":\"${1#*/}\"")"; }

without_redis() {
    expect_status 0 reeve cron next '0 3 * * *' 3
    expect_eq "$(printf '%s\n' "$OUT" | wc -l)" 3
    expect_has "$OUT" "T03:00:00.000Z"
    expect_status 0 env TZ=Asia/Kolkata "$REEVE" cron next '0 3 * * *' 1 --zone local
    expect_has "$OUT" "T03:00:00.000+05:30"
    expect_status 0 env TZ=Asia/Tokyo "$REEVE" cron next '0 3 1 7 *' 1 --zone Europe/Berlin
    expect_has "$OUT" "T03:00:00.000+02:00"
    expect_status 2 reeve cron next '@daily' --zone Europe/Nowhere
    expect_has "$ERR" 'there is no time zone "Europe/Nowhere"'
    expect_status 2 env TZDIR=/nonexistent "$REEVE" cron next '@daily' --zone Europe/Berlin
    expect_has "$ERR" 'needs tzdata: there is no /nonexistent here'
    expect_status 0 reeve cron next 'every 90s' 1 --json
    expect_eq $(($(member slot_ms "$OUT") % 90000)) 0
    expect_status 2 reeve cron next '0 3 * * mun'
    expect_has "$ERR" "mun"
    expect_status 2 reeve cron next '@daily' 0
    expect_status 2 reeve cron
    expect_status 2 reeve cron lst
    expect_has "$ERR" 'did you mean "list"'
    expect_status 2 reeve cron add a '@daily' q
    expect_status 2 reeve cron add a '@dayly' q noop
    expect_status 2 reeve cron add a '@daily' q noop --catch-up-max 5
    expect_has "$ERR" '"all" only'
    expect_status 2 reeve cron add a '@daily' q noop --catch-up twice
    expect_status 2 reeve cron list --tag x
    expect_status 2 reeve cron remove q
    expect_has "$ERR" QUEUE/NAME
    printf 'pools = ( { queues = [ "q" ]; } );\ncron = ( {\n name = "n"; spec = "x * * * *"; queue = "q"; type = "t"; } );\n' \
        >"$TEST_DIR/bad.conf"
    expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf" --check
    expect_has "$ERR" 'bad.conf:3: cron[0].spec: minute "x"'
}

# Ranges, and slots of the past.
ranges() {
    expect_status 0 reeve cron add r 'every 6h' w noop --first 2030-01-01T09:30:00Z --ends 2031-01-01T00:00:00Z --runs 10 --jitter 5m
    expect_eq "$(of_entry w/r starts_ms) $(of_entry w/r ends_ms) $(of_entry w/r offset_ms) $(of_entry w/r jitter_ms) $(of_entry w/r runs)" \
        "1893490200000 1924992000000 12600000 300000 10"
    expect_status 0 reeve cron add over 'every 6h' w noop --starts 2020-01-01T00:00:00Z --ends 2021-01-01T00:00:00Z
    expect_eq "$(of_entry w/over ended) $(of_entry w/over paused) $(of_entry w/over next_ms)" "true false null"
    expect_has "$(reeve cron list w | grep ' over ')" " ended "
    expect_status 0 reeve cron remove w/over
    expect_status 0 reeve cron add r 'every 6h' w noop --runs 11
    expect_has "$ERR" "kept as it was: starts, ends, offset, jitter"
    expect_status 2 reeve cron add x '@daily' w noop --first 2030-01-01T09:30:00Z
    expect_status 2 reeve cron add x 'every 6h' w noop --offset 6h
    expect_status 2 reeve cron add x 'every 10s' w noop --jitter 11s
    expect_status 2 reeve cron add x '@daily' w noop --from 2030-01-01T00:00:00Z
    expect_status 2 reeve cron backfill r
    expect_status 2 reeve cron backfill w/r --from 2030-01-01T00:00:00Z --to 2029-01-01T00:00:00Z
    expect_status 2 reeve cron backfill w/r --to 2030-01-01T00:00:00Z --tag x
    expect_status 0 reeve cron backfill r --from 2030-01-01T00:00:00Z --to 2030-01-02T23:00:00Z --dry-run
    expect_eq "$OUT" "7 slots; nothing was done"
    expect_status 0 reeve cron backfill r --from 2030-01-01T00:00:00Z --to 2030-01-02T23:00:00Z --limit 2
    expect_eq "$OUT" "enqueued 2 of 2 slots"
    expect_status 0 reeve show w/cron:r:1893490200000 --json
    expect_status 0 reeve cron backfill w/r --from 2030-01-01T00:00:00Z --to 2030-01-02T23:00:00Z --json
    expect_eq "$(member slots "$OUT") $(member enqueued "$OUT")" "7 5"
    expect_status 2 reeve cron backfill r --to 2030-01-01T00:00:00Z
    expect_has "$ERR" "give --from TIME and --to TIME"
    expect_status 1 reeve cron backfill none --from 2029-12-01T00:00:00Z --to 2030-01-01T00:00:00Z
    expect_status 0 reeve cron remove w/r
}

# A worker without tzdata says so, and leaves the entry to others.
without_tzdata() {
    printf 'redis = "%s";\npools = ( { queues = [ "z" ]; } );\n' "$REDIS_URL" >"$TEST_DIR/z.conf"
    expect_status 0 reeve cron add z '* * * * * *' z noop --zone Europe/Berlin --timeout 5 --backoff fixed:2s
    expect_eq "$(of_entry z/z zone) $(of_entry z/z timeout_ms)" '"Europe/Berlin" 5000'
    expect_eq "$(of_entry z/z backoff)" '"fixed:2s"'
    TZDIR=/nonexistent start_worker z
    wait_for '[ "$(logged z cron.broken)" = 1 ]' 30
    grep -q 'needs tzdata' "$TEST_DIR/z.log" || fail "no word of tzdata"
    start_worker z
    wait_for '[ "$(in_queue z ready)" != 0 ]' 30
    expect_status 0 reeve cron remove z/z
    end "$WORKER_PID"
    printf 'cron = ( { name = "c"; spec = "@daily"; queue = "z"; type = "t"; zone = "Mars"; } );\n' >>"$TEST_DIR/z.conf"
    expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/z.conf" --check
    expect_has "$ERR" 'cron[0].zone: there is no time zone "Mars"'
}

listing() {
    expect_status 0 reeve cron list
    expect_has "$ERR" "no entry yet"
    expect_status 0 reeve cron add poll 'every 200ms' q echo '{"from":"cli"}' --catch-up all --tag t --meta k=v --priority -1
    expect_eq "$OUT" "set q/poll"
    expect_status 0 reeve cron add poll 'every 200ms' q echo '{"from":"cli"}' --catch-up all --tag t --meta k=v --priority -1
    expect_eq "$OUT" "unchanged q/poll"
    printf 'a\0b' | expect_status 0 reeve cron add later '0 0 1 1 *' other noop - --zone local --no-overlap
    expect_status 0 reeve cron list
    expect_has "$OUT" "QUEUE"
    expect_has "$OUT" "every 200ms"
    expect_status 0 reeve cron list q --json
    expect_eq "$(member name "$OUT") $(member spec "$OUT") $(member type "$OUT")" '"poll" "every 200ms" "echo"'
    expect_eq "$(member zone "$OUT") $(member paused "$OUT") $(member last_handle "$OUT")" '"utc" false null'
    expect_eq "$(of_entry other/later zone) $(of_entry other/later overlap)" '"local" false'
    expect_status 1 reeve cron pause q/none
    expect_has "$ERR" "q/none"
    redis SET "reeve:{broken}:cron" x >/dev/null
    expect_status 1 reeve cron list broken
    expect_has "$ERR" "another program wrote this key: move it away"
    redis DEL "reeve:{broken}:cron" >/dev/null
}

# What is not given stays as it is; a name is one entry.
changing() {
    expect_status 0 reeve cron add keep '@daily' q echo '{"a":1}' --attempts 4 --tag red --tag blue --group g --weight 2 --cost 7 --limit-key gpu --limit-key api --zone local \
        --catch-up all --catch-up-max 7 --no-overlap --backoff fixed:2s --meta k=v --max-crashes 2 --timeout 9
    expect_status 0 reeve cron add keep '@daily' q echo --priority 5
    expect_eq "$OUT" "set q/keep"
    expect_has "$ERR" "kept as it was: zone, catch-up, no-overlap, group, cost, limit-key, attempts, max-crashes, timeout, backoff, tag, meta, payload"
    expect_eq "$(of_entry q/keep zone) $(of_entry q/keep catch_up) $(of_entry q/keep catch_up_max) $(of_entry q/keep overlap)" \
        '"local" "all" 7 false'
    task=$(reeve cron run q/keep)
    expect_eq "$(of_task "$task" priority) $(of_task "$task" attempts) $(of_task "$task" group) $(of_task "$task" weight) $(of_task "$task" cost) $(of_task "$task" limit_keys)" '5 4 "g" 2 7 ["gpu","api"]'
    expect_eq "$(of_task "$task" tags) $(of_task "$task" meta) $(of_task "$task" payload)" '["red","blue"] {"k":"v"} "{\"a\":1}"'
    expect_eq "$(of_task "$task" backoff) $(of_task "$task" timeout_ms) $(of_task "$task" max_crashes)" '"fixed:2s" 9000 2'
    expect_status 0 reeve delete "$task"
    # The same again is no change, and given options count.
    expect_status 0 reeve cron add keep '@daily' q echo
    expect_eq "$OUT" "unchanged q/keep"
    expect_status 0 reeve cron add keep '@hourly' q echo x --tag green --overlap --attempts 2 --json
    expect_has "$OUT" '"moved_from":null,"kept":["zone","catch-up","priority","group","cost","limit-key","max-crashes","timeout","backoff","meta"]'
    task=$(reeve cron run q/keep)
    expect_eq "$(of_task "$task" tags) $(of_task "$task" payload) $(of_task "$task" attempts)" '["green"] "x" 2'
    expect_status 0 reeve delete "$task"
    expect_status 2 reeve cron add keep '@hourly' q echo --overlap --no-overlap
    # Another queue: it is moved, with all of that.
    reeve cron pause q/keep >/dev/null
    expect_status 0 reeve cron add keep '@hourly' other echo
    expect_eq "$OUT" "set other/keep"
    expect_has "$ERR" "it was q/keep before"
    expect_eq "$(reeve cron list --json | grep -c '"name":"keep"')" 1
    expect_eq "$(of_entry other/keep paused) $(of_entry other/keep overlap)" "true true"
    expect_status 0 reeve cron add keep '@hourly' q noop --json
    expect_eq "$(member moved_from "$OUT")" '"other"'
    expect_status 0 reeve cron add keep '@hourly' q noop --replace
    expect_eq "$OUT$ERR" "set q/keep"
    expect_eq "$(of_entry q/keep zone) $(of_entry q/keep payload)" '"utc" ""'
    expect_status 0 reeve cron remove q/keep
}

# Two workers, an entry each from the file and the command line: each slot once.
fired() {
    # (That of the file takes the place of one in another queue.)
    reeve cron add beat '@yearly' other echo >/dev/null
    start_alone one
    wait_for '[ "$(logged one program.cron_moved)" = 1 ]' 30
    expect_eq "$(reeve cron list --json | grep -c '"name":"beat"')" 1
    ONE=$WORKER_PID
    start_alone two
    TWO=$WORKER_PID
    wait_for '[ "$(slots q poll | wc -l)" -ge 8 ] && [ "$(slots q beat | wc -l)" -ge 8 ]' 30
    expect_eq "$(of_entry q/beat spec) $(of_entry q/beat catch_up)" '"every 300ms" "all"'
    # (Two threads need not end them in their order.)
    wait_for 'slots q poll | no_gap 200' 10
    wait_for 'slots q beat | no_gap 300' 10
    task=$(of_entry q/poll last_handle | tr -d '"')
    expect_status 0 reeve wait "$task" --timeout 30
    expect_eq "$(of_task "$task" payload) $(of_task "$task" priority)" '"{\"from\":\"cli\"}" -1'
}

# One is killed where it stands: the other goes on, and nothing is left out or made twice.
killed() {
    end "$ONE" KILL
    local before
    before=$(slots q poll | wc -l)
    wait_for '[ "$(slots q poll | wc -l)" -ge $((before + 8)) ]' 30
    end "$TWO" KILL
}

downtime() {
    reeve cron add once 'every 250ms' q noop >/dev/null
    reeve cron add skip 'every 250ms' q noop --catch-up skip >/dev/null
    start_alone one
    ONE=$WORKER_PID
    wait_for '[ -n "$(slots q once)" ] && [ -n "$(slots q skip)" ]' 30
    end "$ONE" KILL
    LAST=$(slots q poll | tail -n 1)
    sleep 4
    start_alone one
    ONE=$WORKER_PID
    wait_for '[ "$(slots q poll | tail -n 1)" -ge $((LAST + 6000)) ]' 30
    # Tasks that the killed worker held come back when its session has expired.
    wait_for 'slots q poll | no_gap 200' 30
    wait_for 'slots q beat | no_gap 300' 30
    # The others have a hole there.
    slots q once | no_gap 250 && fail "once: all slots were made up for"
    slots q skip | no_gap 250 && fail "skip: all slots were made up for"
    expect_status 0 reeve cron remove q/once q/skip
}

steered() {
    local count
    expect_status 0 reeve cron pause q/poll
    expect_eq "$OUT" "paused q/poll"
    expect_eq "$(of_entry q/poll paused) $(of_entry q/poll next_ms)" "true null"
    wait_for '! is_under_way q poll' 30
    count=$(slots q poll | wc -l)
    # (Time passes: the other entry fires.)
    LAST=$(slots q beat | wc -l)
    wait_for '[ "$(slots q beat | wc -l)" -ge $((LAST + 3)) ]' 30
    expect_eq "$(slots q poll | wc -l)" "$count" "slots of a paused entry"
    expect_status 0 reeve cron run q/poll
    expect_has "$OUT" "q/cron:poll:now:"
    expect_status 0 reeve wait "$OUT" --timeout 30
    # The worker that starts again sets what the file says, and leaves a paused entry paused.
    reeve cron pause q/beat >/dev/null
    end "$ONE"
    expect_eq "$ENDED" 0
    start_alone one
    ONE=$WORKER_PID
    wait_for '[ "$(in_queue q ready)" = 0 ] && reeve workers --json | grep -q one' 30
    expect_eq "$(of_entry q/beat paused)" true
    expect_status 0 reeve cron resume q/poll
    wait_for '[ "$(slots q poll | wc -l)" -gt "$count" ]' 30
    # A slow task is not overtaken.
    reeve cron add slow 'every 100ms' q sleep '{"ms":700}' --no-overlap >/dev/null
    wait_for '[ "$(slots q slow | wc -l)" -ge 3 ]' 30
    # (Each takes 700 ms: two that end sooner after one another have run side by side. A slot may have fired late.)
    expect_eq "$(ends q slow | head -3 | wc -l)" 3
    ends q slow | awk 'NR > 1 && $1 - last < 690 { exit 1 } { last = $1 }' || fail "overlap: $(ends q slow)"
    expect_status 0 reeve cron remove q/slow q/poll q/beat other/later
    expect_status 1 reeve cron remove q/poll
    expect_status 0 reeve cron list --json
    expect_eq "$OUT" ""
    [ "$(slots q poll | wc -l)" -gt "$count" ] || fail "its tasks are gone, too"
}

without_redis
start_redis
for name in one two; do
    write_conf $name 'session = 1; log = { level = "debug"; };' 'pools = ( { queues = [ "q", "other" ]; threads = 2; } );' \
        'cron = ( { name = "beat"; spec = "every 300ms"; queue = "q"; type = "echo"; payload = "{}"; catch_up = "all"; } );'
done
without_tzdata
ranges
listing
changing
fired
killed
downtime
steered
end "$ONE"
expect_eq "$ENDED" 0 "the worker's exit status"

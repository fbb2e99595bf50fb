# st_stats.sh - reeve stats: tables, days, histograms, JSON; what a killed worker leaves; what workers run.
. "$(dirname "$0")/lib.sh"

usage() {
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 2 reeve stats 'q q'
    expect_status 2 reeve stats a b
    expect_status 2 reeve stats --days 0
    expect_status 2 reeve stats --days 401
    expect_status 2 reeve stats q --histogramm
    expect_status 2 reeve stats q --minutes 0
    expect_status 2 reeve stats q --minutes 1441
    expect_status 2 reeve workers --running q
    expect_status 3 reeve stats
    expect_status 3 reeve stats q
    expect_status 3 reeve workers --running
    unset REEVE_REDIS
}

# line QUEUE TYPE PAYLOAD
line() { printf '{"queue":"%s","type":"%s","attempts":1,"payload":%s}\n' "$@"; }

# completed QUEUE: as today's statistics have it.
completed() { member completed "$(reeve stats "$1" --json 2>/dev/null)"; }

tables() {
    expect_status 0 reeve stats
    expect_has "$ERR" "no queue yet"
    {
        for _ in $(seq 40); do line work noop '{}'; done
        for _ in 1 2 3; do line work sleep '{"ms":60}'; done
        line work fail '{"kind":"io","message":"m"}'
        line work fail '{"kind":"io","message":"m"}'
        line work fail '{"kind":"odd","message":"m"}'
        line other noop '{}'
    } | reeve enqueue --bulk >/dev/null 2>"$TEST_DIR/err" || fail "not all was enqueued"
    write_conf worker "session = 1" 'pools = ( { name = "p"; queues = [ "work", "other" ]; threads = 2; } );'
    start_alone worker
    wait_for 'is_still work 43 3' 60
    wait_for '[ "$(completed work)" = 43 ] && [ "$(completed other)" = 1 ]' 60
    expect_status 0 reeve stats
    grep -Eq '^QUEUE +DONE +FAILED +DEAD +AVG/HOUR +WAIT +P50 +P95 +P99 +RUN +P50 +P95 +P99 +KINDS$' "$TEST_DIR/out" ||
        fail "no titles"
    grep -Eq '^work +43 +3 +3 +[0-9]+ .* io 2, odd 1$' "$TEST_DIR/out" || fail "no row of work"
    grep -Eq '^other +1 +0 +0 .* -$' "$TEST_DIR/out" || fail "no row of other"
    grep -Eq '^\(all\) +44 +3 +3 ' "$TEST_DIR/out" || fail "no sum"
    expect_status 0 reeve stats work --days 3 --histogram
    expect_eq "$(grep -Ec '^[0-9]{4}-[0-9]{2}-[0-9]{2} ' "$TEST_DIR/out")" 3
    grep -Eq "^$(date -u +%F) +43 +3 +3 " "$TEST_DIR/out" || grep -Eq "^$(date -u -d yesterday +%F) +43 " "$TEST_DIR/out" ||
        fail "no row of today"
    grep -Eq '^\(all\) +43 ' "$TEST_DIR/out" || fail "no sum of days"
    expect_has "$OUT" "wait of 46 first attempts"
    expect_has "$OUT" "run of 46 attempts"
    # (A busy machine lets them sleep longer.)
    grep -Eq '^ +(([5-9][0-9]|[0-9]{3})ms|[0-9.]+s) - [0-9.]+m?s +[1-9][0-9]*  #+$' "$TEST_DIR/out" ||
        fail "no bar of the sleepers"
    expect_status 0 reeve stats --types
    grep -Eq '^QUEUE +TYPE +DONE +FAILED +DEAD +WAIT +MIN +MAX +RUN +MIN +MAX$' "$TEST_DIR/out" || fail "no titles of types"
    grep -Eq '^work +noop +40 +0 +0 ' "$TEST_DIR/out" || fail "no row of noop"
    grep -Eq '^work +sleep +3 +0 +0 .* ([6-9][0-9]|[0-9]{3})(\.[0-9]+)?ms +' "$TEST_DIR/out" || fail "no row of sleep"
    grep -Eq '^work +fail +0 +3 +3 ' "$TEST_DIR/out" || fail "no row of fail"
    expect_status 0 reeve stats --minutes 1440
    expect_eq "$(awk 'NR > 1 { done += $2; failed += $3 } END { print done, failed, NR }' "$TEST_DIR/out")" "44 3 1441"
    expect_status 0 reeve stats work --minutes 2 --json
    expect_eq "$(wc -l <"$TEST_DIR/out")" 2
    expect_status 0 reeve stats nowhere
    grep -Eq '^nowhere +0 +0 +0 ' "$TEST_DIR/out" || fail "no row of nothing"
}

json() {
    local line
    expect_status 0 reeve stats work --days 2 --json
    expect_eq "$(wc -l <"$TEST_DIR/out")" 2
    command -v jq >/dev/null || return 0
    line=$(tail -n 1 "$TEST_DIR/out")
    expect_eq "$(jq -r 'keys_unsorted | join(" ")' <<<"$line")" \
        "queue day completed failed retried dead crashed wait run kinds types"
    expect_eq "$(jq -r '.run | keys_unsorted | join(" ")' <<<"$line")" \
        "count mean_ms variance deviation_ms min_ms max_ms p50_ms p95_ms p99_ms histogram"
    expect_eq "$(jq -c '[.queue, .completed, .failed, .retried, .dead, .crashed]' <<<"$line")" '["work",43,3,0,3,0]'
    expect_eq "$(jq -c .kinds <<<"$line")" \
        '[{"kind":"io","retried":0,"dead":2},{"kind":"odd","retried":0,"dead":1}]'
    expect_eq "$(jq -c '[.run, .wait | (.histogram | map(.count) | add) == .count]' <<<"$line")" '[true,true]'
    expect_eq "$(jq -r '.run.histogram | map(select(.from_ms >= 50)) | map(.count) | add >= 3' <<<"$line")" true
    expect_eq "$(jq -r '.run.mean_ms > 3 and .run.p99_ms > 50 and .run.p50_ms <= .run.p99_ms' <<<"$line")" true
    expect_eq "$(head -n 1 "$TEST_DIR/out" | jq -c '[.completed, .run.count, .run.p50_ms, .kinds]')" '[0,0,null,[]]'
}

running() {
    local line
    reeve enqueue work sleep '{"ms":60000}' --id long >/dev/null
    wait_for 'reeve workers --running 2>/dev/null | grep -Eq "^[0-9a-f]{16} +p/[12] +work/long +sleep +"' 30
    expect_status 0 reeve workers
    expect_has "$OUT" " MiB"
    expect_has "$OUT" " ms"
    expect_status 0 reeve workers --json
    line=$OUT
    expect_has "$line" '"queue":"work","id":"long","type":"sleep","for_ms":'
    command -v jq >/dev/null || return 0
    expect_eq "$(jq -r 'keys_unsorted | join(" ")' <<<"$line")" \
        "worker name host pid version state started_ms seen_ms threads busy processed failed memory_bytes round_trip_us utilisation running pools plugins types types_more"
    expect_eq "$(jq -c '.running[0] | [.queue, .id, .type]' <<<"$line")" '["work","long","sleep"]'
    expect_eq "$(jq -r '.memory_bytes > 100000 and .round_trip_us > 0' <<<"$line")" true
}

# What was flushed stays; what was not is all that is missing; what comes later is added.
killed() {
    local before after
    before=$(completed other)
    for _ in $(seq 200); do line other noop '{}'; done | bulk other || exit 1
    wait_for '[ "$(in_queue other ready)" = 0 ]' 60
    wait_for "[ \"\$(completed other)\" = $((before + 200)) ]" 60
    for _ in $(seq 100); do line other noop '{}'; done | bulk other || exit 1
    wait_for '[ "$(in_queue other completed)" -gt 201 ]' 60
    end "$WORKER_PID" KILL
    after=$(completed other)
    [ "$after" -ge $((before + 200)) ] && [ "$after" -le "$(in_queue other completed)" ] || fail "$after of $before + 300"
    expect_eq "$(in_queue other completed_total)" "$(in_queue other completed)" "the totals need no worker that lives on"
    start_alone worker
    wait_for 'is_still other 301 0' 60
    for _ in $(seq 50); do line other noop '{}'; done | bulk other || exit 1
    wait_for 'is_still other 351 0' 60
    end "$WORKER_PID"
    expect_eq "$ENDED" 0
    expect_eq "$(in_queue other completed_total)" 351 "after a clean stop"
    [ "$(completed other)" -ge $((after + 50)) ] || fail "what the second worker did is missing"
    [ "$(completed other)" -le 351 ] || fail "more than there were"
    wait_for '[ -z "$(reeve workers --running 2>/dev/null)" ]' 30
}

usage
start_redis
tables
json
running
killed

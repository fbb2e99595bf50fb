# st_settings.sh - what holds for a queue's tasks as a user sets and sees it by `reeve settings`, and that workers act on it.
. "$(dirname "$0")/lib.sh"

usage() {
    local option value
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 2 reeve settings
    expect_status 2 reeve settings 'q q'
    expect_status 2 reeve settings q r
    for option in attempts max-crashes; do
        for value in 0 -1 1.5 many 1000001 ''; do
            expect_status 2 reeve settings q "--$option" "$value"
            expect_has "$ERR" "--$option \"$value\": expected a whole number from 1 to 1000000, or default"
        done
    done
    for value in 0 -5 soon none; do
        expect_status 2 reeve settings q --timeout "$value"
        expect_has "$ERR" "--timeout \"$value\": expected a duration above zero"
    done
    expect_status 2 reeve settings q --backoff slow
    expect_has "$ERR" '--backoff: backoff "slow": expected exponential[:BASE[:CAP]]'
    expect_has "$ERR" "or default"
    expect_status 2 reeve settings q --on-dead 'a b'
    expect_has "$ERR" '--on-dead "a b": expected a type'
    for option in keep-completed keep-dead; do
        for value in soon -1 1h: 1h:-1 1h:many 1h:1000000001 :5 '' 99999999999999999999999999999999999999999d; do
            expect_status 2 reeve settings q "--$option" "$value"
            expect_has "$ERR" "--$option \"$value\": expected AGE[:COUNT"
        done
    done
    for value in 1h:5: 1h:5:0 1h:5:-1 1h:5:much 1h:5:1.5M 1h:5:64M: 1h:5:1000000000000001; do
        expect_status 2 reeve settings q --keep-completed "$value"
        expect_has "$ERR" "--keep-completed \"$value\": expected AGE[:COUNT[:BYTES]]"
    done
    expect_status 2 reeve settings q --keep-dead 1h:5:64M
    expect_has "$ERR" '--keep-dead "1h:5:64M": expected AGE[:COUNT], for'
    for value in 0 -1 much 16777217 17M ''; do
        expect_status 2 reeve settings q --result-max "$value"
        expect_has "$ERR" "--result-max \"$value\": expected bytes from 1 to 16777216 such as 4096, 64K or 1M, or default"
    done
    expect_status 2 reeve settings q --keep-stats 3651
    expect_status 3 reeve settings q
    expect_status 3 reeve settings q --attempts 3
    expect_eq "$OUT" ""
    unset REEVE_REDIS
}

# has_lines TEXT: each of these lines was printed. has_members JSON: each member of this object, in this order, perhaps with
# others between them.
has_lines() { while read -r line; do expect_has "$OUT" "$line"; done <<<"$1"; }
has_members() {
    local rest=$OUT part
    while read -r part; do
        expect_has "$rest" "$part"
        rest=${rest#*"$part"}
    done < <(tr '{,}' '\n' <<<"$1" | grep .)
}

KEEP_DEFAULT='{"completed":{"age_ms":86400000,"count":10000,"result_bytes":null},"dead":{"age_ms":7776000000,"count":10000},"stats_days":30}'
DEFAULTS="\"attempts\":null,\"backoff\":null,\"max_crashes\":null,\"timeout_ms\":null,\"retry_for_ms\":null,\"max_snoozes\":null,\"record_runs\":false,\"on_dead\":null,\"result_max_bytes\":null,\"payload_max_bytes\":null,\"breaker\":{\"failures\":null,\"attempts\":null,\"window_ms\":null,\"pause_ms\":null},\"group_breaker\":{\"failures\":null,\"attempts\":null,\"window_ms\":null,\"pause_ms\":null},\"keep\":$KEEP_DEFAULT}"

showing() {
    expect_status 0 reeve settings a
    has_lines "$(cat <<'END'
queue:          a
attempts:       20 (default)
backoff:        exponential:1s:1h~0.2 (default)
max crashes:    3 (default)
timeout:        none (default)
retry for:      none (default)
max snoozes:    none (default)
record runs:    no
on dead:        none
result max:     16M (default)
payload max:    64M (default)
breaker:        none
group breaker:  none
keep completed: 1d:10000
keep dead:      90d:10000
keep stats:     30d
END
)"
    expect_eq "$ERR" "reeve: settings: no such queue yet: a"
    expect_status 0 reeve settings a --json
    has_members "{\"queue\":\"a\",$DEFAULTS"
    expect_eq "$(redis EXISTS 'reeve:{a}:settings')" 0
}

setting() {
    expect_status 0 reeve settings b --attempts 5 --backoff list:1,90~0.1 --max-crashes 2 --timeout 90 --retry-for 1d --on-dead told \
        --result-max 64K --payload-max 8K --breaker 50:20:1m --group-breaker 80:5:10s:1m --keep-completed 36h:500:512M --keep-dead forever:all --keep-stats 7
    has_lines "$(cat <<'END'
queue:          b
attempts:       5
backoff:        list:1s,90s~0.1
max crashes:    2
timeout:        90s
retry for:      1d
max snoozes:    none (default)
record runs:    no
on dead:        told
result max:     64K
payload max:    8K
breaker:        50:20:1m
group breaker:  80:5:10s:1m
keep completed: 36h:500:512M
keep dead:      forever:all
keep stats:     7d
END
)"
    # What is not given stays, also of the policy, which is one field.
    expect_status 0 reeve settings b --timeout 250ms --json
    has_members '{"queue":"b","attempts":5,"backoff":"list:1s,90s~0.1","max_crashes":2,"timeout_ms":250,"retry_for_ms":86400000,"max_snoozes":null,"record_runs":false,"on_dead":"told","result_max_bytes":65536,"payload_max_bytes":8192,"breaker":{"failures":50,"attempts":20,"window_ms":60000,"pause_ms":null},"group_breaker":{"failures":80,"attempts":5,"window_ms":10000,"pause_ms":60000},"keep":{"completed":{"age_ms":129600000,"count":500,"result_bytes":536870912},"dead":{"age_ms":null,"count":null},"stats_days":7}}'
    expect_status 0 reeve settings b --attempts default --keep-completed 1.5 --keep-dead none
    expect_has "$OUT" "attempts:       20 (default)"
    expect_has "$OUT" "backoff:        list:1s,90s~0.1"
    expect_has "$OUT" "max crashes:    2"
    expect_has "$OUT" "timeout:        250ms"
    expect_has "$OUT" "record runs:    no"
    expect_has "$OUT" "result max:     64K"
    expect_has "$OUT" "keep completed: 1500ms:500:512M"
    expect_has "$OUT" "keep dead:      none"
    expect_status 0 reeve settings b --backoff fixed:30s
    expect_has "$OUT" "backoff:        fixed:30s"
    expect_status 0 reeve settings b --backoff default --max-crashes default --timeout default --retry-for default --on-dead none \
        --result-max default --payload-max default --breaker none:default:default:default --group-breaker none:default:default:default --keep-completed 1d:10000:any --keep-dead 90d:10000 --keep-stats 30 --json
    has_members "{\"queue\":\"b\",$DEFAULTS"
    expect_eq "$(redis HMGET 'reeve:{b}:settings' policy on_dead result_max payload_max completed_bytes | tr -d '\n')" ""
}

# A worker that runs hears of it, for tasks that wait already too.
in_force() {
    write_conf one "" 'pools = ( { queues = [ "w" ]; } );'
    reeve pause w >/dev/null
    expect_status 0 reeve enqueue w fail '{"kind":"k","message":"m"}' --id a
    expect_status 0 reeve settings w --attempts 2 --backoff fixed:10ms --on-dead echo
    start_worker one
    reeve resume w >/dev/null
    expect_status 5 reeve wait w/a --timeout 30
    expect_eq "$(of_task w/a failures)" 2
    wait_for '[ "$(in_queue w completed)" = 1 ]' 30
    expect_status 0 reeve settings w --attempts default --keep-completed none --timeout 50ms
    wait_for '[ "$(in_queue w completed)" = 0 ]' 30
    expect_status 0 reeve enqueue w sleep '{"ms":60000}' --id b --attempts 1
    expect_status 5 reeve wait w/b --timeout 30
    expect_eq "$(of_task w/b error_kind)" '"timeout"'
}

# Results: refused when they are larger than the queue's limit, and kept by their bytes.
results() {
    write_conf two "" 'queues = ( { name = "r"; result_max = 10; keep = { completed = { bytes = 15; }; }; } );' \
        'pools = ( { queues = [ "r", "s" ]; } );'
    start_worker two
    wait_for '[ "$(redis HGET "reeve:{r}:settings" completed_bytes)" = 15 ]' 30
    expect_status 0 reeve enqueue r echo 0123456789 --id a --wait --timeout 30
    expect_status 5 reeve enqueue r echo 0123456789+ --id b --wait --timeout 30
    expect_has "$ERR" "r/b is dead: result: the result has 11 bytes: at most 10 (result_max of the queue r raises it, up to 16777216)"
    expect_status 0 reeve enqueue r echo 01234 --id c --wait --timeout 30
    expect_eq "$(in_queue r completed)" 2
    expect_status 0 reeve enqueue r echo 0 --id d --wait --timeout 30
    expect_status 1 reeve show r/a
    expect_eq "$(in_queue r completed)" 2
    expect_status 0 reeve settings r --keep-completed 1d:all:any --result-max default
    expect_status 0 reeve enqueue r echo 0123456789+ --id e
    wait_for '[ "$(in_queue r completed)$(in_queue r dead)" = 31 ] || reeve retry r/e 2>/dev/null >/dev/null' 30
}

usage
# A name may be misspelt: who changes, or reads, a queue that has had no task is told; programs are not.
new_queues() {
    local verb
    for verb in pause "limit --concurrency 2" "settings --timeout 5" "events --keep 5"; do
        # shellcheck disable=SC2086
        expect_status 0 reeve ${verb%% *} "new-${verb%% *}" ${verb#"${verb%% *}"}
        expect_has "$ERR" "no such queue yet: new-${verb%% *}"
    done
    # It has settings now.
    expect_status 0 reeve resume new-pause
    expect_quiet
    expect_status 0 reeve limit new-limit
    expect_quiet
    expect_status 0 reeve pause other --json
    expect_quiet
    expect_status 0 reeve limit unheard
    expect_eq "$ERR" "reeve: limit: no such queue yet: unheard"
    expect_status 0 reeve enqueue known noop --in 1d
    for verb in list "list --tag x" "list --type x" peek tags failures stats "stats --minutes 5" limit settings events \
        "batch list" queues "cron list" partition resume "retry --all" "cancel --all --dry-run" "purge --all" "watch --timeout 0.1"; do
        # shellcheck disable=SC2086
        run reeve $verb knwon
        [ "$STATUS" = 0 ] || [ "$STATUS" = 7 ] || fail "status $STATUS: $verb"
        expect_has "$ERR" 'no such queue yet: knwon; did you mean "known"?'
        # shellcheck disable=SC2086
        run reeve $verb known
        expect_lacks "$ERR" "no such queue"
    done
    # (`watch` has made a setting of the other one.)
    expect_status 0 reeve top knonw --once --tab tasks
    expect_has "$OUT" "no such queue yet: knonw"
    expect_status 0 reeve stats knonw --json
    expect_quiet
    expect_status 0 reeve delete --all known --state scheduled
}

start_redis
new_queues
showing
setting
in_force
results

# st_limits.sh - limits of queues and groups as a user sets and sees them: by `reeve limit`, by a worker's
# configuration, in force at once.
. "$(dirname "$0")/lib.sh"

usage() {
    local arguments
    export REEVE_REDIS=unix:///nonexistent/redis.sock
    expect_status 2 reeve limit
    expect_status 2 reeve limit 'q q'
    expect_status 2 reeve limit q r
    for arguments in "--concurrency 0" "--concurrency -1" "--concurrency many" "--concurrency 1000000001"; do
        # shellcheck disable=SC2086
        expect_status 2 reeve limit q $arguments
        expect_has "$ERR" "a whole number from 1 to 1000000000, or none"
    done
    for arguments in 100 0/s 5/0 5/x 5/s: 5/s:0 5/367d; do
        expect_status 2 reeve limit q --rate "$arguments"
        expect_has "$ERR" "--rate \"$arguments\": expected COUNT/PERIOD[:BURST], for instance 100/1s"
    done
    expect_status 2 reeve limit q --pause-for soon
    expect_has "$ERR" "or none"
    expect_status 2 reeve limit q --group g
    expect_has "$ERR" "--group goes with what to change"
    expect_status 2 reeve limit q --each-group
    expect_status 2 reeve limit q --group g --each-group --concurrency 1
    expect_has "$ERR" "give one of them"
    expect_status 2 reeve limit q --each-group --pause-for 5
    expect_status 2 reeve limit q --forget
    expect_has "$ERR" "--forget goes with --group G, --type TYPE or --key KEY"
    expect_status 2 reeve limit q --type t
    expect_has "$ERR" "--type goes with what to change"
    expect_status 2 reeve limit q --type t --group g --concurrency 1
    expect_has "$ERR" "give one of them"
    expect_status 2 reeve limit q --type t --strict yes
    expect_status 2 reeve limit q --type t --pause-for 5
    expect_has "$ERR" "--type goes with --concurrency, --rate or --forget"
    expect_status 2 reeve limit q --group g --forget --rate none
    expect_status 2 reeve limit q --group '' --concurrency 1
    expect_status 2 reeve limit q --group "$(printf 'g%.0s' {1..101})" --concurrency 1
    expect_status 2 reeve limit q --group $'\xff' --concurrency 1
    expect_status 2 reeve limit q --concurrency 1 --offset 5
    expect_status 3 reeve limit q
    expect_status 3 reeve limit q --concurrency 1
    expect_eq "$OUT" ""
    unset REEVE_REDIS
}

NO_LIMITS='"concurrency":null,"rate":null,"pause_until_ms":null,"running":null,"each_group":{"concurrency":null,"rate":null,"strict":false}'

setting_and_showing() {
    expect_status 0 reeve limit a
    expect_has "$OUT" "concurrency:              none"
    expect_has "$OUT" "rate:                     none"
    expect_has "$OUT" "pause:                    none"
    expect_lacks "$OUT" "GROUP"
    expect_status 0 reeve limit a --json
    expect_eq "$OUT" "{\"queue\":\"a\",$NO_LIMITS,\"group_total\":0,\"groups\":[]}"
    expect_status 0 reeve limit a --concurrency 16 --rate 100/s:20
    expect_eq "$OUT" "a: concurrency 16, rate 100/1s:20"
    expect_eq "$ERR" "reeve: limit: no such queue yet: a; the change applies to it once it has tasks"
    expect_status 0 reeve limit a --each-group --rate 5/m --json
    expect_eq "$OUT" '{"queue":"a","of":"each_group","group":null,"forgotten":false,"rate":{"count":5,"period_ms":60000,"burst":5}}'
    expect_status 0 reeve limit a
    expect_has "$OUT" "concurrency:              16 (0 running)"
    expect_has "$OUT" "rate:                     100/1s:20"
    expect_has "$OUT" "each group's concurrency: none"
    expect_has "$OUT" "each group's rate:        5/1m"
    expect_status 0 reeve limit a --json
    expect_has "$OUT" '{"queue":"a","concurrency":16,"rate":{"count":100,"period_ms":1000,"burst":20},"pause_until_ms":null,'
    expect_eq "$(member running "$OUT")" 0
    expect_has "$OUT" '"each_group":{"concurrency":null,"rate":{"count":5,"period_ms":60000,"burst":5},"strict":false}'
    # What is not given stays.
    expect_status 0 reeve limit a --concurrency none
    expect_eq "$OUT" "a: concurrency none"
    expect_status 0 reeve limit a --json
    expect_has "$OUT" '{"queue":"a","concurrency":null,"rate":{"count":100,'
    expect_status 0 reeve limit a --rate none --json
    expect_eq "$OUT" '{"queue":"a","of":"queue","group":null,"forgotten":false,"rate":null}'
    expect_status 0 reeve limit a --each-group --rate none --concurrency none
    expect_eq "$OUT" "a, each group: concurrency none, rate none"
    expect_status 0 reeve limit a --json
    expect_eq "$OUT" "{\"queue\":\"a\",$NO_LIMITS,\"group_total\":0,\"groups\":[]}"
}

groups() {
    local group
    expect_status 0 reeve limit g --group 'Jürgen & Co: 7' --concurrency 1 --pause-for 90m
    expect_has "$OUT" "g, group Jürgen & Co: 7: concurrency 1, pause until "
    expect_has "$OUT" "(in 1 h)"
    expect_status 0 reeve limit g --group other --rate none --json
    expect_eq "$OUT" '{"queue":"g","of":"group","group":"other","forgotten":false,"rate":{"count":0,"period_ms":0,"burst":0}}'
    expect_status 0 reeve limit g
    grep -Eq '^Jürgen & Co: 7 +1 +- +0 +0 +until .* \(in 1 h\)$' "$TEST_DIR/out" || fail "no row of that group"
    grep -Eq '^other +- +none +0 +0 +-$' "$TEST_DIR/out" || fail "no row of the other group"
    expect_status 0 reeve limit g --json
    expect_eq "$(wc -l <"$TEST_DIR/out")" 1
    expect_has "$OUT" '"group_total":2,"groups":[{"group":"Jürgen & Co: 7","concurrency":1,"rate":null,"pause_until_ms":1'
    expect_has "$OUT" '{"group":"other","concurrency":null,"rate":{"count":0,"period_ms":0,"burst":0},"pause_until_ms":null,'
    expect_status 0 reeve limit g --group 'Jürgen & Co: 7' --forget
    expect_eq "$OUT" "g, group Jürgen & Co: 7: no limits of its own"
    expect_status 0 reeve limit g --group 'Jürgen & Co: 7' --pause-for none
    expect_eq "$OUT" "g, group Jürgen & Co: 7: pause none"
    expect_status 0 reeve limit g --group other --forget --json
    expect_eq "$OUT" '{"queue":"g","of":"group","group":"other","forgotten":true}'
    expect_status 0 reeve limit g --json
    expect_eq "$OUT" "{\"queue\":\"g\",$NO_LIMITS,\"group_total\":0,\"groups\":[]}"
    for group in 1 2 3 4 5; do
        reeve limit g --group "n$group" --concurrency 2 >/dev/null || fail "a limit of n$group"
    done
    expect_status 0 reeve limit g --limit 2 --offset 1
    expect_has "$OUT" "n2"
    expect_has "$OUT" "n3"
    expect_lacks "$OUT" "n4"
    expect_eq "$ERR" "2 of 5 groups (--limit 0 lists all)"
    expect_status 0 reeve limit g --limit 0 --json
    expect_has "$OUT" '"group_total":5'
    expect_has "$OUT" '"n5"'
}

# by_config: what the file says is set, what it does not say stays, -1 takes away.
by_config() {
    reeve limit c --concurrency 3 --rate 7/s >/dev/null
    reeve limit c --each-group --concurrency 9 >/dev/null
    write_conf conf "" 'pools = ( { queues = [ "none" ]; } );' \
        'queues = ( { name = "c"; rate = { count = 100; period = 0.5; burst = 20; };' \
        '             group = { rate = { count = 5; }; }; } );'
    start_worker conf
    wait_for 'reeve limit c --json | grep -q "\"count\":5,"' 30
    expect_status 0 reeve limit c --json
    expect_has "$OUT" '"concurrency":3,"rate":{"count":100,"period_ms":500,"burst":20}'
    expect_has "$OUT" '"each_group":{"concurrency":9,"rate":{"count":5,"period_ms":1000,"burst":5},"strict":false}'
    end "$WORKER_PID"
    write_conf conf "" 'pools = ( { queues = [ "none" ]; } );' \
        'queues = ( { name = "c"; concurrency = -1; rate = { count = -1; }; group = { concurrency = -1; strict = true; }; } );'
    start_worker conf
    wait_for 'reeve limit c --json | grep -q "\"concurrency\":null,\"rate\":null,"' 30
    wait_for 'reeve limit c --json | grep -q "\"each_group\":{\"concurrency\":null,\"rate\":{\"count\":5,.*\"strict\":true"' 30
    end "$WORKER_PID"
}

# types: set and shown by the command line, and set by a configuration.
types() {
    local wanted
    reeve enqueue t slow --id one >/dev/null
    expect_status 0 reeve limit t --type slow --concurrency 2 --rate 5/m
    expect_eq "$OUT" "t, type slow: concurrency 2, rate 5/1m"
    expect_status 0 reeve limit t
    expect_has "$OUT" "type:slow"
    expect_status 0 reeve limit t --json
    expect_has "$OUT" '"groups":[{"group":null,"type":"slow","concurrency":2,"rate":{"count":5,"period_ms":60000,"burst":5},'
    expect_status 0 reeve limit t --type slow --rate none --json
    expect_eq "$OUT" '{"queue":"t","of":"type","group":null,"type":"slow","forgotten":false,"rate":null}'
    wanted='limits = ( { queue = "t"; type = "slow"; concurrency = 3; }, { queue = "t"; type = "big"; rate = { count = 7; period = 2; }; } );'
    write_conf conf "" 'pools = ( { queues = [ "none" ]; } );' "$wanted"
    start_worker conf
    wait_for 'reeve limit t --json | grep -q "\"count\":7,"' 30
    expect_status 0 reeve limit t --json
    expect_has "$OUT" '{"group":null,"type":"big","concurrency":null,"rate":{"count":7,"period_ms":2000,"burst":7},'
    expect_has "$OUT" '{"group":null,"type":"slow","concurrency":3,"rate":{"count":0,'
    end "$WORKER_PID"
    # With the values of Redis in force, only what is missing is written.
    reeve limit t --type big --forget >/dev/null
    reeve limit t --type slow --concurrency 4 >/dev/null
    write_conf conf 'settings_from = "redis";' 'pools = ( { queues = [ "none" ]; } );' "$wanted"
    expect_status 0 "$REEVE_WORKER" -c "$TEST_DIR/conf.conf" --check --diff
    expect_has "$OUT" 'limits["t/slow"].concurrency: 4 -> 3 (stays as it is in Redis: worker.settings_from)'
    expect_has "$OUT" 'limits["t/big"].rate: not set -> 7 in 2000 ms, burst 7'
    start_worker conf
    wait_for 'reeve limit t --json | grep -q "\"count\":7,"' 30
    expect_status 0 reeve limit t --json
    expect_has "$OUT" '{"group":null,"type":"slow","concurrency":4,'
    end "$WORKER_PID"
}

# Limit keys: the same, beside a type.
keys() {
    local wanted
    expect_status 0 reeve enqueue k slow --id one --limit-key gpu --limit-key customer:7
    expect_has "$(reeve show k/one --json)" '"limit_keys":["gpu","customer:7"]'
    expect_status 2 reeve enqueue k slow --limit-key 1 --limit-key 2 --limit-key 3 --limit-key 4 --limit-key 5 --limit-key 6 --limit-key 7 \
        --limit-key 8 --limit-key 9
    expect_has "$ERR" "--limit-key: at most 8"
    expect_status 0 reeve limit k --key gpu --concurrency 2 --rate 5/m
    expect_eq "$OUT" "k, key gpu: concurrency 2, rate 5/1m"
    expect_status 0 reeve limit k
    expect_has "$OUT" "key:gpu"
    expect_status 0 reeve limit k --key gpu --rate none --json
    expect_eq "$OUT" '{"queue":"k","of":"key","group":null,"key":"gpu","forgotten":false,"rate":null}'
    expect_status 2 reeve limit k --key gpu
    expect_has "$ERR" "--key goes with what to change"
    expect_status 2 reeve limit k --key gpu --type t --concurrency 1
    expect_has "$ERR" "give one of them"
    expect_status 2 reeve limit k --key gpu --strict yes
    expect_status 2 reeve limit k --key '' --concurrency 1
    wanted='limits = ( { queue = "k"; key = "gpu"; concurrency = 3; }, { queue = "k"; key = "big one"; rate = { count = 7; }; } );'
    write_conf conf "" 'pools = ( { queues = [ "none" ]; } );' "$wanted"
    expect_status 0 "$REEVE_WORKER" -c "$TEST_DIR/conf.conf" --check --diff
    expect_has "$OUT" 'limits["k/key:gpu"].concurrency: 2 -> 3'
    start_worker conf
    wait_for 'reeve limit k --json | grep -q "\"count\":7,"' 30
    expect_status 0 reeve limit k --json
    expect_has "$OUT" '{"group":null,"key":"big one","concurrency":null,"rate":{"count":7,"period_ms":1000,"burst":7},'
    expect_has "$OUT" '{"group":null,"key":"gpu","concurrency":3,"rate":{"count":0,'
    end "$WORKER_PID"
    expect_status 0 reeve limit k --key gpu --forget
    expect_status 0 reeve edit k/one --limit-key tape
    expect_has "$(reeve show k/one --json)" '"limit_keys":["tape"]'
    expect_status 0 reeve edit k/one --unset limit-key
    expect_has "$(reeve show k/one --json)" '"limit_keys":null'
    for wanted in 'concurrency = 1;' 'type = "t"; key = "k"; concurrency = 1;'; do
        write_conf conf "" 'pools = ( { queues = [ "none" ]; } );' "limits = ( { queue = \"k\"; $wanted } );"
        expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/conf.conf" --check
        expect_has "$ERR" "expected either type or key"
    done
}

# What the file says holds for the first tasks that are leased under it.
from_the_first_task_on() {
    printf '{"type":"sleep","payload":{"ms":600000}}\n%.0s' {1..8} | bulk first || exit 1
    write_conf first "" 'pools = ( { queues = [ "first" ]; threads = 8; batch = 1; } );' \
        'queues = ( { name = "first"; concurrency = 2; } );'
    start_alone first
    wait_for '[ "$(in_queue first running)" -gt 0 ]' 30
    wait_for '[ "$(in_queue first running)" = 2 ]' 30
    expect_eq "$(in_queue first ready)" 6
    expect_eq "$(redis HLEN "reeve:{first}:running:$(redis ZRANGE 'reeve:{first}:sessions' 0 0)")" 5 "leases, and what is said of a session"
    kill -KILL "$WORKER_PID"
}

start_two_workers() {
    write_conf one "" 'pools = ( { queues = [ "w", "x", "y", "z" ]; threads = 3; batch = 4; } );'
    write_conf two "" 'pools = ( { queues = [ "w", "x", "y", "z" ]; threads = 3; batch = 4; } );'
    start_worker one
    start_worker two
    wait_for '[ "$(reeve workers --json | wc -l)" = 2 ]' 30
}

# sleeps MS GROUP...: a line for bulk for each.
sleeps() {
    local ms=$1 group
    shift
    for group in "$@"; do printf '{"type":"sleep","payload":{"ms":%d},"group":"%s"}\n' "$ms" "$group"; done
}

# never_more QUEUE N DONE: until so many have completed, at most N run at once.
never_more() {
    local running most=0
    until is_still "$1" "$3" 0; do
        running=$(in_queue "$1" running)
        [ "${running:-0}" -le "$most" ] || most=$running
        [ "$most" -le "$2" ] || fail "$most tasks of $1 run at once"
    done
    expect_eq "$most" "$2" "tasks of $1 that ran at once"
}

concurrency_of_a_queue() {
    expect_status 0 reeve limit w --concurrency 2
    sleeps 150 a a a a a a a a | bulk w || exit 1
    never_more w 2 8
    # (Changed while they wait, in force at once: the limit goes, and all that wait start.)
    expect_status 0 reeve limit w --concurrency 1
    sleeps 600000 a a a | bulk w || exit 1
    wait_for '[ "$(in_queue w running)" = 1 ]' 30
    expect_eq "$(in_queue w ready)" 2
    expect_status 0 reeve limit w --concurrency none
    wait_for '[ "$(in_queue w running)" = 3 ]' 30
}

# The group at its limit is parked, others pass it.
concurrency_of_groups() {
    expect_status 0 reeve limit x --each-group --concurrency 1
    sleeps 600000 a a a | bulk x || exit 1
    wait_for '[ "$(in_queue x running)" = 1 ]' 30
    sleeps 1 b | bulk x || exit 1
    wait_for '[ "$(in_queue x completed)" = 1 ]' 30
    expect_eq "$(in_queue x running)" 1
    expect_eq "$(in_queue x parked)" 2
    expect_status 0 reeve queues x
    expect_has "$OUT" "PARKED"
    grep -Eq '^x +no +0 +0 +0 +2 +1 +1 ' "$TEST_DIR/out" || fail "no row of x"
    expect_status 0 reeve limit x
    grep -Eq '^a +- +- +1 +2 +-$' "$TEST_DIR/out" || fail "no row of the group"
    expect_status 0 reeve list x --state parked --json
    expect_eq "$(wc -l <"$TEST_DIR/out")" 2
    expect_status 0 reeve show "$(member handle "$OUT" | tr -d '"')"
    expect_has "$OUT" "state:    parked"
    expect_has "$OUT" "see: reeve limit x"
    # A parked task waits: it can be cancelled, by hand and by a filter.
    expect_status 0 reeve cancel x --state parked --type sleep
    expect_eq "$OUT" "cancelled 2 of 2"
    sleeps 1 a | bulk x || exit 1
    wait_for '[ "$(in_queue x parked)" = 1 ]' 30
    expect_status 0 reeve limit x --group a --concurrency none
    wait_for '[ "$(in_queue x completed)" = 2 ]' 30
}

rate_of_a_queue() {
    local began took
    expect_status 0 reeve limit y --rate 10/1s:1
    began=$(date +%s%N)
    sleeps 0 a b a b a b a b a b a | bulk y || exit 1
    wait_for 'is_still y 11 0' 60
    took=$((($(date +%s%N) - began) / 1000000))
    [ "$took" -ge 950 ] || fail "11 tasks at ten a second took $took ms"
}

holding() {
    local began took
    expect_status 0 reeve limit z --pause-for 1h
    expect_status 0 reeve enqueue z noop --id one --group g
    expect_status 0 reeve limit z
    expect_has "$OUT" "pause:                    until "
    sleep 0.2 # (nothing may come of it: there is no event to wait for)
    expect_eq "$(of_task z/one state)" '"ready"'
    expect_status 0 reeve limit z --pause-for none
    expect_eq "$OUT" "z: pause none"
    expect_status 0 reeve wait z/one --timeout 30
    # It ends by itself.
    expect_status 0 reeve limit z --group g --pause-for 2
    began=$(date +%s%N)
    expect_status 0 reeve enqueue z noop --id two --group g --wait=30
    took=$((($(date +%s%N) - began) / 1000000))
    [ "$took" -ge 500 ] || fail "a held task ran after $took ms"
}

usage
start_redis
setting_and_showing
groups
by_config
types
keys
from_the_first_task_on
start_two_workers
concurrency_of_a_queue
concurrency_of_groups
rate_of_a_queue
holding

# st_scheduled.sh - tasks run when they are due and in the order that was asked for; people step in: cancel, delete, retry,
# pause.
. "$(dirname "$0")/lib.sh"

# The most that a task may be late on a busy machine. (The safety net, which looks once a session, is far wider.)
LATE_MS=5000

# ends_after HANDLE LEAST_MS: it ends well, so long after it was enqueued and not much later.
ends_after() {
    local handle=$1 least=$2 took
    expect_status 0 reeve wait "$handle" --timeout 30 --json
    took=$(($(member ended_ms "$OUT") - $(member enqueued_ms "$OUT")))
    [ $took -ge "$least" ] && [ $took -lt $((least + LATE_MS)) ] || fail "$handle ended after $took ms, not $least"
}

# ids_by_end QUEUE: the completed tasks in the order in which they ended.
ids_by_end() { reeve list "$1" --state completed --limit 0 --json | sed 's/.*"id":"\([^"]*\)".*/\1/' | tac | paste -sd' '; }

due() {
    # (The later one first: the worker sleeps until then when it hears of the earlier.)
    expect_status 0 reeve enqueue q noop --id far --in 1h
    expect_status 0 reeve enqueue q noop --id in --in 4
    at=$(($(date +%s%3N) + 6000))
    expect_status 0 reeve enqueue q noop --id at --at "$(date -u -d "@$((at / 1000)).$(printf %03d $((at % 1000)))" +%FT%T.%3NZ)"
    expect_status 0 reeve enqueue q noop --id past --at 2020-01-01T00:00:00Z
    expect_eq "$(of_task q/in state)" '"scheduled"'
    ends_after q/past 0
    ends_after q/in 4000
    expect_status 0 reeve wait q/at --timeout 30 --json
    late=$(($(member ended_ms "$OUT") - at))
    [ $late -ge 0 ] && [ $late -lt $LATE_MS ] || fail "--at: $late ms late"
    expect_eq "$(of_task q/far state)" '"scheduled"'
    # Many at the same time all become ready.
    for ((i = 0; i < 1000; i++)); do echo '{"type":"noop","in":6}'; done | bulk q || exit 1
    expect_eq "$(in_queue q scheduled)" 1001
    wait_for '[ "$(in_queue q completed)" = 1003 ]' 20
    expect_status 0 reeve delete q/far
}

# Half a second, then a second, without jitter.
backoff() {
    expect_status 0 reeve enqueue q fail '{"kind":"k","message":"m","times":2}' --id third
    wait_for '[ "$(of_task q/third state)" = "\"scheduled\"" ]' 20
    expect_eq "$(of_task q/third error_kind)" '"k"'
    ends_after q/third 1500
    expect_eq "$(of_task q/third failures)" 2
    expect_status 0 reeve enqueue q fail '{"kind":"k2","message":"words"}' --id never --attempts 2
    expect_status 5 reeve wait q/never --timeout 30 --json
    expect_eq "$(member failures "$OUT")" 2
    expect_has "$ERR" "q/never is dead: k2: words"
    took=$(($(member ended_ms "$OUT") - $(member enqueued_ms "$OUT")))
    [ $took -ge 500 ] && [ $took -lt $((500 + LATE_MS)) ] || fail "dead after $took ms, not 500"
}

# What the configuration says of a queue, for a type of which nobody says anything; what the task says comes first.
queues_policy() {
    expect_status 0 reeve enqueue policy absent --id its
    expect_status 5 reeve wait policy/its --timeout 30 --json
    expect_eq "$(member failures "$OUT")" 3
    took=$(($(member ended_ms "$OUT") - $(member enqueued_ms "$OUT")))
    [ $took -ge 900 ] && [ $took -lt $((900 + LATE_MS)) ] || fail "dead after $took ms, not 300 and 600"
    expect_status 0 reeve enqueue policy absent --id own --backoff fixed:1h~0 --attempts 9
    wait_for '[ "$(of_task policy/own state)" = "\"scheduled\"" ]' 20
    expect_status 0 reeve show policy/own --json
    expect_eq $(($(member due_ms "$OUT") - $(member failed_ms "$OUT"))) 3600000
}

# (One thread that takes one task at a time; each sleeps so long that no two end in the same millisecond.)
priorities() {
    local id
    reeve pause order >/dev/null
    for id in 0a 5a -1a 127a 0b -128a 5b -1b 0c -128b 127b 5c; do
        echo "{\"id\":\"$id\",\"type\":\"sleep\",\"payload\":{\"ms\":3},\"priority\":${id%?}}"
    done | bulk order || exit 1
    reeve list order --json >"$TEST_DIR/list"
    reeve resume order >/dev/null
    wait_for 'is_still order 12 0' 20
    expect_eq "$(ids_by_end order)" "-128a -128b -1a -1b 0a 0b 0c 5a 5b 5c 127a 127b"
    expect_eq "$(sed 's/.*"id":"\([^"]*\)".*/\1/' "$TEST_DIR/list" | paste -sd' ')" "$(ids_by_end order)" "the list before"
}

# Groups take turns: one with many tasks does not hold up another's first.
groups() {
    local id
    reeve pause turns >/dev/null
    for id in a1 a2 a3 a4 b1 b2 c1; do
        echo "{\"id\":\"$id\",\"type\":\"sleep\",\"payload\":{\"ms\":3},\"group\":\"${id%?}\"}"
    done | bulk turns || exit 1
    reeve resume turns >/dev/null
    wait_for 'is_still turns 7 0' 20
    expect_eq "$(ids_by_end turns)" "a1 b1 c1 a2 b2 a3 a4"
}

paused() {
    expect_status 0 reeve pause held
    expect_status 0 reeve enqueue held noop --id now
    expect_status 0 reeve enqueue held noop --id later --in 0.3
    wait_for '[ "$(in_queue held ready)" = 2 ]' 20
    sleep 0.5
    expect_eq "$(in_queue held ready)" 2 "tasks that are ready in a paused queue"
    # The worker serves other queues meanwhile.
    expect_status 0 reeve enqueue q noop --wait=20
    expect_eq "$(in_queue held ready)" 2
    expect_status 0 reeve resume held
    wait_for 'is_still held 2 0' 20
}

steered() {
    reeve pause held >/dev/null
    for i in 1 2 3; do echo "{\"id\":\"w$i\",\"type\":\"noop\"}"; done | bulk held || exit 1
    expect_status 0 reeve enqueue held noop --id s1 --in 1h
    expect_status 0 reeve enqueue held noop --id s2 --in 1h
    expect_status 0 reeve cancel held/w1 held/s1
    expect_status 0 reeve delete held/w2 held/s2
    expect_eq "$(of_task held/w1 state) $(of_task held/s1 state)" '"cancelled" "cancelled"'
    expect_status 1 reeve show held/w2
    expect_status 1 reeve cancel held/w1
    expect_has "$ERR" cancelled
    reeve resume held >/dev/null
    wait_for '[ "$(of_task held/w3 state)" = "\"completed\"" ]' 20
    expect_status 1 reeve retry held/w3
    expect_has "$ERR" completed
    expect_eq "$(of_task held/w1 state) $(of_task held/s1 state)" '"cancelled" "cancelled"'
    # Again after all, also what is scheduled or dead.
    expect_status 0 reeve retry held/w1 held/s1
    expect_status 0 reeve wait held/w1 --timeout 20
    expect_status 0 reeve wait held/s1 --timeout 20
    expect_status 0 reeve enqueue held noop --id s3 --in 1h
    expect_status 0 reeve retry held/s3
    expect_status 0 reeve wait held/s3 --timeout 20
    expect_status 5 reeve enqueue held fail '{"times":2}' --id dead --attempts 2 --wait=20
    expect_status 0 reeve retry held/dead
    # (Its failures are forgotten, so that it fails twice more.)
    expect_status 5 reeve wait held/dead --timeout 20 --json
    expect_eq "$(member failures "$OUT")" 2
    expect_status 0 reeve delete held/dead
    expect_eq "$(in_queue held dead)" 0
}

start_redis
write_conf plain 'session = 30;' \
    'pools = ( { queues = [ "q", "held", "policy" ]; threads = 2; }, { queues = [ "order", "turns" ]; threads = 1; batch = 1; } );' \
    'handlers = ( { type = "fail"; backoff = { base = 0.5; jitter = 0; }; } );' \
    'queues = ( { name = "policy"; attempts = 3; backoff = { shape = "list"; list = [ 0.3, 0.6 ]; jitter = 0; }; } );'
start_worker plain
wait_for '[ "$(redis HEXISTS "reeve:{policy}:settings" policy)" = 1 ]' 20
due
backoff
queues_policy
priorities
groups
paused
steered
end "$WORKER_PID"
expect_eq "$ENDED" 0 "the worker's exit status"

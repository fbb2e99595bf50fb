#!/usr/bin/env bash
# st_reload.sh - reeve-worker reads its configuration again: what changes while it runs, what is rejected, what takes effect at the
# next start; under load, without Redis, and supervised.
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # (lib.sh looks at it: a task crashes)
SANITIZER_EXPECTED=1

# conf SESSION POOLS [LINE...]: writes w.conf.
conf() {
    local session=$1 pools=$2
    shift 2
    write_conf w "session = $session; log = { level = \"info\"; };" "pools = ( $pools );" "$@"
}
reload() { run reeve signal w reload --wait 20s; }
pools() { reeve workers --pools | sed 1d | awk '{ print $2, $3, $7, $8, $9, $10 }' | sed 's/[ -]*$//' | sort; }
state_of() { member state "$(reeve show "$1" --json 2>/dev/null)" | tr -d '"'; }

start_redis
conf 5 '{ name = "p"; queues = [ "a" ]; threads = 2; batch = 1; }, { queues = [ "b" ]; threads = 1; }' \
    'queues = ( { name = "a"; concurrency = 9; rate = { count = 1000; }; } );' \
    'cron = ( { name = "n"; spec = "@hourly"; queue = "a"; type = "noop"; } );'
start_worker w
wait_for '[ -n "$(pools)" ]' 20
reload
expect_eq "$STATUS $(sed 's/^[^:]*: //' "$TEST_DIR/out")" "0 nothing has changed in the file"

# ---- what changes ---------------------------------------------------------------------------------------------------------

# shellcheck disable=SC2034 # (conditions read it)
long=$(reeve enqueue b sleep '{"ms":1500}')
wait_for '[ "$(state_of "$long")" = running ]' 20
conf 6 '{ name = "p"; queues = [ "a", "c" ]; threads = 3; order = "weighted"; weights = [ 5, 1 ]; },
        { name = "new"; queues = [ "d" ]; threads = 1; }' \
    'queues = ( { name = "a"; concurrency = 4; } );' \
    'cron = ( { name = "n"; spec = "@daily"; queue = "a"; type = "noop"; } );'
reload
expect_eq "$STATUS" 0 "$OUT$ERR"
expect_has "$OUT" 'worker.session: 5 -> 6 (takes effect at the next start)'
expect_has "$OUT" 'pools.p.threads: 2 -> 3'
expect_has "$OUT" 'pools.p.order: "strict" -> "weighted"'
expect_has "$OUT" 'queues.a.concurrency: 9 -> 4'
expect_has "$OUT" 'queues.a.rate: { count = 1000; period = 1; } -> not set (what Redis has stays in force)'
expect_has "$OUT" 'cron.n.spec: "@hourly" -> "@daily"'
expect_lacks "$OUT" 'batch_time'
expect_has "$(grep 'setting=pools.pool-2 ' "$TEST_DIR/w.log")" 'from="{ queues = [ \"b\" ]; threads = 1; batch = 128; order = \"strict\"; isolation = \"thread\"; '
expect_has "$(grep 'setting=pools.pool-2 ' "$TEST_DIR/w.log")" '" to=absent'
wait_for '[ "$(pools)" = "new 1 strict d
p 3 weighted a c" ]' 20
expect_eq "$(redis HGET 'reeve:{a}:settings' concurrency)" 4
expect_has "$(redis HGET 'reeve:{a}:cron' n)" '@daily'
expect_eq "$(logged w program.conflict)" 0 "a reload is no conflict"
wait_for '[ "$(state_of "$long")" = completed ]' 20
for queue in a c d; do expect_status 0 reeve enqueue --wait "$queue" noop; done
# Once more: only what is left for the next start.
reload
expect_eq "$STATUS $(sed 's/^[^:]*: //' "$TEST_DIR/out")" "0 worker.session: 5 -> 6 (takes effect at the next start)"

# ---- what was set by hand -------------------------------------------------------------------------------------------------

reeve limit a --concurrency 7 >/dev/null || fail "not limited"
reeve threads w p 5 >/dev/null || fail "no threads"
reload
expect_eq "$(redis HGET 'reeve:{a}:settings' concurrency)" 4
expect_has "$(grep program.setting "$TEST_DIR/w.log" | tail -n 1)" "from=7 to=4"
expect_has "$(pools)" "p 5"

# ---- what is rejected -----------------------------------------------------------------------------------------------------

cp "$TEST_DIR/w.conf" "$TEST_DIR/good"
conf 5 '{ name = "p"; queues = [ "a" ]; threads = 0; }, { name = "q"; queues = [ "e" ]; thread = 2; }'
reload
expect_eq "$STATUS" 1
expect_has "$OUT" "refused: the present configuration stays in force"
expect_has "$OUT" "w.conf:3: pools[0].threads: expected a whole number from 1 to 1024, got 0"
expect_has "$OUT" 'pools[1].thread: unknown setting; did you mean "threads"?'
expect_eq "$(logged w program.reload_rejected)" 3
printf 'pools = ( {\n' >"$TEST_DIR/w.conf"
kill -HUP "$WORKER_PID"
wait_for '[ "$(logged w program.reload_rejected)" = 5 ]' 20
rm "$TEST_DIR/w.conf"
reload
expect_eq "$STATUS" 1
expect_has "$OUT" "No such file"
expect_eq "$(pools)" "new 1 strict d
p 5 weighted a c"
cp "$TEST_DIR/good" "$TEST_DIR/w.conf"

# ---- under load -----------------------------------------------------------------------------------------------------------

# Each round another number of threads and another list of queues; each task runs once.
(for i in $(seq 600); do echo "{\"queue\":\"$([ $((i % 2)) = 0 ] && echo a || echo c)\",\"type\":\"sleep\",\"payload\":{\"ms\":$((i % 7))}}"; done) >"$TEST_DIR/tasks"
conf 5 '{ name = "p"; queues = [ "a", "c" ]; threads = 3; }'
reload
reeve enqueue --bulk <"$TEST_DIR/tasks" >"$TEST_DIR/handles" || fail "not enqueued"
for round in $(seq 12); do
    case $((round % 3)) in
    0) conf 5 '{ name = "p"; queues = [ "a", "c" ]; threads = 4; }' ;;
    1) conf 5 '{ name = "p"; queues = [ "c" ]; }, { name = "r"; queues = [ "a", "c" ]; threads = 2; batch = 4; order = "round-robin"; }' ;;
    2) conf 5 '{ name = "r"; queues = [ "c", "a" ]; threads = 6; }' ;;
    esac
    reload
    expect_eq "$STATUS" 0 "$OUT$ERR"
done
wait_for 'is_still a 301 0' 30
wait_for 'is_still c 301 0' 30

# ---- the log, and without Redis -------------------------------------------------------------------------------------------

sed -i 's/level = "info";/level = "debug"; format = "json";/' "$TEST_DIR/w.conf"
reload
wait_for 'grep -q "\"event\":\"program.reloaded\"" "$TEST_DIR/w.log"' 20
stop_redis
sed -i 's/format = "json"; //; s/threads = 4/threads = 5/' "$TEST_DIR/w.conf"
echo 'queues = ( { name = "a"; concurrency = 3; } );' >>"$TEST_DIR/w.conf"
# shellcheck disable=SC2034
before=$(logged w program.reloaded)
kill -HUP "$WORKER_PID"
wait_for '[ "$(logged w program.reloaded)" -gt "$before" ]' 20
start_redis
wait_for '[ "$(redis HGET "reeve:{a}:settings" concurrency)" = 3 ]' 60
end "$WORKER_PID"
expect_eq "$ENDED" 0

# ---- supervised: what was reloaded stays in force after a crash -----------------------------------------------------------

conf 5 '{ name = "p"; queues = [ "a" ]; threads = 1; }'
start_worker w --supervise
wait_for '[ "$(pools)" = "p 1 strict a" ]' 20
conf 5 '{ name = "p"; queues = [ "a", "x" ]; threads = 2; }'
kill -HUP "$WORKER_PID"
wait_for '[ "$(pools)" = "p 2 strict a x" ]' 20
reeve enqueue a crash --attempts 1 --max-crashes 1 >/dev/null
wait_for '[ "$(logged w worker.crashed)" -ge 1 ]' 30
expect_status 0 reeve enqueue --wait x noop
wait_for '[ "$(pools)" = "p 2 strict a x" ]' 30
end "$WORKER_PID"
expect_eq "$ENDED" 0

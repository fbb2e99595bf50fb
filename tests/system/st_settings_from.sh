#!/usr/bin/env bash
# st_settings_from.sh - who wins when Redis has other settings than the file (worker.settings_from), and `--check --diff`, which
# tells beforehand.
. "$(dirname "$0")/lib.sh"

QUEUES='queues = ( { name = "q"; concurrency = 4; attempts = 3; group = { concurrency = 2; }; rate = { count = 10; }; keep = { completed = { age = 60; }; }; },
                   { name = "other"; on_dead = "mourn"; } );
cron = ( { name = "n"; spec = "@hourly"; queue = "q"; type = "noop"; }, { name = "m"; spec = "@daily"; queue = "q"; type = "noop"; } );'
# conf WHO [THREADS]
conf() {
    write_conf w "session = 2; log = { level = \"debug\"; }; settings_from = \"$1\";" \
        "pools = ( { name = \"p\"; queues = [ \"q\" ]; threads = ${2:-1}; } );" "$QUEUES"
}
diff_lines() {
    expect_status 0 "$REEVE_WORKER" -c "$TEST_DIR/w.conf" --check --diff
    printf '%s\n' "$OUT" | sed 1d
}
setting() { redis HGET 'reeve:{q}:settings' "$1"; }

conf file
expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/w.conf" --diff
expect_has "$ERR" "--diff goes with --check"
expect_status 3 "$REEVE_WORKER" -c "$TEST_DIR/w.conf" --check --diff --redis unix:///nowhere/redis.sock
start_redis

# ---- nothing there yet ----------------------------------------------------------------------------------------------------

expect_eq "$(diff_lines)" 'queues.q.attempts: not set -> 3
queues.q.concurrency: not set -> 4
queues.q.rate: not set -> { count = 10; period = 1; }
queues.q.group.concurrency: not set -> 2
queues.q.keep.completed.age: not set -> 60
queues.q.keep.completed.count: not set -> 10000
queues.other.on_dead: not set -> "mourn"
cron.n: absent -> @hourly
cron.m: absent -> @daily'
expect_eq "$(redis KEYS '*settings*')" "" "nothing was written"
expect_status 0 "$REEVE_WORKER" -c "$TEST_DIR/w.conf" --check --diff
expect_has "$ERR" '--diff: no live worker has the name "w": pools and plugins were not compared'

# ---- Redis wins -----------------------------------------------------------------------------------------------------------

reeve limit q --concurrency 9 >/dev/null || fail "not limited"
reeve settings q --timeout 20s --attempts 7 --keep-completed 5m:77 >/dev/null || fail "not set"
reeve cron add n "@monthly" q noop >/dev/null || fail "no entry"
conf redis 2
expect_has "$(diff_lines)" 'queues.q.concurrency: 9 -> 4 (stays as it is in Redis: worker.settings_from)'
expect_has "$(diff_lines)" 'queues.q.rate: not set -> { count = 10; period = 1; }'
expect_has "$(diff_lines)" 'cron.n.spec: @monthly -> @hourly (stays as it is in Redis: worker.settings_from)'
expect_has "$(diff_lines)" 'cron.m: absent -> @daily'
start_worker w
wait_for '[ "$(logged w program.settings)" = 1 ] && [ "$(logged w program.cron)" = 1 ]' 30
wait_for '[ -n "$(reeve workers --json)" ]' 30
expect_status 0 "$REEVE_WORKER" -c "$TEST_DIR/w.conf" --check --diff
expect_lacks "$ERR" "no live worker"
expect_eq "$(setting concurrency) $(setting completed_age) $(setting group_concurrency)" "9 300000 2"
expect_has "$(reeve settings q)" "20s"
expect_has "$(redis HGET 'reeve:{q}:cron' n)" '@monthly'
expect_has "$(redis HGET 'reeve:{q}:cron' m)" '@daily'
expect_has "$(grep program.setting_kept "$TEST_DIR/w.log")" 'queue=q setting=queues.q.concurrency in_force=9 in_file=4'
expect_eq "$(logged w program.cron_kept)" 1
expect_eq "$(logged w program.conflict)" 0

# A policy of which Redis has a part: the other part is added.
QUEUES='queues = ( { name = "q"; attempts = 3; max_crashes = 2; } );'
conf redis
run reeve signal w reload
expect_eq "$STATUS" 0 "$OUT$ERR"
wait_for '[ "$(logged w program.settings)" = 2 ]' 30
expect_has "$(setting policy)" '"attempts":7'
expect_has "$(setting policy)" '"crashes":2'
expect_has "$(setting policy)" '"timeout":20000'

# ---- the file wins ----------------------------------------------------------------------------------------------------------

conf file 3
expect_has "$(diff_lines)" 'queues.q.attempts: 7 -> 3'
expect_has "$(diff_lines)" 'queues.q.timeout: 20 -> not set'
expect_has "$(diff_lines)" ': pools.p.threads: 1 -> 3'
# Of a pool that goes, the worker has reported its queues and threads, and no other settings.
sed 's/name = "p"/name = "other"/' "$TEST_DIR/w.conf" >"$TEST_DIR/renamed.conf"
expect_status 0 "$REEVE_WORKER" -c "$TEST_DIR/renamed.conf" --check --diff
expect_has "$OUT" ': pools.p: { queues = [ "q" ]; threads = 1; } -> absent'
expect_has "$OUT" ': pools.other: absent -> { name = "other"; queues = [ "q" ]; threads = 3;'
run reeve signal w reload
expect_has "$OUT" 'worker.settings_from: "redis" -> "file"'
wait_for '[ "$(logged w program.settings)" = 3 ]' 30
expect_lacks "$(setting policy)" timeout
expect_has "$(setting policy)" '"attempts":3'
wait_for '[ "$(diff_lines)" = "no differences" ]' 20
# No limit in the file, and none in Redis: no difference.
QUEUES='queues = ( { name = "q"; payload_max = -1; record_runs = false; rate = { count = -1; }; concurrency = -1; } );'
reeve limit q --concurrency none --rate none >/dev/null
conf file 3
expect_eq "$(diff_lines | grep -v policy)" 'queues.q.attempts: 3 -> not set
queues.q.max_crashes: 2 -> not set'

# ---- entries of layers that make another task each time -------------------------------------------------------------------

# A worker that starts again, or reads its file again, finds its entries unchanged, whoever wins.
if [ -e "$PLUGIN_DIR/spans.so" ]; then
    end "$WORKER_PID"
    traced() { redis HGET 'reeve:{q}:cron' traced; }
    traced_conf() {
        cat >"$TEST_DIR/t.conf" <<END
worker = { name = "t"; session = 2; settings_from = "$1"; };
plugin_dir = "$PLUGIN_DIR"; plugins = ( { name = "spans"; options = { file = "$TEST_DIR/spans"; }; }, "sample" );
pools = ( { name = "p"; queues = [ "q" ]; threads = 1; } );
cron = ( { name = "traced"; spec = "@hourly"; queue = "q"; type = "noop"; runs = 9; }${2:-} );
END
    }
    traced_conf file
    start_worker t
    wait_for '[ -n "$(traced)" ]' 30
    redis HSET 'reeve:{q}:cron:runs' traced 3 >/dev/null
    FIRST=$(traced)
    expect_has "$FIRST" '"layered":"'
    run reeve signal t reload
    wait_for '[ "$(traced)" != "$FIRST" ]' 30
    end "$WORKER_PID"
    # The entry behind it shows when it was compared.
    traced_conf redis ', { name = "behind"; spec = "@hourly"; queue = "q"; type = "noop"; }'
    start_worker t
    wait_for '[ -n "$(redis HGET "reeve:{q}:cron" behind)" ]' 30
    wait_for '[ "$(logged t program.cron)" = 2 ]' 30
    expect_eq "$(redis HGET 'reeve:{q}:cron:runs' traced)" 3
    expect_eq "$(logged t program.cron_kept)" 0
    expect_status 0 "$REEVE_WORKER" -c "$TEST_DIR/t.conf" --check --diff
    expect_lacks "$OUT" cron.traced
else
    fail "there is no plugin spans"
fi

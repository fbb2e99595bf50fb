# st_metrics.sh - the sections `metrics` and `web` of a worker's configuration: what the worker serves, in both formats, while Redis
# goes away and comes back; addresses that cannot be served, and a build without an HTTP server.
. "$(dirname "$0")/lib.sh"

"$REEVE" web --help >/dev/null 2>&1 || exit 77 # (built without REEVE_WEB)

# address NAME SECTION: where the worker of that log serves a section.
address() { sed -n "s|.* event=program.http message=serving section=$2 url=\(http://\)\{0,1\}\([^ /]*\).*|\2|p" "$TEST_DIR/$1.log" | tail -n 1; }

# config NAME LINE...: a configuration with a pool, and these lines.
config() {
    local name=$1
    shift
    printf '%s\n' "plugin_dir = \"$PLUGIN_DIR\"; plugins = [ \"sample\" ];" 'worker = { session = 1; };' \
        'pools = ( { name = "main"; queues = [ "mail" ]; threads = 3; } );' "$@" >"$TEST_DIR/$name.conf"
}

# scrape [CURL ARGUMENT...]: the metrics are in $TEST_DIR/metrics.
scrape() { curl -sS -m 10 "$@" "$METRICS/metrics" >"$TEST_DIR/metrics" || fail "no metrics"; }
has() { grep -qxF "$1" "$TEST_DIR/metrics"; }
expect_metric() { has "$1" || fail "no metric $1 in: $(grep -v '^#' "$TEST_DIR/metrics")"; }

start_redis
config one 'web = { listen = "127.0.0.1:0"; read_only = true; };' 'metrics = { listen = "127.0.0.1:0"; };'
start_worker one
wait_for '[ -n "$(address one metrics)" ]' 10
METRICS=http://$(address one metrics) WEB=http://$(address one web)

# ---- what is served ----------------------------------------------------------------------------------------------------

"$REEVE" enqueue mail echo hello --wait >/dev/null || fail "the task did not end"
"$REEVE" enqueue mail fail '{"times":9,"kind":"smtp"}' --attempts 1 --wait >/dev/null
wait_for 'scrape && has "reeve_tasks_total{queue=\"mail\",type=\"fail\",outcome=\"dead\"} 1"' 10
expect_metric 'reeve_tasks_total{queue="mail",type="echo",outcome="completed"} 1'
expect_metric 'reeve_task_run_seconds_count{queue="mail",type="echo"} 1'
expect_metric 'reeve_worker_threads{pool="main"} 3'
expect_metric 'reeve_up 1'
for name in reeve_worker_busy reeve_running_longest_seconds reeve_leases_lost_total reeve_sessions_lost_total \
    reeve_redis_roundtrip_seconds reeve_redis_reconnects_total reeve_redis_errors_total reeve_maintenance_late_seconds \
    reeve_build_info process_cpu_seconds_total process_resident_memory_bytes; do
    grep -q "^$name[ {]" "$TEST_DIR/metrics" || fail "no metric $name"
done
! grep -q reeve_due_late_seconds "$TEST_DIR/metrics" || fail "the name of a metric of reeve web"
# The buckets of a histogram: cumulative, and these.
sed -n 's/^reeve_task_wait_seconds_bucket{queue="mail",type="echo",le="\(.*\)"} .*/\1/p' "$TEST_DIR/metrics" | tr '\n' ' ' >"$TEST_DIR/bounds"
expect_eq "$(cat "$TEST_DIR/bounds")" '0.001 0.005 0.025 0.1 0.25 1 5 15 60 300 1800 7200 +Inf '
# Each family has its help and type once, before its samples.
awk '/^# TYPE / { if ($3 in seen) exit 1; seen[$3] = 1 }' "$TEST_DIR/metrics" || fail "a family comes twice"

scrape -H 'Accept: application/openmetrics-text; version=1.0.0' -D "$TEST_DIR/head"
expect_eq "$(tail -n 1 "$TEST_DIR/metrics")" '# EOF'
grep -qi '^content-type: application/openmetrics-text; version=1.0.0' "$TEST_DIR/head" || fail "the type: $(cat "$TEST_DIR/head")"
expect_metric '# TYPE reeve_tasks counter'

expect_eq "$(curl -sS "$METRICS/healthz")" '{"live":true}'
expect_eq "$(curl -sS "$METRICS/readyz")" '{"ready":true,"leases":true,"connected":true,"refused":false}'
expect_eq "$(curl -sS -o /dev/null -w '%{http_code}' -X POST "$METRICS/metrics")" 405
expect_eq "$(curl -sS -o /dev/null -w '%{http_code}' "$METRICS/nothing")" 404

expect_has "$(curl -sS "$WEB/api/v1/queues/mail")" '"queue":"mail"'
expect_eq "$(curl -sS -o /dev/null -w '%{http_code}' -X POST "$WEB/api/v1/queues/mail/pause")" 403 # (read-only)
expect_eq "$(curl -sS -o /dev/null -w '%{http_code}' "$WEB/")" 200

# ---- trouble -----------------------------------------------------------------------------------------------------------

kill -TSTP "$WORKER_PID"
wait_for 'curl -sS "$METRICS/readyz" | grep -q "\"leases\":false"' 10
expect_eq "$(curl -sS -o /dev/null -w '%{http_code}' "$METRICS/readyz")" 503
kill -CONT "$WORKER_PID"
wait_for 'curl -sS "$METRICS/readyz" | grep -q "\"ready\":true"' 10
freeze "$REDIS_PID" # (what follows is served without Redis)
scrape
expect_metric 'reeve_tasks_total{queue="mail",type="echo",outcome="completed"} 1'
expect_eq "$(curl -sS "$METRICS/healthz")" '{"live":true}'
kill -CONT "$REDIS_PID"
redis CLIENT KILL TYPE normal >/dev/null
wait_for 'scrape && ! has "reeve_redis_reconnects_total 0"' 20
wait_for 'curl -sS "$METRICS/readyz" | grep -q "\"ready\":true"' 20

# Another worker finds the address in use: it says so, and runs.
config two "metrics = { listen = \"$(address one metrics)\"; };" 'web = { listen = "0.0.0.0:0"; };'
ONE=$WORKER_PID
start_worker two
wait_for '[ "$(logged two program.http)" = 2 ]' 10
grep -q 'section=metrics .*in use' "$TEST_DIR/two.log" || fail "it does not say that the address is in use"
grep -q 'section=web .*without authentication' "$TEST_DIR/two.log" || fail "it serves others without authentication"
wait_for '"$REEVE" workers --json | grep -q "\"pid\":$(worker_child "$WORKER_PID")"' 10
end "$WORKER_PID"
expect_eq "$ENDED" 0
end "$ONE"
expect_eq "$ENDED" 0

# ---- the file ----------------------------------------------------------------------------------------------------------

config bad 'web = { listen = "here"; prefix = "/a/"; user_role = "king"; };' 'metrics = { listen = "127.0.0.1:99999"; };'
expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf" --check
for name in web.listen web.prefix web.user_role metrics.listen; do expect_has "$ERR" "$name"; done
exit 0

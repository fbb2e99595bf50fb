# st_alerts.sh - what packaging/ has for Prometheus and Grafana: promtool takes the rules, and the metrics of a worker and of the
# dashboard; each alert comes when it should, and has a section in docs/runbook.md; rules and board name only metrics that exist.
. "$(dirname "$0")/lib.sh"

"$REEVE" web --help >/dev/null 2>&1 || exit 77 # (built without REEVE_WEB)
PROMTOOL=$(command -v promtool || echo "$REEVE_BUILD/tools/promtool")
[ -x "$PROMTOOL" ] || { echo "no promtool: scripts/check fetches it" >&2; exit 77; }
RULES=$REEVE_SOURCE/packaging/prometheus/reeve.rules.yml
BOARD=$REEVE_SOURCE/packaging/grafana/reeve.json

expect_status 0 "$PROMTOOL" check rules "$RULES"
sed "s,RULES,$RULES," "$REEVE_SOURCE/tests/system/alerts_test.yml" >"$TEST_DIR/alerts_test.yml"
expect_status 0 "$PROMTOOL" test rules "$TEST_DIR/alerts_test.yml"

sed -n 's/^ *- alert: //p' "$RULES" >"$TEST_DIR/alerts"
expect_eq "$(wc -l <"$TEST_DIR/alerts")" 8
while read -r alert; do
    grep -qx "## $alert" "$REEVE_SOURCE/docs/runbook.md" || fail "docs/runbook.md has no section for $alert"
    grep -q "runbook: \"docs/runbook.md#$(printf '%s' "$alert" | tr '[:upper:]' '[:lower:]')\"" "$RULES" || fail "$alert does not name its section"
done <"$TEST_DIR/alerts"
expect_eq "$(grep -c '^## ' "$REEVE_SOURCE/docs/runbook.md")" 8

# ---- the metrics -------------------------------------------------------------------------------------------------------

start_redis
printf '%s\n' "plugin_dir = \"$PLUGIN_DIR\"; plugins = [ \"sample\" ];" 'pools = ( { name = "main"; queues = [ "mail" ]; } );' \
    'web = { listen = "127.0.0.1:0"; };' 'metrics = { listen = "127.0.0.1:0"; };' >"$TEST_DIR/worker.conf"
start_worker worker
wait_for '[ "$(logged worker program.http)" = 2 ]' 10
url() { sed -n "s|.* section=$1 url=\(http://\)\{0,1\}\([^ /]*\).*|http://\2|p" "$TEST_DIR/worker.log"; }
"$REEVE" enqueue mail echo hello --wait >/dev/null || fail "the task did not end"
curl -sS "$(url metrics)/metrics" >"$TEST_DIR/own" || fail "no metrics of the worker"
shown() { curl -sS "$(url web)/metrics" >"$TEST_DIR/shown" && grep -q reeve_queue_tasks "$TEST_DIR/shown"; }
wait_for shown 10
for metrics in own shown; do
    "$PROMTOOL" check metrics <"$TEST_DIR/$metrics" >"$TEST_DIR/out" 2>&1 || fail "promtool does not take the metrics: $metrics"
done

lua=$(lua)
"$lua" - "$BOARD" <<'LUA' >"$TEST_DIR/board" || fail "the board"
local text = io.open(arg[1]):read('*a')
for expr in text:gmatch('"expr": "(.-[^\\])"') do print(expr) end
LUA
[ "$(wc -l <"$TEST_DIR/board")" -gt 15 ] || fail "the board has only $(wc -l <"$TEST_DIR/board") queries"
cat "$TEST_DIR/own" "$TEST_DIR/shown" | sed -n 's/^\([a-z_]*\)[{ ].*/\1/p' | sort -u >"$TEST_DIR/exist"
grep -hoE '(reeve|process)_[a-z_]+' "$TEST_DIR/board" <(grep 'expr:' "$RULES") | sort -u >"$TEST_DIR/named"
comm -23 "$TEST_DIR/named" "$TEST_DIR/exist" >"$TEST_DIR/missing"
[ ! -s "$TEST_DIR/missing" ] || fail "there are no such metrics: $(tr '\n' ' ' <"$TEST_DIR/missing")"
exit 0

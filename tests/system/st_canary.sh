# st_canary.sh - `reeve web --canary` sends a task through each watched queue, which workers complete without a handler, and tells
# how long that took, or how old the one is that is under way. No record of it stays.
. "$(dirname "$0")/lib.sh"

"$REEVE" web --help >/dev/null 2>&1 || exit 77 # (built without REEVE_WEB)
start_redis
expect_status 2 reeve web --listen 127.0.0.1:0 --canary 'mail,no queue'
expect_has "$ERR" 'names of queues'
expect_status 2 reeve web --listen 127.0.0.1:0 --canary 'mail,'

printf '%s\n' "plugin_dir = \"$PLUGIN_DIR\"; plugins = [ \"sample\" ];" 'pools = ( { name = "main"; queues = [ "mail", "brief" ]; } );' >"$TEST_DIR/worker.conf"
start_worker worker
reeve settings brief --keep-completed none >/dev/null || fail "no settings"
"$REEVE" web --listen 127.0.0.1:0 --canary 'mail, brief,nobody' --canary-interval 1s </dev/null >"$TEST_DIR/web.out" 2>"$TEST_DIR/web.log" &
WEB_PID=$!
own "$WEB_PID"
wait_for '[ -s "$TEST_DIR/web.out" ]' 10
URL=$(head -n 1 "$TEST_DIR/web.out")

# seconds QUEUE: as the metrics have them, in whole seconds; "" when there is none.
seconds() { curl -s "${URL}metrics" | sed -n "s/^reeve_canary_seconds{queue=\"$1\"} \([0-9]*\).*/\1/p"; }
wait_for '[ "$(seconds mail)" = 0 ]' 10
wait_for '[ -n "$(seconds brief)" ]' 10
wait_for '[ "$(seconds nobody)" -ge 2 ]' 10 # (nobody serves it: its age)

# Where a queue is paused its number rises, and falls when it goes on.
reeve pause mail >/dev/null || fail "no pause"
wait_for '[ "$(seconds mail)" -ge 2 ]' 10
expect_eq "$(reeve list mail --state ready | grep -c reeve:canary)" 1
reeve resume mail >/dev/null || fail "no resume"
wait_for '[ "$(seconds mail)" -ge 2 ] && [ "$(in_queue mail ready)" = 0 ]' 10 # (that one took as long)
wait_for '[ "$(seconds mail)" = 0 ]' 10

# A server that ended has left one behind: the next one goes on with its age.
end "$WEB_PID"
expect_eq "$ENDED" 0
expect_eq "$(in_queue nobody ready)" 1
expect_lacks "$(cat "$TEST_DIR/web.log")" 'did not complete'
"$REEVE" web --listen 127.0.0.1:0 --canary nobody </dev/null >"$TEST_DIR/next.out" 2>"$TEST_DIR/next.log" &
own $!
wait_for '[ -s "$TEST_DIR/next.out" ]' 10
URL=$(head -n 1 "$TEST_DIR/next.out")
wait_for '[ "$(seconds nobody)" -ge 3 ]' 10
expect_eq "$(in_queue nobody ready)" 1

# A worker does the same by its configuration, which names queues.
printf '%s\n' 'web = { listen = "127.0.0.1:0"; canary = "mail, no queue"; };' 'pools = ( { name = "main"; queues = [ "mail" ]; } );' >"$TEST_DIR/bad.conf"
expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf" --check
expect_has "$ERR$OUT" 'names of queues, separated by commas'
exit 0

# st_web_log.sh - whoever reads the log of `reeve web` may stand still: requests that change something are answered, operations
# begin and end, however many, and the server ends when it is told to.
. "$(dirname "$0")/lib.sh"

"$REEVE" web --help >/dev/null 2>&1 || exit 77 # (built without REEVE_WEB)
start_redis
mkfifo "$TEST_DIR/log" || fail "no pipe"
exec {hold}<>"$TEST_DIR/log"
"$REEVE" web --listen 127.0.0.1:0 </dev/null >"$TEST_DIR/web.out" 2>"$TEST_DIR/log" {hold}>&- &
WEB_PID=$!
own "$WEB_PID"
wait_for '[ -s "$TEST_DIR/web.out" ]' 10
URL=$(head -n 1 "$TEST_DIR/web.out")api/v1

# More lines than a pipe holds (64 KiB).
for _ in $(seq 600); do printf 'url = "%s/queues/jobs/resume"\noutput = "%s"\n' "$URL" "$TEST_DIR/answer"; done >"$TEST_DIR/requests"
expect_eq "$(curl -s -m 20 --fail-early -X POST -w '%{http_code}\n' -K "$TEST_DIR/requests" | sort | uniq -c | tr -s ' ')" ' 600 200'

# More operations than the server lists: those that have ended make room.
for i in $(seq 60); do
    reeve enqueue jobs echo >/dev/null || fail "no task"
    CODE=$(curl -s -m 20 -o "$TEST_DIR/answer" -w '%{http_code}' "$URL/queues/jobs/operations" -d '{"action":"cancel","filter":{"state":"ready"}}')
    expect_eq "$CODE" 202 "operation $i: $(cat "$TEST_DIR/answer")"
    wait_for 'curl -s -m 20 "$URL/operations/$i" | grep -q "\"phase\":\"done\""' 10
done
expect_eq "$(in_queue jobs cancelled)" 60
end "$WEB_PID"
expect_eq "$ENDED" 0

# Where it is read, each action has its line.
"$REEVE" web --listen 127.0.0.1:0 </dev/null >"$TEST_DIR/read.out" 2>"$TEST_DIR/read.log" &
own $!
wait_for '[ -s "$TEST_DIR/read.out" ]' 10
curl -s -X POST "$(head -n 1 "$TEST_DIR/read.out")api/v1/queues/jobs/resume" >/dev/null
wait_for 'grep -q "event=web.action.*path=/api/v1/queues/jobs/resume status=200" "$TEST_DIR/read.log"' 10
exit 0

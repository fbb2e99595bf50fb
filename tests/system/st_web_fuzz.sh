# st_web_fuzz.sh - random requests to `reeve web` (tests/tools/http_fuzz.c, with fixed seeds): none ends it, makes it hang or answer with
# 500, and other clients are served all the time. REEVE_FUZZ_SEEDS and REEVE_FUZZ_ROUNDS try more.
. "$(dirname "$0")/lib.sh"

"$REEVE" web --help >/dev/null 2>&1 || exit 77 # (built without REEVE_WEB)
FUZZ=$REEVE_BUILD/tests/http_fuzz
start_redis
for i in 1 2 3; do reeve enqueue jobs echo '{"a":[1,2]}' --id "job-$i" --tag t --meta k=v --group g >/dev/null || fail "no task"; done
reeve cron add nightly '0 3 * * *' jobs echo >/dev/null || fail "no entry"
(umask 077 && echo 'bot:admin:token-of-the-bot' >"$TEST_DIR/tokens" && echo "ann:admin:$(echo secret | "$REEVE" web --hash-password)" >"$TEST_DIR/users")
"$REEVE" web --listen 127.0.0.1:0 --token-file "$TEST_DIR/tokens" --users "$TEST_DIR/users" </dev/null >"$TEST_DIR/web.out" 2>"$TEST_DIR/web.log" &
WEB_PID=$!
own "$WEB_PID"
wait_for '[ -s "$TEST_DIR/web.out" ]' 10
URL=$(head -n 1 "$TEST_DIR/web.out")
PORT=${URL##*:}

for seed in ${REEVE_FUZZ_SEEDS:-1 2 3}; do
    expect_status 0 timeout 200 "$FUZZ" "${PORT%/}" "$seed" "${REEVE_FUZZ_ROUNDS:-400}" token-of-the-bot
    kill -0 "$WEB_PID" 2>/dev/null || fail "the server has ended: $(tail -n 3 "$TEST_DIR/web.log")"
done
for verb in "check" "doctor"; do
    run reeve $verb
    [ "$STATUS" -le 1 ] || fail "reeve $verb: $STATUS"
done
expect_status 0 reeve check
grep -q 'status=[24]' "$TEST_DIR/web.log" || fail "nothing was done"
end "$WEB_PID"
expect_eq "$ENDED" 0
exit 0

# reeve web: where it serves. For st_json.sh.
if "$REEVE" web --help >/dev/null 2>&1; then
    "$REEVE" web --json --listen "unix:$TEST_DIR/web.sock" >"$TEST_DIR/web.out" 2>"$TEST_DIR/web.log" &
    web=$!
    "$REEVE" web --json --listen 127.0.0.1:0 >"$TEST_DIR/web.port" 2>"$TEST_DIR/web.log" &
    own $! "$web"
    wait_for '[ -s "$TEST_DIR/web.out" ] && [ -s "$TEST_DIR/web.port" ]' 10
    shape web "$TEST_DIR/web.out"
    shape web "$TEST_DIR/web.port"
    end "$web"
    fails 2 usage web --prefix x
fi

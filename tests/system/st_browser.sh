# st_browser.sh - the dashboard in a real browser: tests/web/*.mjs in Chromium, one after the other, with a Redis, a worker, and two
# servers, one of which has users. Pictures of all pages go to web/ in the build directory. scripts/check installs the browser.
. "$(dirname "$0")/lib.sh"

"$REEVE" web --help >/dev/null 2>&1 || exit 77 # (built without REEVE_WEB)
MODULES=$REEVE_BUILD/browser
command -v node >/dev/null && [ -d "$MODULES/node_modules/playwright-core" ] && [ -x "${CHROMIUM:-/usr/bin/chromium}" ] ||
    { echo "no browser: scripts/check installs it" >&2; exit 77; }
export REEVE SHOTS=$REEVE_BUILD/web HOME=$TEST_DIR

# The server ends and starts again in a test.
mkdir -p "$TEST_DIR/data" "$SHOTS"
REDIS_OPTIONS="--port 0 --unixsocket $TEST_DIR/redis.sock --dir $TEST_DIR/data --appendonly yes"
export REEVE_REDIS=unix://$TEST_DIR/redis.sock REDIS_OPTIONS

# serve NAME OPTION...: a server on a free port; its address is in SERVED.
serve() {
    local name=$1
    shift
    rm -f "$TEST_DIR/$name.out" # (of the test before)
    "$REEVE" web --listen 127.0.0.1:0 "$@" </dev/null >"$TEST_DIR/$name.out" 2>"$TEST_DIR/$name.log" &
    own $!
    wait_for '[ -s "$TEST_DIR/$name.out" ]' 10
    SERVED=$(head -n 1 "$TEST_DIR/$name.out")
}

# browse TEST: with everything new, so that no test sees what another one left.
browse() {
    local test=$1 pid
    rm -rf "$TEST_DIR/data"/*
    # shellcheck disable=SC2086
    redis-server $REDIS_OPTIONS >"$TEST_DIR/redis.log" &
    export REDIS_PID=$!
    wait_for '[ "$(redis_at "$TEST_DIR/redis.sock" PING 2>/dev/null)" = PONG ]' 10
    start_worker worker
    serve open
    export URL=$SERVED
    serve users --users "$TEST_DIR/users"
    export USERS_URL=$SERVED
    wait_for '"$REEVE" workers --json 2>/dev/null | grep -q media-1' 10
    timeout 600 node "$MODULES/$test" >"$TEST_DIR/out" 2>"$TEST_DIR/err" || fail "$test"
    cat "$TEST_DIR/out"
    for pid in $OWNED; do end "$pid"; done
    kill "$REDIS_PID" 2>/dev/null
    wait "$REDIS_PID" 2>/dev/null
    REDIS_PID=
}

printf '%s\n' 'worker = { name = "media-1"; session = 5; drain = 0; log = { level = "error"; }; };' \
    "plugin_dir = \"$PLUGIN_DIR\"; plugins = [ \"sample\" ];" \
    'pools = ( { name = "main"; queues = [ "mail", "thumbs" ]; threads = 4; } );' >"$TEST_DIR/worker.conf"
(umask 077 && : >"$TEST_DIR/users")
for role in viewer operator admin; do
    printf '%s:%s:%s\n' "$role" "$role" "$(printf 'secret-%s' "$role" | "$REEVE" web --hash-password)" >>"$TEST_DIR/users"
done
cp "$REEVE_SOURCE"/tests/web/*.mjs "$MODULES/" || exit 1 # (where they find their modules)
for test in ${REEVE_BROWSER_TESTS:-work access names filters pages}; do browse "$test.mjs"; done
exit 0

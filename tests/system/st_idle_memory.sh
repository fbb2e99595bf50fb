# st_idle_memory.sh - a worker with 16 idle threads needs less than 12 MiB of memory, also when it has been busy before.
# (Over TLS less than 18 MiB: OpenSSL itself takes 4 MiB, and its state of each connection some 100 KiB.)
. "$(dirname "$0")/lib.sh"

MOST_KB=$((12 * 1024))
[ "${REEVE_TEST_OVER:-unix}" != tls ] || MOST_KB=$((18 * 1024))

if [ -n "$SANITIZED" ] || ! grep -Eq '^CMAKE_BUILD_TYPE:[A-Z]*=(Release)?$' "$REEVE_BUILD/CMakeCache.txt"; then
    echo "skipped: this says something about release builds only"
    exit 77
fi

rss_kb() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$WORKER_PID/status"; }
is_idle() { redis INFO clients | grep -q '^blocked_clients:16'; }

# check WORDS
check() {
    local rss
    rss=$(rss_kb)
    [ "$rss" -lt $MOST_KB ] || fail "$rss KiB $*"
    echo "$rss KiB $*"
}

start_redis
write_conf idle '' 'pools = ( { queues = [ "q" ]; threads = 16; } );' \
    'queues = ( { name = "q"; keep = { completed = { count = 100; }; }; } );'
start_alone idle
wait_for is_idle 20
check "after its start"
for ((i = 0; i < 4000; i++)); do echo '{"type":"noop"}'; done | bulk q || exit 1
wait_for '[ "$(redis ZCARD "reeve:{q}:ready")" = 0 ]' 20
# Payloads and results of a size, and failures with their words.
text=$(printf 'x%.0s' {1..2000})
for ((i = 0; i < 1000; i++)); do echo "{\"type\":\"echo\",\"payload\":\"$text\"}"; done | bulk q || exit 1
for ((i = 0; i < 20; i++)); do echo '{"type":"fail","attempts":1}'; done | bulk q || exit 1
wait_for '[ "$(in_queue q dead)" = 20 ] && [ "$(in_queue q running)" = 0 ] && is_idle' 30
check "idle after 5,000 tasks"
# Large payloads and results: a thread gives their memory back before it waits again.
head -c 1000000 /dev/urandom | base64 -w0 >"$TEST_DIR/base64"
for ((i = 0; i < 64; i++)); do
    printf '{"type":"echo","payload_base64":"'
    cat "$TEST_DIR/base64"
    echo '"}'
done | bulk q || exit 1
wait_for '[ "$(in_queue q ready)" = 0 ] && [ "$(in_queue q running)" = 0 ] && is_idle' 30
check "idle after large tasks"

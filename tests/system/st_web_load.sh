# st_web_load.sh - what many viewers of `reeve web` cost: Redis no more commands than one of them, and the server little memory; each of
# them gets snapshots, and those of a page share its answers. (bench/web has the times.)
. "$(dirname "$0")/lib.sh"

"$REEVE" web --help >/dev/null 2>&1 || exit 77 # (built without REEVE_WEB)
QUEUES=60 VIEWERS=40 EVENTS=4
start_redis
for i in $(seq $QUEUES); do echo "{\"queue\":\"q-$i\",\"type\":\"work\"}"; done | reeve enqueue --bulk >/dev/null 2>&1 || fail "no tasks"
"$REEVE" web --listen 127.0.0.1:0 </dev/null >"$TEST_DIR/web.out" 2>"$TEST_DIR/web.log" &
WEB_PID=$!
own "$WEB_PID"
wait_for '[ -s "$TEST_DIR/web.out" ]' 10
URL=$(head -n 1 "$TEST_DIR/web.out")

calls() { redis INFO commandstats | tr -d '\r' | sed -n 's/^cmdstat_evalsha:calls=\([0-9]*\),.*/\1/p'; }
have() { [ -e "$TEST_DIR/viewer.$1" ] && [ "$(grep -c ^data: "$TEST_DIR/viewer.$1")" -ge "$2" ]; }
watch() {
    curl -sN "${URL}api/v1/events" >"$TEST_DIR/viewer.$1" 2>/dev/null &
    own $!
}
watch 1
wait_for 'have 1 2' 10
# The number of the newest snapshot.
snapshot() { curl -s "${URL}api/v1/overview" | grep -o '^{"sequence":[0-9]*' | grep -o '[0-9]*$'; }
first=$(snapshot) began=$SECONDS before=$(calls)
for i in $(seq 2 $VIEWERS); do watch "$i"; done
have_all() { for i in $(seq $VIEWERS); do have "$i" $EVENTS || return 1; done; }
wait_for have_all 60
# One snapshot a second, however many look. A whole one calls a script for each queue, and one for the last hour of each of at
# most 50. One may have begun. (A maximum that supposes how fast the viewers come would fail on a busy machine.)
now=$(calls) snapshots=$(($(snapshot) - first + 1)) took=$((SECONDS - began + 1))
[ "$snapshots" -le $((took + 3)) ] || fail "$snapshots snapshots in $took seconds"
[ $((now - before)) -le $((snapshots * (QUEUES + 50))) ] || fail "$((now - before)) calls for $snapshots snapshots"
if [ -z "$SANITIZED" ]; then
    memory=$(awk '/^VmRSS/ { print $2 }' "/proc/$WEB_PID/status")
    [ "$memory" -le 65536 ] || fail "$memory KiB"
fi
# Redis gets nothing more when they have gone.
for pid in $OWNED; do [ "$pid" = "$WEB_PID" ] || end "$pid"; done
silent() { before=$(calls) && sleep 1.5 && [ "$(calls)" = "$before" ]; } # (their streams end with the next snapshot)
wait_for silent 20

# Viewers of the same page share an answer, which may be old, as they say. Others get what is so now; nobody gets an older answer after
# that. (A minute is long enough for any machine.)
PAGE=api/v1/queues/q-1
ask() { ANSWER=$(curl -s -H 'X-Reeve-Page: p' "$@"); }
look() { ask -H 'Cache-Control: max-age=60, max-stale' "$URL$PAGE"; }
ask "$URL$PAGE"
expect_has "$ANSWER" '"ready":1,'
before=$(calls)
for _ in $(seq 20); do look && expect_has "$ANSWER" '"ready":1,'; done
expect_eq "$(calls)" "$before" "calls for an answer that there is"
reeve enqueue q-1 work >/dev/null || fail "no task"
look
expect_has "$ANSWER" '"ready":1,'
expect_has "$(curl -s "$URL$PAGE")" '"ready":2,'
look
expect_has "$ANSWER" '"ready":2,'
ask -X POST "$URL$PAGE/pause"
ask "$URL$PAGE"
expect_has "$ANSWER" '"paused":true'
look
expect_has "$ANSWER" '"paused":true'
# Many who come at the same time wait for one reading.
PAGE=api/v1/queues/q-2
before=$(calls)
kill -STOP "$REDIS_PID"
looks=()
for i in $(seq 20); do
    curl -s -H 'Cache-Control: max-age=60, max-stale' "$URL$PAGE" >"$TEST_DIR/look.$i" &
    looks+=($!)
done
curl -s "${URL}health" >/dev/null
kill -CONT "$REDIS_PID"
wait "${looks[@]}"
for i in $(seq 20); do expect_has "$(cat "$TEST_DIR/look.$i")" '"ready":1,'; done
expect_eq "$(calls)" "$((before + 1))" "calls for all together"
# They share it however long it takes, and whatever becomes of it: Redis, which is slow, is not asked by each of them.
# shares WHAT PATH TEXT CALLS: so many ask while Redis stands still for longer than an answer is fresh.
threads() { awk '/^Threads/ { print $2 }' "/proc/$WEB_PID/status"; }
# Whether all who ask, and then all threads of the server, sleep. Each connection has a thread; one with a request that it has
# not read yet would be ready to run. So all requests wait for the one reading. (Time alone does not tell, on a busy machine.)
sleeps() { [ "$(cat "$@" 2>/dev/null | sed 's/.*) //; s/ .*//' | sort -u)" = S ]; }
all_wait() { sleeps "${looks[@]/%//stat}" && sleeps "/proc/$WEB_PID/task"/*/stat; }
shares() {
    local alone i
    looks=()
    before=$(calls)
    kill -STOP "$REDIS_PID"
    alone=$(threads)
    for i in $(seq 20); do
        curl -s -H 'Cache-Control: max-age=1, max-stale' "$URL$2" >"$TEST_DIR/look.$i" &
        looks+=("/proc/$!")
    done
    wait_for '[ "$(threads)" -ge $(('"$alone"' + 20)) ]' 60
    wait_for 'all_wait && all_wait' 60
    sleep 1.2
    kill -CONT "$REDIS_PID"
    wait "${looks[@]#/proc/}"
    for i in $(seq 20); do expect_has "$(cat "$TEST_DIR/look.$i")" "$3"; done
    expect_eq "$(calls)" "$((before + $4))" "calls for $1"
}
shares 'an answer that was long read' api/v1/queues/q-3 '"ready":1,' 1
shares 'an answer that is an error' api/v1/tasks/q-3/none '"error":"not_found"' 2
end "$WEB_PID"
expect_eq "$ENDED" 0
exit 0

# st_web_hostile.sh - requests to `reeve web` that a proxy and the server could read in two ways, or whose filter means more than was
# typed, are refused; none of them ends the server or makes it wait.
. "$(dirname "$0")/lib.sh"

"$REEVE" web --help >/dev/null 2>&1 || exit 77 # (built without REEVE_WEB)
start_redis
for i in 1 2 3; do reeve enqueue jobs echo --id "job-$i" >/dev/null || fail "no task"; done
"$REEVE" web --listen 127.0.0.1:0 </dev/null >"$TEST_DIR/web.out" 2>"$TEST_DIR/web.log" &
WEB_PID=$!
own "$WEB_PID"
wait_for '[ -s "$TEST_DIR/web.out" ]' 10
URL=$(head -n 1 "$TEST_DIR/web.out")
PORT=${URL##*:} PORT=${PORT%/}
JOBS=/api/v1/queues/jobs

# raw STATUS TEXT: sends the text (\r and \n are escapes); the first answer has this status, and comes before the 30 seconds
# that a client has for a request.
raw() {
    local fd
    exec {fd}<>"/dev/tcp/127.0.0.1/$PORT" || fail "no connection"
    (trap '' PIPE && printf '%b' "$2" >&"$fd") 2>/dev/null # (it may answer before it has read all)
    IFS=' ' read -r -t 20 -u "$fd" _ CODE _ || CODE=none
    exec {fd}>&-
    expect_eq "$CODE" "$1" "$2"
}
HOST='Host: localhost\r\n'

# ---- where a request ends ----------------------------------------------------------------------------------------------

PAUSE="POST $JOBS/pause HTTP/1.1\r\n$HOST"
raw 200 "${PAUSE}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
raw 400 "${PAUSE}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
raw 400 "${PAUSE}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"
raw 400 "${PAUSE}Content-Length: 2\r\nTransfer-Encoding : chunked\r\n\r\n{}"
raw 501 "${PAUSE}Transfer-Encoding: gzip\r\n\r\n{}"
raw 413 "${PAUSE}Content-Length: 1099511627776\r\n\r\n{}"
raw 413 "POST $JOBS/tasks HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n"
raw 413 "${PAUSE}Content-Length: 99999999999999999999\r\n\r\n{}"
raw 400 "${PAUSE}Content-Length: -2\r\n\r\n{}"
raw 400 "${PAUSE}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"
raw 400 "GET /health HTTP/1.1\r\n${HOST}Host: evil.example\r\n\r\n"
raw 403 "GET /health HTTP/1.1\r\nHost: localhost:x@evil.example\r\n\r\n"
raw 405 "TRACE /health HTTP/1.1\r\n$HOST\r\n"
raw 400 "GET $JOBS\0/x HTTP/1.1\r\n$HOST\r\n"
raw 400 "GET $JOBS\0HTTP/1.1 HTTP/1.1\r\n$HOST\r\n"
raw 400 "GET /api/v1/queues?prefix=jobs\0&limit=1 HTTP/1.1\r\n$HOST\r\n"
raw 404 "GET http://evil.example/health HTTP/1.1\r\n$HOST\r\n"

# ---- filters -----------------------------------------------------------------------------------------------------------

# An unknown name would select all tasks of the state.
preview() { raw "$1" "POST $JOBS/preview HTTP/1.1\r\n${HOST}Content-Length: ${#2}\r\n\r\n$2"; }
preview 200 '{"action":"delete","filter":{"state":"ready","type":"echo"}}'
preview 400 '{"action":"delete","filter":{"state":"ready","typ":"other"}}'
preview 400 '{"action":"delete","filter":{"state":"ready","state":"dead"}}'
preview 400 '{"action":"delete","filter":{"state":"ready","type":["a","b"]}}'
for filter in '["state"]' '[null]' '"state"' 7 '[[["x"]]]' '{"state":{}}' '{"":1}' null; do preview 400 "{\"action\":\"delete\",\"filter\":$filter}"; done
get() { raw "$1" "GET $2 HTTP/1.1\r\n$HOST\r\n"; }
get 200 "$JOBS/tasks?state=ready&limit=2"
get 400 "$JOBS/tasks?typ=other"
get 400 "$JOBS/tasks?state=ready&state=dead"
get 400 "$JOBS/tasks?cursor=dead:~41~41"
get 400 '/api/v1/queues?prefix=%zz'
get 400 "/api/v1/queues?prefix=$(printf 'a%.0s' $(seq 100))"

# ---- bodies ------------------------------------------------------------------------------------------------------------

# What another reader would read differently, or what would be left out, is refused; a text ends where its sender ends it.
reeve resume jobs >/dev/null || fail "not resumed"
post() { raw "$1" "POST $2 HTTP/1.1\r\n${HOST}Content-Length: $(printf '%b' "$3" | wc -c)\r\n\r\n$3"; }
for body in '{"for":"1m"} x' '{"for":"1m"}{"for":"2m"}' '{"for":"1m","for":"9h"}' '\xef\xbb\xbf{"for":"1m"}' '{"for":"1m\0"}' \
    '{"for":"1m\\u0000x"}' '{"for\\u0000x":"1m"}' '{"for":"\xff"}' "$(printf '[%.0s' $(seq 20000))" '{"for":1e999}' '[]' null ' '; do
    post 400 "$JOBS/pause" "$body"
done
expect_has "$(reeve queues --json)" '"paused":false'
# Neither does a path without members ignore any.
post 400 "$JOBS/resume" '{"for":"1m"}'
post 400 "$JOBS/resume" x
post 400 "/api/v1/tasks/jobs/job-1/retry" '{"in":"1m"}'
post 200 "$JOBS/resume" '{}'
post 400 "$JOBS/limits" '{"group":"a\\u0000b","concurrency":1}'
post 400 "$JOBS/lease" '{"count":1.5}'
expect_has "$(curl -s "$URL${JOBS#/}/pause" -d "{\"$(printf 'long%.0s' $(seq 1000))\":1}")" ': expected for"'
post 400 "$JOBS/lease" '{"for":"0s"}'
post 400 "/api/v1/tasks/jobs/job-1/cancel" '{"reason":5}'
post 400 "/api/v1/tasks/jobs/job-1/cancel" '{"cascade":"yes"}'
post 400 "$JOBS/operations" '{"action":"retry","filter":{"state":"dead"},"expected":"5"}'

# A result is kept as it was sent.
settle() {
    local token
    reeve enqueue exact echo --id "$1" >/dev/null || fail "no task"
    token=$(curl -s "${URL}api/v1/queues/exact/lease" -d '{}' | grep -o '"lease":"[^"]*"' | cut -d '"' -f 4)
    curl -s "${URL}api/v1/tasks/exact/$1/settle" -d "{\"lease\":\"$token\",\"outcome\":\"done\",\"result\":$2}" >/dev/null
    expect_has "$(reeve show "exact/$1" --json)" "\"result\":$3"
}
settle number '12345678901234567890.10' '"12345678901234567890.10"'
settle object '{ "n": [12345678901234567890] }' '"{\"n\":[12345678901234567890]}"'
settle zero '"a\u0000b"' '"a\u0000b"'

# ---- calls that wait ---------------------------------------------------------------------------------------------------

# A user who waits in many calls keeps nobody from reading, and other users from waiting.
(umask 077 && printf '%s\n' greedy:viewer:greedy-token other:viewer:other-token >"$TEST_DIR/tokens")
"$REEVE" web --listen 127.0.0.1:0 --token-file "$TEST_DIR/tokens" --user-header X-User --user-role viewer </dev/null >"$TEST_DIR/waits.out" 2>"$TEST_DIR/waits.log" &
own $!
wait_for '[ -s "$TEST_DIR/waits.out" ]' 10
WAITS=$(head -n 1 "$TEST_DIR/waits.out") WAITS_PORT=${WAITS##*:} WAITS_PORT=${WAITS_PORT%/}
user() { CODE=$(curl -s -o "$TEST_DIR/answer" -w '%{http_code}' "$@" "${WAITS}api/v1/queues/jobs"); }
user -H 'X-User: ann'
expect_eq "$CODE" 200
user -H 'X-User: root' -H 'x-user: ann' # (one of them may be the client's own)
expect_eq "$CODE" 401
open_calls=()
open_call() {
    exec {fd}<>"/dev/tcp/127.0.0.1/$WAITS_PORT" || fail "no connection"
    printf 'GET /api/v1/tasks/jobs/job-1?wait=1m HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer greedy-token\r\n\r\n' >&"$fd"
    open_calls+=("$fd")
}
for i in $(seq 64); do open_call; done
as() { CODE=$(curl -s -o "$TEST_DIR/answer" -w '%{http_code}' -H "Authorization: Bearer $1-token" "${WAITS}api/v1/tasks/jobs/job-1$2"); }
# (The call of `as` may come before the last of those, which is then the one that is refused: so another one is opened.)
wait_for 'as greedy "?wait=1s"; [ "$CODE" = 503 ] || { open_call; false; }' 10
as greedy ''
expect_eq "$CODE" 200
as other '?wait=1s'
expect_eq "$CODE" 200
# The calls of a client that has gone end at once: others get their places, and it gets no task.
for fd in "${open_calls[@]}"; do exec {fd}>&-; done
wait_for 'as greedy "?wait=1s"; [ "$CODE" = 200 ]' 10
lease_waiting() { redis CLIENT LIST | grep -q 'cmd=blpop'; }
exec {fd}<>"/dev/tcp/127.0.0.1/$PORT" || fail "no connection"
printf 'POST /api/v1/queues/left/lease HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n\r\n{"wait":"60s"}' >&"$fd"
wait_for lease_waiting 10
exec {fd}>&-
wait_for '! lease_waiting' 10
reeve enqueue left echo --id kept >/dev/null || fail "no task"
expect_eq "$(of_task left/kept state)" '"ready"'

# ---- operations --------------------------------------------------------------------------------------------------------

# One that is cancelled while it counts changes nothing (Redis does not answer meanwhile). A user counts twice at a time.
ready() { curl -s -m 20 "${URL}api/v1/queues/jobs" >/dev/null; }
ready # (a connection is open)
freeze "$REDIS_PID"
curl -s "${URL}api/v1/queues/jobs/operations" -d '{"action":"cancel","filter":{"state":"ready"}}' >"$TEST_DIR/answer"
number=$(grep -o '"operation":[0-9]*' "$TEST_DIR/answer" | cut -d : -f 2)
[ -n "$number" ] || fail "no operation: $(cat "$TEST_DIR/answer")"
curl -s -X POST "${URL}api/v1/operations/$number/cancel" >/dev/null
kill -CONT "$REDIS_PID"
wait_for 'curl -s "${URL}api/v1/operations/$number" | grep -q "\"phase\":\"cancelled\".*\"done\":0"' 10
expect_eq "$(in_queue jobs ready)" 3
for i in $(seq 20000); do echo '{"queue":"many","type":"echo","payload":"no needle"}'; done | reeve enqueue --bulk >/dev/null 2>&1 || fail "no tasks"
# Two counts of a client run at a time, and the others wait for their turn. One client does not keep another one waiting: its
# count ends before the last of those that came earlier.
COUNT='{"action":"cancel","filter":{"state":"ready","payload-has":"nothing"}}'
counts() {
    local i
    for i in $(seq "$2"); do
        [ "$i" = 1 ] || args+=(--next)
        args+=(-s -o "$TEST_DIR/count-$1-$i" -w "$1 %{http_code}\n" -H "X-Reeve-Page: $1" -d "$COUNT" "${URL}api/v1/queues/many/preview")
    done
}
args=()
counts greedy 5
args+=(--next)
counts other 1
curl -Z --parallel-immediate --parallel-max 20 "${args[@]}" >"$TEST_DIR/counts" 2>/dev/null
expect_eq "$(grep -c 200 "$TEST_DIR/counts")" 6
[ "$(tail -n 1 "$TEST_DIR/counts")" != 'other 200' ] || fail "the other client was the last: $(cat "$TEST_DIR/counts")"

# A count whose client has gone ends before its next step (a whole one has 20).
calls() { redis INFO commandstats | tr -d '\r' | sed -n 's/^cmdstat_evalsha:calls=\([0-9]*\),.*/\1/p'; }
reeve queues >/dev/null
before=$(calls)
freeze "$REDIS_PID"
exec {fd}<>"/dev/tcp/127.0.0.1/$PORT" || fail "no connection"
printf 'POST /api/v1/queues/many/preview HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s' "${#COUNT}" "$COUNT" >&"$fd"
for _ in 1 2 3; do curl -s "${URL}health" >/dev/null; done # (it has read the request above, and met its end)
exec {fd}>&-
for _ in 1 2 3; do curl -s "${URL}health" >/dev/null; done
kill -CONT "$REDIS_PID"
preview 200 '{"action":"cancel","filter":{"state":"ready"}}'
[ $(($(calls) - before)) -lt 15 ] || fail "$(($(calls) - before)) calls for a client that has gone"

# ---- headers -----------------------------------------------------------------------------------------------------------

# Many cookies are one header; what is too large is refused.
raw 200 "GET /health HTTP/1.1\r\n${HOST}Cookie: $(for i in $(seq 2000); do printf 'c%d=1; ' "$i"; done)\r\n\r\n"
raw 200 "GET /health HTTP/1.1\r\n${HOST}Cookie: $(printf ';%.0s' $(seq 12000))\r\n\r\n"
raw 431 "GET /health HTTP/1.1\r\n${HOST}Cookie: $(printf 'c%05d=1; ' $(seq 6000))\r\n\r\n"
raw 431 "GET /health HTTP/1.1\r\n${HOST}$(printf 'Cookie: c%d=1\\r\\n' $(seq 150))\r\n"
raw 431 "GET /health HTTP/1.1\r\n${HOST}$(printf 'X-%d: 1\\r\\n' $(seq 2000))\r\n"
raw 414 "GET /health?$(printf 'a%d&' $(seq 3000)) HTTP/1.1\r\n${HOST}\r\n"
raw 414 "GET /health?$(printf 'a%d&' $(seq 101)) HTTP/1.1\r\n${HOST}\r\n"
raw 200 "GET /health?$(printf 'a%d=1&' $(seq 99)) HTTP/1.1\r\n${HOST}\r\n"
raw 414 "GET /health?$(printf 'a%.0s' $(seq 20000)) HTTP/1.1\r\n${HOST}\r\n"
raw 414 "GET /$(printf 'a%.0s' $(seq 20000)) HTTP/1.1\r\n${HOST}\r\n"
raw 414 "GET /health?$(printf 'a%.0s' $(seq 40000)) HTTP/1.1\r\n${HOST}\r\n"

# Only a whole name is the cookie of the session; a text that is not accepted is not sent.
code() { CODE=$(curl -s -o "$TEST_DIR/answer" -w '%{http_code} %{size_download}' "$@"); }
code "${URL}assets/app.css" -H 'Accept-Encoding: gzip;q=0, identity'
plain=$CODE
code "${URL}assets/app.css" -H 'Accept-Encoding: identity;q=0.5, gzip;q=0.1'
[ "$CODE" != "$plain" ] || fail "no gzip"
code "${URL}assets/app.css"
expect_eq "$CODE" "$plain"

kill -0 "$WEB_PID" 2>/dev/null || fail "the server has ended"
expect_eq "$(in_queue jobs ready)" 3
end "$WEB_PID"
expect_eq "$ENDED" 0
exit 0

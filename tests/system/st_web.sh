# st_web.sh - `reeve web`: every route answers as docs/openapi.json says, takes the role that it names, and is refused to
# others, to pages of other sites and to clients that send too much; slow clients do not keep others waiting.
. "$(dirname "$0")/lib.sh"

"$REEVE" web --help >/dev/null 2>&1 || exit 77 # (built without REEVE_WEB)
DOC=$REEVE_SOURCE/docs/openapi.json
CHECK=$REEVE_BUILD/tests/openapi_check
API=/api/v1
ROUTES=$TEST_DIR/routes

# start_web NAME ARGUMENT...: a server on a free port; its address is in URL, its pid in WEB_PID.
start_web() {
    local name=$1
    shift
    "$REEVE" web --listen 127.0.0.1:0 "$@" </dev/null >"$TEST_DIR/$name.out" 2>"$TEST_DIR/$name.log" &
    WEB_PID=$!
    own "$WEB_PID"
    wait_for '[ -s "$TEST_DIR/$name.out" ]' 10
    URL=$(head -n 1 "$TEST_DIR/$name.out")
    URL=${URL%/}
}

# ask METHOD PATH [CURL ARGUMENT...]: the answer is in ANSWER, its status in CODE.
ask() {
    local method=$1 path=$2
    shift 2
    CODE=$(curl -s -o "$TEST_DIR/answer" -w '%{http_code}' -X "$method" "$@" "$URL$path") || fail "no answer: $method $path"
    ANSWER=$(tr -d '\000' <"$TEST_DIR/answer")
}

# api STATUS METHOD PATTERN PATH [BODY]: asks, and the answer is what the document says.
api() {
    local want=$1 method=$2 pattern=$3 path=$4
    shift 4
    ask "$method" "$path" ${1:+-d "$1"}
    [ "$CODE" = "$want" ] || fail "$method $path: $CODE, expected $want: $ANSWER"
    "$CHECK" "$DOC" "$method" "$pattern" "$CODE" <"$TEST_DIR/answer" || fail "$method $path: $ANSWER"
    echo "$method $pattern" >>"$TEST_DIR/tried"
}
ok() { api 200 "$@"; }

# ---- the document ------------------------------------------------------------------------------------------------------

# The table in the source, as "METHOD PATTERN ROLE".
sed -n 's/^ *{"\([A-Z]*\)", \(API \)\{0,1\}"\([^"]*\)", WEB_\([A-Z]*\),.*/\1 \2\3 \4/p' "$REEVE_SOURCE/src/programs/web/web_routes.c" |
    sed 's, API , /api/v1,' | awk '{ print $1, $2, tolower($3) }' | sort >"$ROUTES"
[ "$(wc -l <"$ROUTES")" -gt 30 ] || fail "only $(wc -l <"$ROUTES") routes were found"
"$CHECK" "$DOC" --routes | sort | diff "$ROUTES" - >"$TEST_DIR/err" || fail "docs/openapi.json has other routes than the table"

# ---- what each does ----------------------------------------------------------------------------------------------------

start_redis
start_web main
ok GET / /
ok GET '/assets/{name}' /assets/index.html
# All that a page loads: at most 100 KB, and 35 KB compressed.
sizes() {
    local name sum=0
    for name in index.html $(curl -s "$URL/" | grep -oE 'assets/[a-z.]+' | sort -u | sed 's,assets/,,'); do
        sum=$((sum + $(curl -s "$@" -o /dev/null -w '%{size_download}' "$URL/assets/$name")))
    done
    echo "$sum"
}
[ "$(sizes)" -gt 50000 ] && [ "$(sizes)" -le 100000 ] || fail "the assets have $(sizes) bytes"
[ "$(sizes -H 'Accept-Encoding: gzip')" -le 35000 ] || fail "compressed, the assets have $(sizes -H 'Accept-Encoding: gzip') bytes"
ok GET /health /health
ok GET /ready /ready
ok GET $API/session $API/session
expect_has "$ANSWER" '"role":"admin"'

Q=$API/queues/jobs
T=$API/tasks/jobs
api 201 POST "$API/queues/{queue}/tasks" $Q/tasks '{"type":"echo","id":"a:b-1","payload":{"n":12345678901234567890}}'
expect_has "$ANSWER" '"handle":"jobs/a:b-1"'
api 409 POST "$API/queues/{queue}/tasks" $Q/tasks '{"type":"echo","id":"a:b-1"}'
expect_has "$ANSWER" '"error":"exists"'
api 400 POST "$API/queues/{queue}/tasks" $Q/tasks '{"type":'
api 400 POST "$API/queues/{queue}/tasks" $Q/tasks '{"type":"echo","prio":1}'
api 400 POST "$API/queues/{queue}/tasks" $Q/tasks $' \n \n'
head -c 4000000 /dev/zero | tr '\0' '\n' >"$TEST_DIR/feeds"
ask POST $Q/tasks -m 20 -H 'Content-Type: application/x-ndjson' --data-binary @"$TEST_DIR/feeds"
expect_eq "$CODE" 400
api 400 POST "$API/queues/{queue}/tasks" $Q/tasks '{"type":"echo","queue":"other"}'
{ for i in $(seq 1200); do echo "{\"type\":\"fail\",\"id\":\"many-$i\",\"payload\":{}}"; done; echo '{"typo":1}'; } >"$TEST_DIR/lines"
ask POST $Q/tasks -H 'Content-Type: application/x-ndjson' --data-binary @"$TEST_DIR/lines"
expect_eq "$CODE" 200
expect_eq "$(grep -c '"handle"' "$TEST_DIR/answer")" 1200
expect_eq "$(tail -n 1 "$TEST_DIR/answer" | cut -c 1-18)" '{"error":"invalid"'

ok GET "$API/tasks/{queue}/{id}" $T/a%3Ab-1
expect_has "$ANSWER" '12345678901234567890'
api 404 GET "$API/tasks/{queue}/{id}" $T/nobody
api 400 GET "$API/tasks/{queue}/{id}" $API/tasks/no%20queue/1
ok GET "$API/tasks/{queue}/{id}/log" $T/a%3Ab-1/log
ok GET "$API/queues/{queue}/tasks" "$Q/tasks?state=ready&type=echo"
expect_has "$ANSWER" '"cursor":null,"seen":1201,"total":1201'
ok GET "$API/queues/{queue}/tasks" "$Q/tasks?id-prefix=many-&limit=7"
expect_eq "$(grep -o '"handle"' "$TEST_DIR/answer" | wc -l)" 7
cursor=$(member cursor "$(tail -n 1 "$TEST_DIR/answer")" | tr -d '"')
first=$(grep -o 'jobs/many-[0-9]*' "$TEST_DIR/answer" | sort -u)
ok GET "$API/queues/{queue}/tasks" "$Q/tasks?id-prefix=many-&limit=7&cursor=$cursor"
second=$(grep -o 'jobs/many-[0-9]*' "$TEST_DIR/answer" | sort -u)
expect_eq "$(printf '%s\n' "$first" "$second" | sort | uniq -d)" "" "pages have no task in common"
api 400 GET "$API/queues/{queue}/tasks" "$Q/tasks?state=asleep"
api 400 GET "$API/queues/{queue}/tasks" "$Q/tasks?older-than=soon"
api 400 GET "$API/queues/{queue}/tasks" "$Q/tasks?cursor=x"
api 400 GET "$API/queues/{queue}/tasks" "$Q/tasks?state=dead&due-before=2030-01-01T00:00:00Z"
expect_has "$ANSWER" "due-before selects only tasks with the state scheduled"
ok GET "$API/queues/{queue}/tasks" "$Q/tasks?state=scheduled&due-before=2030-01-01T00:00:00Z"
ok GET "$API/queues/{queue}/tasks" "$Q/tasks?due-before=2030-01-01T00:00:00Z"
api 400 POST "$API/queues/{queue}/preview" $Q/preview '{"action":"retry","filter":{"state":"dead","worker":"w"}}'

ok GET $API/queues $API/queues?prefix=jo
expect_has "$ANSWER" '"total":1'
api 201 POST "$API/queues/{queue}/tasks" $API/queues/shop.mail/tasks '{"type":"echo"}'
api 201 POST "$API/queues/{queue}/tasks" $API/queues/shop.bills/tasks '{"type":"echo"}'
grouped() { ask GET $API/queue-groups && [[ $ANSWER == *'"prefix":"shop.","count":2,'*'"ready":2,'* ]]; }
wait_for grouped 20 # (of a snapshot, which may be a second old)
expect_has "$ANSWER" '"prefix":null,"queues":[{"info":{"queue":"jobs"'
expect_has "$ANSWER" '"unserved":2'
expect_has "$ANSWER" '"total":2}'
ok GET $API/queue-groups "$API/queue-groups?limit=1&offset=1"
expect_eq "$(grep -o '"prefix"' "$TEST_DIR/answer" | wc -l)" 1
# Clients take "." and ".." out of a path.
for dots in . ..; do
    api 201 POST "$API/queues/{queue}/tasks" "$API/queues/~$dots/tasks" "{\"type\":\"echo\",\"id\":\"$dots\"}"
    ok GET "$API/tasks/{queue}/{id}" "$API/tasks/~$dots/~$dots"
    expect_has "$ANSWER" "\"handle\":\"$dots/$dots\""
    ok DELETE "$API/tasks/{queue}/{id}" "$API/tasks/~$dots/~$dots"
done
api 400 GET "$API/queues/{queue}" "$API/queues/~..."
ok GET "$API/queues/{queue}" $Q
ok GET "$API/queues/{queue}/why" $Q/why
ok GET "$API/queues/{queue}/failures" $Q/failures
reeve fail jobs/many-1200 --kind smtp --message lost >/dev/null || fail "no dead task"
ok GET "$API/queues/{queue}/dead-types" $Q/dead-types
expect_has "$ANSWER" '{"types":[{"queue":"jobs","type":"fail","count":1,'
expect_has "$ANSWER" '"last_handle":"jobs/many-1200","last_kind":"smtp","last_message":"lost"}'
expect_has "$ANSWER" '"seen":1,"total":1}'
ok GET "$API/queues/{queue}/stats" "$Q/stats?days=2"
ok GET "$API/queues/{queue}/minutes" "$Q/minutes?minutes=5"
ok GET "$API/queues/{queue}/limits" $Q/limits
limit() { api "$1" POST "$API/queues/{queue}/limits" $Q/limits "$2"; }
limit 200 '{"concurrency":8,"rate":"100/1s:20"}'
limit 200 '{"each_group":true,"concurrency":2}'
limit 200 '{"group":"big","rate":"5/m","strict":true}'
expect_has "$(reeve limit jobs --json)" '"concurrency":8,"rate":{"count":100,"period_ms":1000,"burst":20}'
expect_has "$(reeve limit jobs --json)" '"each_group":{"concurrency":2,'
expect_has "$(reeve limit jobs --json)" '"group":"big"'
limit 200 '{"rate":null}'
expect_has "$(reeve limit jobs --json)" '"concurrency":8,"rate":null'
limit 200 '{"group":"big","forget":true}'
limit 200 '{"type":"video","concurrency":3}'
expect_has "$(reeve limit jobs --json)" '"type":"video","concurrency":3'
limit 200 '{"type":"video","forget":true}'
limit 200 '{"key":"gpu","concurrency":2}'
expect_has "$(reeve limit jobs --json)" '{"group":null,"key":"gpu","concurrency":2'
limit 200 '{"key":"gpu","forget":true}'
for body in '{}' '{"concurrency":0}' '{"concurrency":1.5}' '{"concurrency":"8"}' '{"rate":"fast"}' '{"rate":5}' '{"concurrences":8}' '{"group":"","concurrency":1}' \
    '{"strict":true}' '{"forget":true}' '{"group":"a","each_group":true,"concurrency":1}' \
    '{"group":"a","type":"t","concurrency":1}' '{"type":"t","strict":true}' '{"type":""}' '{"key":""}' \
    '{"key":"k","type":"t","concurrency":1}' '{"key":"k","strict":true}'; do
    limit 400 "$body"
done
limit 200 '{"concurrency":null}'
limit 200 '{"each_group":true,"concurrency":null}'
expect_has "$(reeve limit jobs --json)" '"concurrency":null,"rate":null'
ok POST "$API/queues/{queue}/pause" $Q/pause '{"for":60}'
ok POST "$API/queues/{queue}/pause" $Q/pause
expect_has "$(reeve queues jobs --json)" '"paused":true'
ok POST "$API/queues/{queue}/resume" $Q/resume
expect_has "$(reeve queues jobs --json)" '"paused":false'
expect_has "$(reeve queues jobs --json)" '"pause_until_ms":null'
ok GET $API/overview $API/overview
expect_has "$ANSWER" '"what":"unserved","queue":"jobs"'
expect_has "$ANSWER" '"seconds":['
ok GET $API/history "$API/history?range=day"
expect_eq "$(grep -o '"at_ms"' "$TEST_DIR/answer" | wc -l)" 96 "quarters of an hour"
ok GET $API/history "$API/history?range=month"
expect_eq "$(grep -o '"at_ms"' "$TEST_DIR/answer" | wc -l)" 30 days
api 400 GET $API/history "$API/history?range=year"
ok GET $API/redis $API/redis
ok GET $API/workers $API/workers
ok GET $API/crashes $API/crashes

ok POST "$API/tasks/{queue}/{id}/reschedule" $T/many-1/reschedule '{"in":"1h"}'
expect_eq "$(of_task jobs/many-1 state)" '"scheduled"'
ok POST "$API/tasks/{queue}/{id}/retry" $T/many-1/retry
ok POST "$API/tasks/{queue}/{id}/priority" $T/many-1/priority '{"priority":-5}'
expect_eq "$(of_task jobs/many-1 priority)" -5
ok POST "$API/tasks/{queue}/{id}/cancel" $T/many-2/cancel '{"reason":"by hand"}'
expect_eq "$(of_task jobs/many-2 cancel_reason)" '"by hand"'
ok DELETE "$API/tasks/{queue}/{id}" $T/many-2
api 404 DELETE "$API/tasks/{queue}/{id}" $T/many-2

# Any language consumes: lease, extend, settle; a wait for the end is woken by it.
ok POST "$API/queues/{queue}/lease" $Q/lease '{"count":2,"for":"30s"}'
lease=$(member lease "$ANSWER")
id=$(member id "$ANSWER" | tr -d '"' | sed 's,/,%2F,g')
curl -s "$URL$T/$id?wait=20s" >"$TEST_DIR/waited" &
waiter=$!
ok POST "$API/tasks/{queue}/{id}/heartbeat" "$T/$id/heartbeat" "{\"lease\":$lease,\"for\":60}"
ok POST "$API/tasks/{queue}/{id}/settle" "$T/$id/settle" "{\"lease\":$lease,\"outcome\":\"done\",\"result\":{\"sum\":3}}"
wait "$waiter"
expect_has "$(cat "$TEST_DIR/waited")" '"state":"completed"'
api 409 POST "$API/tasks/{queue}/{id}/settle" "$T/$id/settle" "{\"lease\":$lease,\"outcome\":\"done\"}"

# Each outcome of `reeve settle`, with the members that go with it and no others.
SETTLE="$API/tasks/{queue}/{id}/settle"
lease_one() {
    reeve enqueue settled echo --id "$1" --backoff fixed:1h >/dev/null || fail "no task"
    ok POST "$API/queues/{queue}/lease" $API/queues/settled/lease '{"for":"30s"}'
    lease=$(member lease "$ANSWER")
}
# settles ID OUTCOME MEMBERS STATE
settles() {
    lease_one "$1"
    ok POST "$SETTLE" "$API/tasks/settled/$1/settle" "{\"lease\":$lease,\"outcome\":\"$2\"$3}"
    expect_eq "$(of_task "settled/$1" state)" "\"$4\"" "$2"
}
reeve enqueue other echo --id before >/dev/null || fail "no task"
settles wait-1 wait ',"after":["other/before"]' blocked
settles wait-2 wait ',"after":["other/before:go","other/before:wait"]' blocked
settles retry retry ',"in":"1h","kind":"busy","message":"later"' scheduled
expect_eq "$(of_task settled/retry error_kind)" '"busy"'
settles backoff retry ',"in":null' scheduled
settles fail fail ',"kind":"bad"' dead
settles snooze snooze ',"in":60' scheduled
settles cancel cancel ',"reason":"by hand"' cancelled
expect_eq "$(of_task settled/cancel cancel_reason)" '"by hand"'
# (No worker serves either queue: the call that settles carries the news.)
ok POST "$API/queues/{queue}/lease" $API/queues/other/lease '{"for":"30s"}'
lease=$(member lease "$ANSWER")
ok POST "$SETTLE" "$API/tasks/other/before/settle" "{\"outcome\":\"done\",\"lease\":$lease}"
for id in wait-1 wait-2; do
    wait_for '[ "$(of_task "settled/$id" state)" = "\"ready\"" ]' 20
    expect_status 0 reeve delete "settled/$id"
done
settles give-back give-back '' ready
ok POST "$API/queues/{queue}/lease" $API/queues/settled/lease '{"for":"30s"}'
lease=$(member lease "$ANSWER")
for refused in '"outcome":"wait"' '"outcome":"wait","after":[]' '"outcome":"wait","after":["other/x:death"]' '"outcome":"wait","after":[7]' \
    '"outcome":"wait","after":null' '"outcome":"wait","after":{}' '"outcome":"done","after":["other/x"]' '"outcome":"snooze"' '"outcome":"done","in":1' \
    '"outcome":"cancel","message":"x"' '"outcome":"done","result":null,"kind":"x"' '"outcome":"waits"'; do
    api 400 POST "$SETTLE" "$API/tasks/settled/give-back/settle" "{\"lease\":$lease,$refused}"
done
ok POST "$SETTLE" "$API/tasks/settled/give-back/settle" "{\"lease\":$lease,\"outcome\":\"discard\"}"

# Many at once, as an operation of the server.
ok POST "$API/queues/{queue}/preview" $Q/preview '{"action":"cancel","filter":{"state":"ready","type":"fail"}}'
count=$(member count "$ANSWER")
api 202 POST "$API/queues/{queue}/operations" $Q/operations '{"action":"cancel","filter":{"state":"ready","type":"fail"}}'
ended() { ask GET "$API/operations/$1" && [[ $ANSWER =~ \"phase\":\"(done|failed|cancelled)\" ]]; }
wait_for 'ended 1' 20
ok GET "$API/operations/{number}" $API/operations/1
expect_has "$ANSWER" "\"total\":$count,"
expect_has "$ANSWER" "\"done\":$count,"
expect_has "$ANSWER" '"user":"local"'
api 400 POST "$API/queues/{queue}/operations" $Q/operations '{"action":"delete","filter":{"state":"cancelled"}}'
api 202 POST "$API/queues/{queue}/operations" $Q/operations '{"action":"delete","filter":{"state":"cancelled"},"expected":3}'
wait_for 'ended 2' 20
expect_has "$ANSWER" '"phase":"failed"'
expect_eq "$(in_queue jobs cancelled)" "$count"
api 202 POST "$API/queues/{queue}/operations" $Q/operations "{\"action\":\"delete\",\"filter\":{\"state\":\"cancelled\"},\"expected\":$count}"
wait_for 'ended 3' 20
expect_eq "$(in_queue jobs cancelled)" 0
ok GET $API/operations $API/operations
ok POST "$API/operations/{number}/cancel" $API/operations/3/cancel
api 404 GET "$API/operations/{number}" $API/operations/99

reeve cron add nightly '0 3 * * *' jobs echo >/dev/null || fail "no cron entry"
ok GET $API/cron $API/cron
expect_eq "$(printf '%s' "${ANSWER##*slots}" | tr -cd , | wc -c)" 4 "the next five slots"
# Only slots from its start to its end, none more than it may run, and no jitter in them.
slots_of() { sed 's/\],\[/\n/g; s/[]["}:]//g' <<<"${ANSWER##*slots}" | sed -n "$1p"; }
from=$(($(date +%s) / 3600 * 3600 + 7200))
reeve cron add a1 'every 1h' jobs echo --jitter 30m --starts $from --ends $((from + 7200)) >/dev/null || fail "no cron entry"
reeve cron add a2 'every 1h' jobs echo --jitter 30m --starts $from --runs 2 >/dev/null || fail "no cron entry"
ok GET $API/cron $API/cron
expect_eq "$(slots_of 1) $(slots_of 2)" "${from}000,$((from + 3600))000,$((from + 7200))000 ${from}000,$((from + 3600))000"
api 200 POST "$API/cron/{queue}/{name}/run" $API/cron/jobs/nightly/run
ok POST "$API/cron/{queue}/{name}/pause" $API/cron/jobs/nightly/pause
ok POST "$API/cron/{queue}/{name}/resume" $API/cron/jobs/nightly/resume

# ---- workers -----------------------------------------------------------------------------------------------------------

printf '%s\n' "plugin_dir = \"$PLUGIN_DIR\"; plugins = [ \"sample\" ];" 'pools = ( { name = "main"; queues = [ "served" ]; threads = 1; }, { name = "side"; queues = [ "served" ]; threads = 2; } );' \
    >"$TEST_DIR/worker.conf"
start_worker worker
the_worker() { WORKER=$(reeve workers --json | grep "\"pid\":$(worker_child "$WORKER_PID")," | grep -o '^{"worker":"[^"]*' | cut -d '"' -f 4) && [ -n "$WORKER" ]; }
wait_for the_worker 20
W=$API/workers/$WORKER
it_listens() { ask POST "$W/resume" && [ "$CODE" = 200 ]; } # (it does a moment after its first heartbeat)
wait_for it_listens 20
listed() { ask GET "$API/workers?find=$1" && [[ $ANSWER == *"\"total\":$2}" ]]; }
wait_for "listed $(hostname) 1" 20 # (of a snapshot, which may be a second old)
listed no-such-worker 0 || fail "$ANSWER"
# It is one worker, although both of its pools serve the queue.
reeve enqueue served noop >/dev/null || fail "no task"
served() { ask GET "$API/queues?prefix=served" && [[ $ANSWER == *'"workers":1}'*'"threads":3,'* ]]; }
wait_for served 20
ok POST "$API/workers/{worker}/threads" "$W/threads" '{"pool":"main","threads":3}'
ok POST "$API/workers/{worker}/quiet" "$W/quiet"
ok POST "$API/workers/{worker}/resume" "$W/resume"
ok GET "$API/workers/{worker}/stack" "$W/stack"
expect_has "$ANSWER" main
for body in '{"threads":3}' '{"pool":"main","threads":0}' '{"pool":"main","threads":1.5}' '{"pool":"main","min":3,"max":2}' '{"pool":"main"}'; do
    api 400 POST "$API/workers/{worker}/threads" "$W/threads" "$body"
done
api 409 POST "$API/workers/{worker}/threads" "$W/threads" '{"pool":"no-such","threads":1}'
api 404 POST "$API/workers/{worker}/quiet" $API/workers/nobody/quiet
ask POST "$W/reload" # (done or refused, as its configuration says)
[ "$CODE" = 200 ] || [ "$CODE" = 409 ] || fail "reload: $CODE $ANSWER"
echo "POST $API/workers/{worker}/reload" >>"$TEST_DIR/tried"
ok POST "$API/workers/{worker}/stop" "$W/stop"
wait_for '! kill -0 "$WORKER_PID" 2>/dev/null' 20

reeve enqueue jobs echo --id first --in 1h >/dev/null && reeve enqueue jobs echo --id second --after jobs/first >/dev/null || fail "no tasks"
ok GET "$API/tasks/{queue}/{id}/parents" $T/second/parents
expect_has "$ANSWER" '"members":1,"completed":0'
api 404 GET "$API/tasks/{queue}/{id}/parents" $T/nobody/parents

# ---- metrics -----------------------------------------------------------------------------------------------------------

# The numbers are those of the last snapshot, which may be a second old.
told_completed() { ask GET /metrics && [[ $ANSWER == *'reeve_queue_tasks{queue="jobs",state="completed"} 1'* ]]; }
wait_for told_completed 20
ok GET /metrics /metrics
grep -vE '^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+0-9.eInfNa]+)$' "$TEST_DIR/answer" >"$TEST_DIR/err" &&
    fail "lines that are no metrics"
ask GET /metrics -H 'Accept: application/openmetrics-text; version=1.0.0'
expect_eq "$(tail -n 1 "$TEST_DIR/answer")" '# EOF'
expect_has "$ANSWER" '# TYPE reeve_queue_completed counter'

# ---- events ------------------------------------------------------------------------------------------------------------

# A viewer gets a snapshot a second; while there is none, Redis gets no command.
curl -sN "$URL$API/events" >"$TEST_DIR/events" &
viewer=$!
own "$viewer"
wait_for '[ "$(grep -c ^data: "$TEST_DIR/events")" -ge 2 ]' 10
"$CHECK" "$DOC" GET $API/overview 200 < <(sed -n 's/^data: //p' "$TEST_DIR/events" | head -n 1) || fail "an event"
end "$viewer"
echo "GET $API/events" >>"$TEST_DIR/tried"

# ---- who may -----------------------------------------------------------------------------------------------------------

# refused CODE ARGUMENT...: a POST with these headers.
refused() {
    ask POST $Q/pause "${@:2}"
    expect_eq "$CODE" "$1" "${*:2}"
}
refused 403 -H 'Origin: https://evil.example'
refused 403 -H 'Sec-Fetch-Site: cross-site'
refused 403 -H 'Sec-Fetch-Site: same-site'
refused 403 -H 'Host: evil.example'
refused 200 -H "Origin: $URL" -H 'Sec-Fetch-Site: same-origin'
ask GET $API/queues -H 'Host: evil.example:1'
expect_eq "$CODE" 403
expect_has "$(curl -sI "$URL/")" "frame-ancestors 'none'"
ask POST $API/queues -d '{}'
expect_eq "$CODE" 405
api 404 GET / /nowhere
api 404 GET / /assets/../secret --path-as-is
expect_has "$(cat "$TEST_DIR/main.log")" 'event=web.action'
expect_has "$(grep many-2 "$TEST_DIR/main.log" | grep DELETE | head -n 1)" 'user=local role=admin peer=127.0.0.1 method=DELETE'

# ---- clients that are slow, or send too much ---------------------------------------------------------------------------

port=${URL##*:}
for i in $(seq 40); do
    exec {fd}<>"/dev/tcp/127.0.0.1/$port" || fail "no connection"
    printf 'GET /health HTTP/1.1\r\nHost: loc' >&"$fd"
done
ask GET /health
expect_eq "$CODE" 200 "beside slow clients"
ask GET /health -H "X-Long: $(head -c 60000 /dev/zero | tr '\0' x)"
expect_eq "$CODE" 431
ask GET /health $(for i in $(seq 150); do echo "-H X-$i:1"; done)
expect_eq "$CODE" 431
head -c 17000000 /dev/zero | tr '\0' ' ' >"$TEST_DIR/large"
ask POST $Q/tasks -H 'Expect:' --data-binary @"$TEST_DIR/large"
expect_eq "$CODE" 413
for bad in 'GET' 'GET /%zz HTTP/1.1' 'GET /api/v1/queues/%00 HTTP/1.1' $'\x01\x02\x03' 'POST /health HTTP/9.9'; do
    printf '%s\r\nHost: localhost\r\n\r\n' "$bad" | timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; cat >&3; head -c 200 <&3" >/dev/null 2>&1
done
ask POST $Q/pause -d "$(printf '[%.0s' $(seq 2000))"
expect_eq "$CODE" 400
ask POST $Q/pause -d '{"until":60}'
expect_eq "$CODE" 400
expect_has "$ANSWER" 'the body has no member \"until\": expected for'
ask GET /health
expect_eq "$CODE" 200

# ---- Redis away --------------------------------------------------------------------------------------------------------

stop_redis
ask GET $API/redis
[ "$CODE" = 503 ] || [ "$CODE" = 502 ] || fail "without Redis: $CODE $ANSWER"
ask GET /health
expect_eq "$CODE" 200
start_redis
back() { ask GET $API/redis && [ "$CODE" = 200 ]; }
wait_for back 10

# Every route was tried, but for the login.
sort -u "$TEST_DIR/tried" >"$TEST_DIR/did"
cut -d ' ' -f 1,2 "$ROUTES" | grep -vE '/(login|logout)$' | comm -23 - "$TEST_DIR/did" >"$TEST_DIR/untried"
expect_eq "$(cat "$TEST_DIR/untried")" "" "routes that were not tried"

# It ends at once, whoever looks.
curl -sN "$URL$API/events" >/dev/null &
own $!
curl -s "$URL$API/queues/jobs/lease" -d '{"wait":30}' >/dev/null &
own $!
end "$WEB_PID"
expect_eq "$ENDED" 0

# ---- roles -------------------------------------------------------------------------------------------------------------

for role in viewer operator admin; do echo "$role:$role:$(echo "secret-$role" | "$REEVE" web --hash-password)"; done >"$TEST_DIR/users"
for role in viewer operator admin; do echo "bot-$role:$role:token-of-$role"; done >"$TEST_DIR/tokens"
expect_status 2 reeve web --users "$TEST_DIR/users"
expect_has "$ERR" 'chmod 600'
chmod 600 "$TEST_DIR/users" "$TEST_DIR/tokens"
(umask 077 && { printf '# %0600d' 0 && echo 'x:admin:secret-of-nobody'; } >"$TEST_DIR/long")
expect_status 2 reeve web --token-file "$TEST_DIR/long"
expect_has "$ERR" "line 1 is longer than"
grep -q ':\$y\$' "$TEST_DIR/users" || fail "no yescrypt hash"
expect_status 2 reeve web --listen 0.0.0.0:0
expect_has "$ERR" 'without authentication only this machine'
start_web roles --users "$TEST_DIR/users" --token-file "$TEST_DIR/tokens"

rank() { case $1 in nobody) echo 0 ;; viewer) echo 1 ;; operator) echo 2 ;; admin) echo 3 ;; esac; }
# Each route, for each role: refused below its role, and not above. (Bodies are empty, and names those of nothing.)
while read -r method pattern role; do
    path=$(printf '%s' "$pattern" | sed 's,{number},99,; s,{[a-z]*},none,g')
    case $path in */events | */login) continue ;; esac
    for who in nobody viewer operator admin; do
        header=(-H 'X-None: 1')
        [ $who = nobody ] || header=(-H "Authorization: Bearer token-of-$who")
        ask "$method" "$path" "${header[@]}"
        if [ "$(rank $who)" -lt "$(rank "$role")" ]; then
            [ "$CODE" = 401 ] || [ "$CODE" = 403 ] || fail "$who may $method $path, which takes $role: $CODE"
        else
            [ "$CODE" != 401 ] && [ "$CODE" != 403 ] || fail "$who may not $method $path, which takes $role: $ANSWER"
        fi
    done
done <"$ROUTES"

# A login gives a session, for this browser only.
ask POST $API/login -c "$TEST_DIR/jar" -d '{"user":"operator","password":"secret-operator"}'
expect_eq "$CODE" 200
expect_has "$ANSWER" '"role":"operator"'
grep -q '^#HttpOnly_' "$TEST_DIR/jar" || fail "scripts can read the cookie"
ask POST $Q/resume -b "$TEST_DIR/jar"
expect_eq "$CODE" 200
ask POST $API/logout -b "$TEST_DIR/jar"
ask GET $API/queues -b "$TEST_DIR/jar"
expect_eq "$CODE" 401
for i in $(seq 12); do ask POST $API/login -d '{"user":"admin","password":"wrong"}'; done
expect_eq "$CODE" 429
grep -q 'secret-operator\|token-of-' "$TEST_DIR"/roles.log && fail "a secret is in the log"
end "$WEB_PID"

start_web quiet --read-only --hide-payloads
ask POST $Q/pause
expect_eq "$CODE" 403
ask GET "$Q/tasks"
expect_has "$ANSWER" '"tasks":['
end "$WEB_PID"

# Members that rules name are hidden, wherever a payload is shown; a lease has them.
start_web redact --redact 'password, card.*'
ask POST $API/queues/secret/tasks -d '{"type":"echo","id":"s-1","payload":{"user":"ann","password":"hush","card":{"n":1},"big":12345678901234567890}}'
expect_eq "$CODE" 201
for path in $API/tasks/secret/s-1 $API/queues/secret/tasks; do
    ask GET $path
    expect_has "$ANSWER" '{\"user\":\"ann\",\"password\":\"(hidden)\",\"card\":{\"n\":\"(hidden)\"},\"big\":12345678901234567890}'
    expect_lacks "$ANSWER" hush
done
reeve cron add hidden '0 3 * * *' secret echo '{"password":"hush"}' >/dev/null || fail "no cron entry"
ask GET $API/cron
expect_lacks "$ANSWER" hush
ask GET "$API/queues/secret/tasks?payload-has=hush"
expect_eq "$CODE" 403
ask POST $API/queues/secret/lease -d '{"count":1,"for":"30s"}'
expect_has "$ANSWER" hush
end "$WEB_PID"
expect_status 2 reeve web --redact 'a..b'
expect_has "$ERR" 'names of members'

# ---- HTTPS -------------------------------------------------------------------------------------------------------------

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
    -keyout "$TEST_DIR/key.pem" -out "$TEST_DIR/cert.pem" 2>/dev/null || fail "no certificate"
start_web https --cert "$TEST_DIR/cert.pem" --key "$TEST_DIR/key.pem" --users "$TEST_DIR/users"
expect_has "$URL" https://127.0.0.1:
ask GET $API/session --cacert "$TEST_DIR/cert.pem"
expect_eq "$CODE" 200
ask POST $API/login --cacert "$TEST_DIR/cert.pem" -D "$TEST_DIR/head" -d '{"user":"operator","password":"secret-operator"}'
expect_eq "$CODE" 200
grep -qi '^set-cookie: .*; Secure' "$TEST_DIR/head" || fail "the cookie is also for HTTP"
curl -s -o /dev/null "http${URL#https}/health" && fail "it answers without TLS"
curl -s -o /dev/null --tls-max 1.1 --cacert "$TEST_DIR/cert.pem" "$URL/health" && fail "it speaks TLS 1.1"
end "$WEB_PID"
expect_status 2 "$REEVE" web --listen 127.0.0.1:0 --cert "$TEST_DIR/cert.pem"
expect_status 2 "$REEVE" web --listen 127.0.0.1:0 --cert "$TEST_DIR/key.pem" --key "$TEST_DIR/cert.pem"
expect_has "$ERR" 'certificate and its key'
exit 0

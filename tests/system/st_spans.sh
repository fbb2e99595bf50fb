# st_spans.sh - the plugin spans: a line of OTLP JSON for each run, in the trace of the producer.
. "$(dirname "$0")/lib.sh"

[ -e "$PLUGIN_DIR/spans.so" ] || { echo "built without the plugins: skipped"; exit 77; }
export REEVE_PLUGIN_DIR=$PLUGIN_DIR
TRACE=4bf92f3577b34da6a3ce929d0e0e4736 PARENT=00f067aa0ba902b7
SPANS=$TEST_DIR/spans

# span STATUS ARGUMENT...: runs a handler of the plugin sample; the line that it appends is in LINE.
span() {
    local want=$1
    shift
    rm -f "$SPANS"
    expect_status "$want" reeve run sample "$@" --layers spans --layers-option "file=$SPANS" --layers-option service=mailer
    LINE=$(cat "$SPANS" 2>/dev/null)
}

span 0 echo hello --id letter-1 --meta "traceparent=00-$TRACE-$PARENT-01"
expect_eq "$(wc -l <"$SPANS")" 1
for part in "\"traceId\":\"$TRACE\"" "\"parentSpanId\":\"$PARENT\"" '"stringValue":"mailer"' '"kind":5' '"name":"process local"' \
    '{"key":"messaging.message.id","value":{"stringValue":"letter-1"}}' '{"key":"reeve.task.outcome","value":{"stringValue":"done"}}' \
    '"intValue":"1"' '"status":{"code":0}'; do
    expect_has "$LINE" "$part"
done
[[ $LINE =~ \"startTimeUnixNano\":\"([0-9]{19})\",\"endTimeUnixNano\":\"([0-9]{19})\" ]] || fail "no times"
[ "${BASH_REMATCH[2]}" -ge "${BASH_REMATCH[1]}" ] || fail "it ends before it begins"

span 1 fail '{"times":1}' --meta "traceparent=00-$TRACE-$PARENT-01"
expect_has "$LINE" '"status":{"code":2}'
span 0 noop --meta "traceparent=00-$TRACE-$PARENT-00"
expect_eq "$LINE" "" # (not sampled)
# What is no traceparent begins a trace.
for parent in nonsense "00-$TRACE-0000000000000000-01" "ff-$TRACE-$PARENT-01" "00-${TRACE}x$PARENT-01"; do
    span 0 noop --meta "traceparent=$parent"
    [[ $LINE =~ \"traceId\":\"[0-9a-f]{32}\" ]] && expect_has "$LINE" '"parentSpanId":""' && expect_lacks "$LINE" "$TRACE"
done
expect_status 1 reeve run sample noop --layers spans --layers-option "file=$TEST_DIR/no/such"

# ---- the producer's span, and spans that are sent ----------------------------------------------------------------------

# receive STATUS...: a receiver; its address is in ENDPOINT, what it gets in $TEST_DIR/received.
receive() {
    rm -f "$TEST_DIR/received" "$TEST_DIR/port"
    "$REEVE_BUILD/tests/http_receiver" "$TEST_DIR/received" "$@" >"$TEST_DIR/port" &
    RECEIVER=$!
    own "$RECEIVER"
    wait_for '[ -s "$TEST_DIR/port" ]' 10
    ENDPOINT=http://127.0.0.1:$(cat "$TEST_DIR/port")
}
# of NAME KIND: a member of the span of this kind (4: send, 5: process) in what was received.
of() { grep -o "{\"traceId[^}]*\"kind\":$2," "$TEST_DIR/received" | tail -n 1 | grep -o "\"$1\":\"[0-9a-f]*\"" | cut -d '"' -f 4; }

start_redis
receive 503 200
export OTEL_EXPORTER_OTLP_ENDPOINT=$ENDPOINT/base/ OTEL_SERVICE_NAME=shop
expect_status 0 reeve enqueue mail echo hello --id letter-2 --layers spans
expect_eq "$(grep '^==' "$TEST_DIR/received")" "== /base/v1/traces 503
== /base/v1/traces 200" # (sent again after a refusal that passes)
grep -q '"stringValue":"shop"' "$TEST_DIR/received" || fail "no name of the service"
grep -q '"name":"send mail","kind":4' "$TEST_DIR/received" || fail "no span of the producer"
sent=$(of spanId 4) trace=$(of traceId 4)
expect_has "$(reeve show mail/letter-2 --json)" "\"traceparent\":\"00-$trace-$sent-01\""
expect_status 0 reeve enqueue mail echo hello --id letter-3 --layers spans --meta "traceparent=00-$TRACE-$PARENT-01"
expect_eq "$(of traceId 4) $(of parentSpanId 4)" "$TRACE $PARENT"
expect_status 0 reeve enqueue mail echo hello --id letter-4 --layers spans --meta "traceparent=00-$TRACE-$PARENT-00"
expect_has "$(reeve show mail/letter-4 --json)" "00-$TRACE-$PARENT-00" # (not sampled)
printf '%s\n' "plugin_dir = \"$PLUGIN_DIR\"; plugins = [ \"spans\", \"sample\" ];" 'pools = ( { name = "main"; queues = [ "mail" ]; } );' >"$TEST_DIR/worker.conf"
start_worker worker
ran() { [ "$(of parentSpanId 5)" = "$sent" ] || grep -q "\"parentSpanId\":\"$sent\"" "$TEST_DIR/received"; }
wait_for ran 20 # (the run is a child of the span of its enqueue)
end "$RECEIVER"

# A call of a batch handler: a span for each of its tasks, in its own trace.
start_worker_with() { # NAME FILE LINE...
    local name=$1 file=$2
    shift 2
    printf '%s\n' "plugin_dir = \"$PLUGIN_DIR\"; plugins = ( { name = \"spans\"; options = { file = \"$file\"; }; }, \"sample\" );" "$@" >"$TEST_DIR/$name.conf"
    start_worker "$name"
}
end "$WORKER_PID"
rm -f "$SPANS"
for i in 1 2 3; do
    echo "{\"queue\":\"mail\",\"type\":\"collect\",\"id\":\"batch-$i\",\"meta\":{\"traceparent\":\"00-${TRACE%?}$i-${PARENT%?}$i-01\"}}"
done | reeve enqueue --bulk >/dev/null
start_worker_with batch "$SPANS" 'pools = ( { name = "main"; queues = [ "mail" ]; threads = 1; } );'
wait_for '[ "$(cat "$SPANS" 2>/dev/null | wc -l)" = 3 ]' 20
expect_has "$(reeve show mail/batch-1 --json)" '{\"together\":3}'
for i in 1 2 3; do
    LINE=$(grep "batch-$i" "$SPANS")
    for part in "\"traceId\":\"${TRACE%?}$i\"" "\"parentSpanId\":\"${PARENT%?}$i\"" '"stringValue":"collect"' '"status":{"code":0}'; do
        expect_has "$LINE" "$part"
    done
done
end "$WORKER_PID"

# Spans that are lost are a metric, also those of runners.
if "$REEVE" web --help >/dev/null 2>&1; then
    for isolation in thread process; do
        start_worker_with "full-$isolation" /dev/full 'metrics = { listen = "127.0.0.1:0"; };' \
            "pools = ( { name = \"main\"; queues = [ \"mail\" ]; threads = 1; isolation = \"$isolation\"; } );"
        address() { sed -n 's|.* event=program.http .*section=metrics url=\(http://\)\{0,1\}\([^ /]*\).*|\2|p' "$TEST_DIR/full-$isolation.log" | tail -n 1; }
        wait_for '[ -n "$(address)" ]' 10
        lost() { curl -sS -m 10 "http://$(address)/metrics" | sed -n 's/^reeve_plugin_spans_lost_total //p'; }
        [ "$isolation" = process ] || expect_eq "$(lost)" 0 # (it is there before anything is lost)
        for i in 1 2; do expect_status 0 reeve enqueue mail echo hello --wait=20; done
        wait_for '[ "$(lost)" = 2 ]' 10
        end "$WORKER_PID"
    done
fi

# A receiver that hangs, and then is away, keeps no handler waiting; what is lost is counted.
receive hang
export OTEL_EXPORTER_OTLP_ENDPOINT=$ENDPOINT
start_worker worker
for i in $(seq 3000); do echo '{"queue":"mail","type":"noop"}'; done | reeve enqueue --bulk >/dev/null 2>&1
drained() { [ "$(in_queue mail ready)" = 0 ] && [ "$(in_queue mail running)" = 0 ]; }
wait_for drained 60
end "$RECEIVER"
end "$WORKER_PID"
grep -h 'event=spans.lost' "$TEST_DIR/worker.log" | grep -q 'count=' || fail "lost spans are not reported"

for endpoint in https://localhost http:// http://a:b ftp://x 'http://a b'; do
    expect_status 1 reeve run sample noop --layers spans --layers-option "endpoint=$endpoint"
done
exit 0

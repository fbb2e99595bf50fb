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
exit 0

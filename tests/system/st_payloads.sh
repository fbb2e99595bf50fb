# st_payloads.sh - payloads and results of any bytes and size go through unchanged; what is malformed or too large is
# refused with clear words, and nothing of it is enqueued.
. "$(dirname "$0")/lib.sh"

# The result of the last `reeve wait --json` in $TEST_DIR/result, byte for byte.
save_result() {
    local text
    text=$(member result_base64 "$OUT")
    if [ -n "$text" ]; then
        tr -d '"' <<<"$text" | base64 -d >"$TEST_DIR/result"
        return
    fi
    text=$(member result "$OUT")
    [ "$text" != null ] || fail "no result"
    # JSON text of these tests has no escapes but these.
    text=${text#\"} && text=${text%\"}
    printf '%b' "${text//\\\"/\"}" >"$TEST_DIR/result"
}

# back_and_forth NAME FILE: the file as a payload, from a file and from standard input, comes back as the result.
back_and_forth() {
    local id
    expect_status 0 reeve enqueue q echo @"$2" --id "$1-file"
    expect_status 0 reeve enqueue q echo - --id "$1-input" <"$2"
    for id in "$1-file" "$1-input"; do
        expect_status 0 reeve wait "q/$id" --timeout 30 --json
        expect_eq "$(member state "$OUT")" '"completed"'
        save_result
        cmp "$TEST_DIR/result" "$2" || fail "the result of $id is not its payload"
        expect_eq "$(redis --raw HGET "reeve:{q}:results" "$id" | wc -c)" "$(($(wc -c <"$2") + 1))" "bytes in Redis"
    done
}

any_bytes() {
    local i
    for i in {0..255}; do printf "\\x$(printf %02x "$i")"; done >"$TEST_DIR/every"
    expect_eq "$(wc -c <"$TEST_DIR/every")" 256
    back_and_forth every "$TEST_DIR/every"
    printf 'a\nb\n\n{"x":"\n"}\n' >"$TEST_DIR/newlines"
    back_and_forth newlines "$TEST_DIR/newlines"
    printf '\n' >"$TEST_DIR/newline"
    back_and_forth newline "$TEST_DIR/newline"
    printf '\0' >"$TEST_DIR/zero"
    back_and_forth zero "$TEST_DIR/zero"
    printf '%%s\r\n$5\r\n*1\r\n' >"$TEST_DIR/protocol"
    back_and_forth protocol "$TEST_DIR/protocol"
    printf '{"info":1,"at":5}\n' >"$TEST_DIR/envelope"
    back_and_forth envelope "$TEST_DIR/envelope"
}

large() {
    head -c 1048576 /dev/urandom >"$TEST_DIR/large"
    back_and_forth large "$TEST_DIR/large"
}

# A result over the limit is a failure that says so.
large_result() {
    head -c $((16 * 1024 * 1024 + 1)) /dev/zero >"$TEST_DIR/larger"
    expect_status 5 reeve enqueue q echo @"$TEST_DIR/larger" --id larger --wait=30
    expect_has "$OUT" "state:      dead"
    expect_has "$ERR" "at most 16777216 (no setting raises it)"
    expect_status 0 reeve delete q/larger
}

# (An empty result is none.)
empty() {
    : >"$TEST_DIR/empty"
    expect_status 0 reeve enqueue q echo @"$TEST_DIR/empty" --id empty --wait=30 --json
    expect_eq "$(member state "$OUT")" '"completed"'
    expect_eq "$(member payload "$OUT")" '""'
    expect_eq "$(member result "$OUT")" null
}

# As JSON lines, with payloads as values or in base64.
bulk_payloads() {
    {
        printf '{"id":"json","type":"echo","payload":{"a": [1, 2.50, "\\u00e4\\n"]}}\n'
        printf '{"id":"bytes","type":"echo","payload_base64":"%s"}\n' "$(base64 -w0 "$TEST_DIR/every")"
        printf '{"id":"large","type":"echo","payload_base64":"%s"}\n' "$(base64 -w0 "$TEST_DIR/large")"
    } | bulk b || exit 1
    expect_status 0 reeve wait b/json --timeout 30 --json
    expect_eq "$(redis --raw HGET 'reeve:{b}:results' json)" '{"a":[1,2.50,"\u00e4\n"]}'
    expect_status 0 reeve wait b/bytes --timeout 30 --json
    save_result
    cmp "$TEST_DIR/result" "$TEST_DIR/every" || fail "the bytes have changed"
    expect_status 0 reeve wait b/large --timeout 30 --json
    save_result
    cmp "$TEST_DIR/result" "$TEST_DIR/large" || fail "the bytes of the large one have changed"
}

repeat() { printf "$1%.0s" $(seq "$2"); }

# refused STATUS WORDS ARGUMENT...: `reeve enqueue ARGUMENT...` is refused with these words.
refused() {
    local status=$1 words=$2
    shift 2
    expect_status "$status" reeve enqueue "$@"
    expect_eq "$OUT" "" "handles"
    expect_has "$ERR" "$words"
}

malformed() {
    local keys
    keys=$(redis DBSIZE)
    refused 2 'needs a queue' '' noop
    refused 2 'a name has 1 to 64' 'two words' noop
    refused 2 'a name has 1 to 64' 'a{b}' noop
    refused 2 'a name has 1 to 64' $'line\nbreak' noop
    refused 2 'a name has 1 to 64' 'größe' noop
    refused 2 'a name has 1 to 64' "$(repeat q 65)" noop
    refused 2 'needs a type' new ''
    refused 2 'a type has 1 to 100' new 'two words'
    refused 2 'a type has 1 to 100' new $'\xff'
    refused 2 'a type has 1 to 100' new "$(repeat t 101)"
    refused 2 "id is empty" new noop --id ''
    refused 2 'an id has 1 to 100' new noop --id 'with/slash'
    refused 2 'an id has 1 to 100' new noop --id "$(repeat i 101)"
    refused 1 'no-such-file' new noop @no-such-file
    truncate -s $((64 * 1024 * 1024 + 1)) "$TEST_DIR/huge"
    refused 1 '64 MiB' new noop @"$TEST_DIR/huge"
    refused 1 '64 MiB' new noop - <"$TEST_DIR/huge"
    {
        echo '{"queue":"two words","type":"noop"}'
        echo '{"queue":"new","type":"'"$(repeat t 101)"'"}'
        echo '{"queue":"new","type":"noop","id":"with/slash"}'
        echo '{"queue":"new","type":"noop","payload_base64":"!"}'
        echo '{"queue":"new","type":"noop","payload":'
        printf '{"queue":"new","type":"\xff"}\n'
    } >"$TEST_DIR/lines"
    expect_status 1 reeve enqueue --bulk <"$TEST_DIR/lines"
    expect_eq "$OUT" ""
    expect_has "$ERR" "0 enqueued, 6 refused"
    expect_eq "$(redis DBSIZE)" "$keys" "keys in Redis"
    expect_eq "$(redis SISMEMBER reeve:queues new)" 0
}

# The longest that is allowed works in all places.
longest() {
    local queue type id
    queue=$(repeat q 64) type=$(repeat t 100) id=$(repeat i 100)
    expect_status 0 reeve enqueue "$queue" "$type" --id "$id"
    expect_eq "$OUT" "$queue/$id"
    expect_status 0 reeve show "$queue/$id" --json
    expect_eq "$(member id "$OUT")" "\"$id\""
    expect_eq "$(member type "$OUT")" "\"$type\""
}

start_redis
write_conf payloads '' 'pools = ( { queues = [ "q", "b" ]; threads = 2; } );'
start_worker payloads
any_bytes
large
large_result
empty
bulk_payloads
end "$WORKER_PID"
expect_eq "$ENDED" 0 "the worker's exit status"
malformed
longest

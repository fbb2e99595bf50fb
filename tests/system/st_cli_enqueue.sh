# st_cli_enqueue.sh - reeve enqueue as its user sees it: one task, payloads from everywhere, --bulk; and reeve show.
. "$(dirname "$0")/lib.sh"

# ---- one ----------------------------------------------------------------------------------------------------------

enqueue_and_show() {
    expect_status 0 reeve enqueue e echo '{"a":"ü"}' --id a1 --priority -5 --group alice --weight 3 --attempts 4 \
        --timeout 90 --max-crashes 2 --backoff list:1,10s,90~0.1 --tag x --tag y --meta k=v=w
    expect_eq "$OUT" e/a1
    expect_quiet
    expect_status 1 reeve enqueue e echo again --id a1
    expect_has "$ERR" "e/a1"
    expect_silent
    expect_status 0 reeve show e/a1
    expect_has "$OUT" "handle:   e/a1"
    expect_has "$OUT" "state:    ready"
    expect_has "$OUT" 'payload:  {"a":"ü"}'
    expect_has "$OUT" "priority: -5"
    expect_has "$OUT" "timeout:  90s"
    expect_has "$OUT" "weight:   3"
    expect_has "$OUT" "backoff:  list:1s,10s,90s~0.1"
    expect_status 0 reeve show --json e/a1
    expect_lines 1
    expect_eq "$(member handle "$OUT")" '"e/a1"'
    expect_eq "$(member type "$OUT")" '"echo"'
    expect_eq "$(member state "$OUT")" '"ready"'
    expect_eq "$(member priority "$OUT")" -5
    expect_eq "$(member group "$OUT")" '"alice"'
    expect_eq "$(member weight "$OUT")" 3
    expect_eq "$(member backoff "$OUT")" '"list:1s,10s,90s~0.1"'
    expect_eq "$(member attempts "$OUT")" 4
    expect_eq "$(member max_crashes "$OUT")" 2
    expect_eq "$(member timeout_ms "$OUT")" 90000
    expect_eq "$(member tags "$OUT")" '["x","y"]'
    expect_eq "$(member meta "$OUT")" '{"k":"v=w"}'
    expect_eq "$(member payload "$OUT")" '"{\"a\":\"ü\"}"'
    expect_eq "$(member result "$OUT")" null
    expect_eq "$(member started_ms "$OUT")" null
    expect_status 1 reeve show e/nope
    expect_has "$ERR" "e/nope"
    expect_silent
    expect_status 0 reeve --json enqueue e echo
    id=$(member id "$OUT")
    expect_eq "${#id}" 38 "the length of a UUID in quotes"
    expect_eq "$OUT" "{\"handle\":\"e/${id:1:36}\",\"queue\":\"e\",\"id\":$id}"
}

when_it_runs() {
    expect_status 0 reeve enqueue e echo x --id later --in 1h
    expect_status 0 reeve show e/later --json
    expect_eq "$(member state "$OUT")" '"scheduled"'
    expect_eq $(($(member due_ms "$OUT") - $(member enqueued_ms "$OUT"))) 3600000
    expect_status 0 reeve enqueue e echo x --id then --at 2035-01-01T00:00:00Z
    expect_status 0 reeve show e/then
    expect_has "$OUT" "2035-01-01T00:00:00.000Z (in "
    expect_status 0 reeve enqueue e echo x --id past --at 2001-01-01T00:00:00Z
    expect_status 0 reeve show e/past --json
    expect_eq "$(member state "$OUT")" '"ready"'
}

payload_sources() {
    expect_status 0 reeve enqueue e echo @"$TEST_DIR/bytes" --id file
    expect_status 0 reeve enqueue e echo - --id input <"$TEST_DIR/bytes"
    for id in file input; do
        expect_status 0 reeve show "e/$id" --json
        expect_eq "$(member payload_base64 "$OUT")" "\"$(base64 -w0 "$TEST_DIR/bytes")\""
        expect_status 0 reeve show "e/$id"
        expect_has "$OUT" "256 bytes that are no text"
        expect_has "$OUT" "(128 bytes more)"
    done
    expect_status 0 reeve enqueue e echo --id dash -- --flag
    expect_status 0 reeve show e/dash
    expect_has "$OUT" "payload:  --flag"
    expect_status 1 reeve enqueue e echo @"$TEST_DIR/none"
    expect_has "$ERR" "$TEST_DIR/none: No such file"
    expect_status 1 reeve enqueue e echo @"$TEST_DIR"
    expect_has "$ERR" "Is a directory"
    head -c 1048576 /dev/zero | tr '\0' x >"$TEST_DIR/big"
    expect_status 0 reeve enqueue e echo @"$TEST_DIR/big" --id big
    expect_status 0 reeve show e/big
    expect_has "$OUT" "(1044480 bytes more)"
    expect_status 0 reeve show e/big --json
    expect_eq "$(member payload "$OUT" | wc -c)" 1048578
    truncate -s 67108865 "$TEST_DIR/huge"
    expect_status 1 reeve enqueue e echo @"$TEST_DIR/huge"
    expect_has "$ERR" "64 MiB"
    rm "$TEST_DIR/huge"
}

# What a payload or message holds never reaches a terminal as a control sequence.
harmless_output() {
    expect_status 0 reeve enqueue e echo $'\e]0;title\a' --id esc
    expect_status 0 reeve show e/esc
    expect_lacks "$OUT" $'\e'
    expect_status 0 reeve show e/esc --json
    expect_eq "$(member payload "$OUT")" '"\u001b]0;title\u0007"'
    expect_status 2 reeve show $'\e[31m'
    expect_lacks "$ERR" $'\e'
    expect_status 0 reeve delete e/esc
}

# ---- bulk ---------------------------------------------------------------------------------------------------------

TAKEN="a task with this id exists"

bulk_lines() {
    cat >"$TEST_DIR/in" <<'END'
{"queue":"b","type":"t","payload":{"n": 12345678901234567890.10, "s": "a b"},"id":"one"}

{"queue":"b","type":"t","payload_base64":"AP8=","id":"two","in":"1h","tags":["x"],"meta":{"k":"v"}}
no json
{"queue":"b","type":"t","prio":1}
{"queue":"b","type":"t","id":"one"}
{"type":"t","priority":"high"}
{"id":"three"}
END
    printf '{"queue":"b","type":"t"}\0\n{"queue":"b","type":"t","id":"last"}' >>"$TEST_DIR/in"
    expect_status 1 reeve enqueue --bulk <"$TEST_DIR/in"
    expect_eq "$OUT" "$(printf 'b/one\nb/two\nb/last')"
    expect_has "$ERR" "line 4: invalid JSON at byte 1"
    expect_has "$ERR" 'line 5: unknown member "prio"; did you mean "priority"?'
    expect_has "$ERR" "line 6: a task b/one exists"
    expect_has "$ERR" 'line 7: "priority": expected a whole number'
    expect_has "$ERR" 'line 8: "queue" is missing'
    expect_has "$ERR" "line 9: invalid JSON: a zero byte"
    expect_eq "${ERR##*$'\n'}" \
        "3 enqueued, 6 refused (invalid JSON: 2, unknown member: 1, wrong type: 1, member missing: 1, $TAKEN: 1)"
    expect_status 0 reeve show b/one --json
    expect_eq "$(member payload "$OUT")" '"{\"n\":12345678901234567890.10,\"s\":\"a b\"}"'
    expect_status 0 reeve show b/two --json
    expect_eq "$(member payload_base64 "$OUT")" '"AP8="'
    expect_eq "$(member state "$OUT")" '"scheduled"'
}

bulk_defaults_and_json() {
    expect_status 0 reeve enqueue --bulk c noop --json <<<'{"id":"i"}'
    expect_eq "$OUT" '{"handle":"c/i","queue":"c","id":"i","line":1}'
    expect_quiet
    expect_status 0 reeve enqueue --bulk </dev/null
    expect_eq "$ERR" "0 enqueued, 0 refused"
    expect_silent
}

bulk_many() {
    seq 1 5000 | sed 's/.*/{"payload":&,"id":"&"}/' >"$TEST_DIR/in"
    expect_status 0 reeve enqueue --bulk many noop <"$TEST_DIR/in"
    seq 1 5000 | sed 's,^,many/,' | cmp - "$TEST_DIR/out" || fail "handles are not in the order of the lines"
    expect_status 1 reeve enqueue --bulk many noop <"$TEST_DIR/in"
    expect_silent
    expect_eq "$(grep -c '^reeve: enqueue: line' "$TEST_DIR/err")" 20 "refusals that are told one by one"
    expect_eq "${ERR##*$'\n'}" "0 enqueued, 5000 refused ($TAKEN: 5000)"
    expect_status 0 reeve list many --limit 0
    expect_lines 5001
    expect_status 0 reeve list many --limit 0 --json
    expect_lines 5000
}

# A line beyond the limit is skipped, and memory stays far below its size.
bulk_long_line() {
    { echo '{"id":"before"}'; head -c 100000000 /dev/zero | tr '\0' x; echo; echo '{"id":"after"}'; } >"$TEST_DIR/in"
    expect_status 1 reeve enqueue --bulk long noop <"$TEST_DIR/in"
    expect_eq "$OUT" "$(printf 'long/before\nlong/after')"
    expect_has "$ERR" "line 2: longer than 65 MiB"
    rm "$TEST_DIR/in"
}

# Lines are enqueued as they come: the pipe stays open until the first handle is there.
bulk_trickle() {
    local pipe=$TEST_DIR/pipe job
    mkfifo "$pipe"
    "$REEVE" enqueue --bulk trickle noop <"$pipe" >"$TEST_DIR/handles" 2>"$TEST_DIR/words" &
    job=$!
    own $job
    exec 7>"$pipe"
    echo '{"id":"1"}' >&7
    wait_for '[ "$(cat "$TEST_DIR/handles")" = trickle/1 ]' 20
    echo '{"id":"2"}' >&7
    wait_for '[ "$(wc -l <"$TEST_DIR/handles")" = 2 ]' 20
    kill -INT $job
    wait $job
    expect_eq $? 130
    exec 7>&-
    expect_eq "$(cat "$TEST_DIR/words")" "2 enqueued, 0 refused"
}

losing_redis() {
    local job
    "$REEVE" enqueue --bulk lost noop <"$TEST_DIR/pipe" >"$TEST_DIR/handles" 2>"$TEST_DIR/words" &
    job=$!
    own $job
    exec 7>"$TEST_DIR/pipe"
    echo '{"id":"1"}' >&7
    wait_for '[ "$(cat "$TEST_DIR/handles")" = lost/1 ]' 20
    stop_redis KILL
    printf '{"id":"2"}\n{"id":"3"}\n' >&7
    wait $job
    expect_eq $? 4 "bulk that lost Redis: the line under way may have been enqueued"
    exec 7>&-
    expect_has "$(cat "$TEST_DIR/words")" "reeve: enqueue: line 2: "
    expect_has "$(cat "$TEST_DIR/words")" "stopped here"
    expect_has "$(tail -n1 "$TEST_DIR/words")" "1 enqueued, 0 refused, "
    expect_eq "$(cat "$TEST_DIR/handles")" lost/1
}

for byte in {0..255}; do printf "\\x$(printf %02x "$byte")"; done >"$TEST_DIR/bytes"
start_redis
enqueue_and_show
when_it_runs
payload_sources
harmless_output
bulk_lines
bulk_defaults_and_json
bulk_many
bulk_long_line
bulk_trickle
losing_redis

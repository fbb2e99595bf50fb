# reeve lease, settle and heartbeat: a shell takes tasks itself. For st_json.sh.
fails 1 timeout lease pulled
fails 2 usage lease
fails 2 usage lease pulled --for 1ms
fails 2 invalid lease 'no queue'
for id in one two three four; do reeve enqueue pulled noop payload --id $id --group g --backoff fixed:1h >/dev/null || fail "not enqueued"; done
prints lease 0 lease pulled --for 1m
expect_eq "$(member handle "$OUT") $(member attempt "$OUT") $(member payload "$OUT")" '"pulled/one" 1 "payload"'
token=$(member lease "$OUT" | tr -d '"')
prints heartbeat 0 heartbeat pulled/one --lease "$token" --for 2m
expect_eq "$(member for_ms "$OUT")" 120000
prints settle 0 settle pulled/one done --lease "$token" --result text
fails 1 refused settle pulled/one done --lease "$token"
fails 1 refused heartbeat pulled/one --lease "$token"
fails 2 usage settle pulled/one done --lease nonsense
fails 2 usage settle pulled/one done
fails 2 usage settle pulled/one finished --lease "$token"
fails 2 usage settle pulled/one done --lease "$token" --message m
fails 2 usage heartbeat pulled/one --lease nonsense
prints 'lease --exec' 0 lease pulled --exec 'cat'
expect_eq "$(member outcome "$OUT") $(member exit "$OUT") $(member signal "$OUT")" '"done" 0 null'
prints 'lease --exec' 1 lease pulled --exec 'kill -9 $$'
expect_eq "$(member outcome "$OUT") $(member exit "$OUT") $(member signal "$OUT")" '"retry" null 9'
prints 'lease --exec' 1 lease pulled --exec 'exit 3'
expect_eq "$(member outcome "$OUT") $(member exit "$OUT")" '"retry" 3'
fails 1 timeout lease pulled --exec true
for id in five six; do reeve enqueue pulled noop payload --id $id >/dev/null || fail "not enqueued"; done
prints lease 0 lease pulled/six
expect_eq "$(member handle "$OUT")" '"pulled/six"'
fails 1 refused lease pulled --id six
fails 1 not_found lease pulled/none
fails 2 usage lease pulled --id five --count 2
fails 2 usage lease pulled/five --wait 1s
prints 'lease --exec' 0 lease pulled --id five --exec true

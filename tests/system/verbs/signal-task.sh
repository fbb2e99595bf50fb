# reeve signal-task: what is told of a signal. For st_json.sh.
reeve enqueue w noop --id signalled --after '!approval' >/dev/null || fail "not enqueued"
prints why 0 why w/signalled
expect_has "$OUT" '"handle":"!approval"'
expect_status 0 reeve why w/signalled
expect_has "$OUT" "it waits for the signal approval"
prints signal-task 0 signal-task w/signalled approval '{"by":"ann"}'
expect_eq "$(member signal "$OUT")" '"approval"'
expect_status 1 reeve signal-task w/signalled approval no
expect_status 2 reeve signal-task w/signalled 'a b'
expect_status 1 reeve signal-task w/none approval

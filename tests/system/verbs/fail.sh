# reeve fail: tasks die by hand. For st_json.sh.
reeve enqueue by-hand noop --id one --unique k >/dev/null || fail "not enqueued"
prints fail 0 fail by-hand/one --kind odd --message 'no use'
prints show 0 show by-hand/one
expect_eq "$(member error_kind "$OUT") $(member error_message "$OUT")" '"odd" "no use"'
fails 1 state fail by-hand/one
fails 1 not_found fail by-hand/nope
fails 2 usage fail by-hand
reeve enqueue by-hand noop --id two >/dev/null || fail "not enqueued"
prints "fail QUEUE" 0 fail by-hand --id-prefix two
expect_has "$OUT" '"done":1'

# reeve forget: a queue goes. For st_json.sh.
reeve enqueue forgotten noop --id one >/dev/null || fail "not enqueued"
fails 1 state forget forgotten
prints forget 0 forget forgotten --all
expect_eq "$(member deleted "$OUT")" 1
fails 1 not_found forget forgotten
fails 2 usage forget

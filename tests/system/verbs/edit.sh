# reeve edit, reeve tag: tasks change. For st_json.sh.
reeve enqueue by-hand noop --id edited >/dev/null || fail "not enqueued"
prints edit 0 edit by-hand/edited --payload '{"a":1}' --priority 3 --group g --meta k=v
prints show 0 show by-hand/edited
expect_eq "$(member priority "$OUT") $(member group "$OUT")" '3 "g"'
prints tag 0 tag by-hand/edited --add red
fails 1 not_found edit by-hand/nope --priority 3
fails 2 usage edit by-hand/edited
fails 2 usage tag by-hand/edited

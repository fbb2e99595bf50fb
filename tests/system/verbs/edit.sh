# reeve edit, reeve tag: tasks change. For st_json.sh.
reeve enqueue by-hand noop --id edited >/dev/null || fail "not enqueued"
prints edit 0 edit by-hand/edited --payload '{"a":1}' --priority 3 --group g --meta k=v
prints show 0 show by-hand/edited
expect_eq "$(member priority "$OUT") $(member group "$OUT")" '3 "g"'
prints tag 0 tag by-hand/edited --add red
fails 1 not_found edit by-hand/nope --priority 3
fails 2 usage edit by-hand/edited
fails 2 usage tag by-hand/edited
prints "edit QUEUE" 0 edit by-hand --id-prefix edited --priority 4
prints "tag QUEUE" 0 tag by-hand --id-prefix edited --add blue --dry-run
prints "reschedule QUEUE" 0 reschedule by-hand --id-prefix edited --in 1h
prints "log QUEUE" 0 log by-hand --id-prefix edited --state scheduled --line 'looked at'
prints "depend QUEUE" 0 depend by-hand --id-prefix edited --after '!nod'

# reeve move: a task goes to another queue. For st_json.sh.
reeve enqueue by-hand noop --id moved >/dev/null || fail "not enqueued"
prints move 0 move by-hand/moved --to by-hand-too
prints show 0 show by-hand-too/moved
expect_has "$(member history "$OUT")" '"from":"by-hand"'
fails 1 not_found move by-hand/moved --to elsewhere
fails 2 usage move by-hand/moved
reeve enqueue by-hand noop --id moves >/dev/null || fail "not enqueued"
prints "move QUEUE" 0 move by-hand --id-prefix moves --to by-hand-too --limit 1
expect_has "$OUT" '"done":1'

# reeve unlock, reeve log, reeve cancel --reason. For st_json.sh.
reeve enqueue by-hand noop --id locked --unique 'a key' >/dev/null || fail "not enqueued"
prints unlock 0 unlock by-hand 'a key'
expect_eq "$(member holder "$OUT")" '"by-hand/locked"'
fails 1 not_found unlock by-hand 'a key'
fails 2 usage unlock by-hand
prints log 0 log by-hand/locked --line 'seen by ops'
prints "show --log" 0 show by-hand/locked --log
expect_has "$OUT" 'seen by ops'
fails 2 usage log by-hand/locked
prints cancel 0 cancel by-hand/locked --reason 'not needed'
prints show 0 show by-hand/locked
expect_eq "$(member cancel_reason "$OUT")" '"not needed"'

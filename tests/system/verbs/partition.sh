# reeve partition. For st_json.sh.
prints partition 0 partition divided 3
expect_eq "$(member partitions "$OUT")" 3
prints partition 0 partition divided
fails 2 usage partition divided 65
fails 2 usage partition
reeve enqueue divided noop --id d1 >/dev/null || fail "not enqueued"
prints show 0 show divided/d1
expect_eq "$(member handle "$OUT")" '"divided/d1"'
prints queues 0 queues divided

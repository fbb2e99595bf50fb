# reeve check: what is found, which makes it fail, and what is repaired. For st_json.sh.
reeve enqueue checked t --id lost >/dev/null
redis ZREM 'reeve:{checked}:ready' lost >/dev/null
prints check 1 check checked
expect_eq "$CODE" findings
expect_eq "$(member kind "$OUT") $(member repaired "$OUT")" '"task_lost" false'
prints check 0 check --repair checked
expect_eq "$(member repaired "$OUT")" true
expect_status 0 reeve --json check checked
expect_eq "$OUT$ERR" ""

# reeve batch: callbacks, members, counts. For st_json.sh.
prints 'batch open' 0 batch open --complete '{"queue":"batches","type":"noop","id":"all"}' --death '{"queue":"batches","type":"noop"}'
expect_eq "$(member success "$OUT") $(member complete "$OUT")" 'null "batches/all"'
death=$(member death "$OUT" | tr -d '"')
prints 'batch open' 0 batch open --success '{"queue":"batches","type":"noop"}'
fails 1 exists batch open --complete '{"queue":"batches","type":"noop","id":"all"}'
fails 2 usage batch open
fails 2 usage batch open --complete nonsense
fails 2 usage batch open --complete '{"queue":"batches","type":"noop"}' --queue q
fails 2 usage batch unpack
fails 2 usage batch show
fails 2 usage batch show batches/all "$death"
fails 2 usage batch show nohandle
fails 1 state batch close batches/nope
fails 1 not_found batch show batches/nope
printf '{"id":"m1"}\n{"id":"m2","type":"other"}\n{"id":"m 3"}\n' >"$TEST_DIR/members"
prints 'batch add' 1 batch add batches/all "$death" --queue batches --type noop <"$TEST_DIR/members"
expect_eq "$CODE" invalid
prints 'batch show' 0 batch show batches/all
expect_eq "$(member open "$OUT") $(member members "$OUT") $(member left "$OUT")" 'true 2 2'
prints 'batch wait' 7 batch wait batches/all --timeout 10ms
expect_eq "$CODE" timeout
prints 'batch close' 0 batch close "$death" batches/all
fails 1 state batch close "$death" batches/all
fails 1 state batch add batches/all </dev/null
prints 'batch show' 0 batch show "$death"
expect_eq "$(member open "$OUT") $(member members "$OUT")" 'false 2'
# list and cancel.
printf '{"id":"c1"}\n{"id":"c2"}\n' >"$TEST_DIR/members"
prints 'batch open' 0 batch open --complete '{"queue":"batches","type":"noop","id":"over"}' --success '{"queue":"batches","type":"noop","id":"good"}'
prints 'batch add' 0 batch add batches/over batches/good --queue cancels --type noop <"$TEST_DIR/members"
prints 'batch list' 0 batch list batches --limit 0
expect_has "$OUT" '"handle":"batches/over","queue":"batches","id":"over","callback":"complete","open":true,"members":2'
expect_has "$OUT" '"id":"good","callback":"success"'
expect_status 0 reeve batch list batches
expect_has "$OUT" "[----------]   0 %"
expect_status 0 reeve batch list batches --limit 1
expect_has "$ERR" "there may be more"
reeve lease cancels >/dev/null
prints 'batch cancel' 0 batch cancel batches/over --reason stop
expect_eq "$(member cancelled "$OUT") $(member asked "$OUT")" '1 1'
prints 'batch show' 0 batch show batches/over
expect_eq "$(member cancelled "$OUT") $(member left "$OUT")" '1 1'
expect_eq "$(of_task batches/over state) $(of_task cancels/c2 state)" '"blocked" "cancelled"'
expect_eq "$(of_task cancels/c2 cancel_reason)" '"stop"'
fails 1 not_found batch cancel batches/nope
fails 2 usage batch cancel nohandle
fails 2 invalid batch list 'no queue'

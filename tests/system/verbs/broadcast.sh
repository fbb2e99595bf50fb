# reeve broadcast: one line for each worker. For st_json.sh.
write_conf casts 'session = 2;' 'pools = ( { name = "p"; queues = [ "casts" ]; threads = 1; } );'
start_alone casts
wait_for 'reeve workers --json | grep -qF "[\"casts\"]"' 20
prints broadcast 0 broadcast casts echo '"all"' --wait 10s
expect_eq "$(member accepted "$OUT")" true
CAST=$(member handle "$OUT" | tr -d '"')
expect_status 0 reeve wait "$CAST" --timeout 20s
fails 1 not_found broadcast nowhere noop
fails 2 usage broadcast casts
for option in --group --weight --attempts --max-crashes --backoff --retry-for; do
    fails 2 usage broadcast casts noop $option 1
done
reeve signal casts quiet >/dev/null || fail "not quiet"
prints broadcast 1 broadcast casts noop
expect_eq "$(member accepted "$OUT")" false
kill "$WORKER_PID"
end "$WORKER_PID"

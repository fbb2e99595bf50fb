# reeve stack: the threads of a worker and what they run. For st_json.sh.
write_conf stacked 'session = 2;' 'pools = ( { name = "p"; queues = [ "stacked" ]; threads = 2; } );'
start_worker stacked
wait_for 'reeve --json signal stacked resume --wait 10s' 20
reeve enqueue stacked sleep '{"ms":60000}' --id long >/dev/null
wait_for 'are_busy stacked 1' 10
prints stack 0 stack stacked --wait 10s
expect_eq "$(grep -c '"handle":"stacked/long","type":"sleep"' "$TEST_DIR/out")" 1
prints stack 0 stack stacked p/1
expect_lines 1
fails 1 refused stack stacked p/99
fails 1 not_found stack nobody
fails 2 usage stack
fails 2 usage stack stacked "a b"
end "$WORKER_PID"

# reeve workers of a pool whose number of threads follows the work. For st_json.sh.
write_conf sized 'session = 2;' \
    'pools = ( { name = "p"; queues = [ "sized" ]; threads = { min = 1; max = 2; }; target_wait = 0.05; } );'
start_worker sized
reeve enqueue sized sleep '{"ms":1500}' >/dev/null
wait_for 'reeve workers --json | grep -q "\"decision\":\"1 to 2"' 20
prints workers 0 workers --pools
end "$WORKER_PID"
expect_eq "$ENDED" 0 "a worker whose pool grew"

# One whose tasks run in processes that are confined.
write_conf confined 'session = 2;' \
    'pools = ( { name = "p"; queues = [ "confined" ]; threads = 1; isolation = "process"; sandbox = { network = false; }; } );'
start_worker confined
reeve enqueue confined noop --wait=20 >/dev/null
wait_for 'reeve workers --json | grep -q "\"sandbox\":\""' 20
prints workers 0 workers --pools
end "$WORKER_PID"
expect_eq "$ENDED" 0 "a worker with a sandbox"

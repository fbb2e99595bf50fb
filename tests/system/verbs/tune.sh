# reeve tune of a pool of a live worker. For st_json.sh.
write_conf tuned 'session = 2;' 'pools = ( { name = "tuned"; queues = [ "tuned" ]; threads = 1; } );'
start_worker tuned
wait_for 'reeve workers --json | grep -q "\"name\":\"tuned\""' 20
prints tune 0 tune tuned --type sleep --payload '{"ms":2}' --for 50ms --max-threads 2
end "$WORKER_PID"
expect_eq "$ENDED" 0 "a worker whose pool was tuned"

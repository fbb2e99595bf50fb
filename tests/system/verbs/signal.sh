# reeve signal, threads, queues-of, log-level: what workers answer. For st_json.sh.
write_conf asked 'session = 2;' 'pools = ( { name = "p"; queues = [ "asked" ]; threads = 1; } );'
start_alone asked
wait_for 'reeve --json signal asked resume --wait 10s' 20
prints signal 0 signal asked quiet
expect_eq "$(member done "$OUT")" true
prints signal 0 signal --queue asked resume
prints signal 1 signal asked rotate-logs
expect_eq "$(member answered "$OUT") $(member done "$OUT")" "true false"
prints threads 0 threads asked p 3
wait_for 'reeve workers --json | grep -q "\"threads\":3"' 10
prints threads 0 threads asked p 3-5
wait_for 'reeve workers --json | grep -q "\"min_threads\":3,\"max_threads\":5"' 10
prints threads 0 threads asked p 3
prints threads 1 threads asked none 3
prints queues-of 0 queues-of asked p add more --weight 2
wait_for 'reeve workers --json | grep -qF "[\"asked\",\"more\"]"' 10
prints queues-of 0 queues-of asked p remove more
prints queues-of 1 queues-of asked p remove asked
prints log-level 0 log-level asked debug
fails 1 not_found signal nobody quiet
fails 1 not_found signal --queue nowhere quiet
fails 2 usage signal asked dance
fails 2 usage signal asked
fails 2 usage threads asked p 0
fails 2 usage threads asked p 1025
fails 2 usage threads asked p 3-2
fails 2 usage threads asked p 2-
fails 2 usage threads asked p -2
fails 2 usage queues-of asked p drop more
fails 2 usage log-level asked loud
# One that is frozen gives no answer in time, and answers later.
freeze "$WORKER_PID"
prints signal 1 signal asked quiet --wait 0.2s
expect_eq "$(member answered "$OUT")" false
kill -CONT "$WORKER_PID"
prints signal 0 signal asked stop --wait 20s
end "$WORKER_PID"
expect_eq "$ENDED" 0 "a worker that was told to stop"

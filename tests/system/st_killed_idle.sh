# st_killed_idle.sh - a worker that is killed while it is idle holds up no task: the others get what comes, long before its
# session has expired.
. "$(dirname "$0")/lib.sh"

idle() { redis LLEN "reeve:{q}:idle"; }

# Both workers have sessions, and all of their threads wait to be handed a task.
both_wait() {
    local i
    for ((i = 0; i < 8; i++)); do echo '{"type":"sleep","payload":{"ms":200}}'; done | bulk q || exit 1
    wait_for '[ "$(in_queue q running)" = 0 ] && [ "$(redis ZCARD "reeve:{q}:ready")" = 0 ]' 20
}

start_redis
for name in first second; do
    write_conf $name 'session = 300;' 'pools = ( { queues = [ "q" ]; threads = 4; } );'
done
start_alone first
first=$WORKER_PID
start_alone second
second=$WORKER_PID
wait_for 'both_wait; [ "$(idle)" = 8 ]' 60
end "$first" KILL
for ((i = 0; i < 10; i++)); do
    expect_status 0 reeve enqueue q noop --wait=60
    expect_status 0 reeve enqueue q noop --priority -3 --wait=60
done
end "$second"
expect_eq "$ENDED" 0 "the exit status of the worker that lived"

# st_reap_refused.sh - a worker that may maintain a queue and may not bring the tasks of a dead session back tries that
# again every second, says so once, and brings them back as soon as it may.
. "$(dirname "$0")/lib.sh"

expiry() { redis ZRANGE 'reeve:{other}:sessions' 0 0 WITHSCORES | sed -n 2p; }
refused() { redis INFO errorstats | sed -n 's/^errorstat_NOPERM:count=\([0-9]*\).*/\1/p'; }

start_redis
redis ACL SETUSER w on '>pw' '~*' '&*' +@all -acl >/dev/null
write_conf first 'session = 1;' 'pools = ( { queues = [ "q" ]; threads = 2; } );'
write_conf second 'session = 1;' 'pools = ( { queues = [ "q", "other" ]; threads = 2; } );'
start_alone first
first=$WORKER_PID
for i in 1 2; do echo '{"type":"sleep","payload":{"ms":1000}}'; done | bulk q || exit 1
wait_for '[ "$(in_queue q running)" = 2 ]' 20
start_alone second --redis "$(redis_as w:pw)"
second=$WORKER_PID
expect_status 0 reeve enqueue other noop --wait=20
redis ACL SETUSER w -lrange >/dev/null # which reap needs, and maintain does not
kill -KILL "$first"

# Once a second, as long as heartbeats take to renew its other session for two seconds.
wait_for '[ "$(refused)" ] && [ "$(refused)" -ge 1 ]' 20
tries=$(refused) since=$(expiry)
wait_for '[ "$(expiry)" -ge $((since + 2000)) ]' 20
tries=$(($(refused) - tries))
[ $tries -le 20 ] || fail "$tries refused calls in some two seconds"
wait_for '[ "$(refused)" -ge 3 ]' 20
expect_eq "$(logged second session.reaped)" 0 "sessions that were reaped"
grep -q 'Redis refused the maintenance of a queue.*NOPERM reeve needs rights to LRANGE' "$TEST_DIR/second.log" ||
    fail "the log says: $(tail -n 3 "$TEST_DIR/second.log")"

redis ACL SETUSER w +lrange >/dev/null
# (The command line would reap the session itself.)
wait_for '[ "$(redis ZCARD "reeve:{q}:completed")" = 2 ]' 20
wait_for '[ "$(logged second session.reaped)" = 1 ]' 10 # (the log follows the call)
end "$second"
expect_eq "$ENDED" 0 "the worker's exit status"

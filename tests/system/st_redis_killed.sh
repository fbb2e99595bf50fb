# st_redis_killed.sh - Redis is killed and comes back, again and again: nothing that was acknowledged is lost.
#
# Producer and workers are at work while Redis, with its append-only file written through, dies by SIGKILL. A worker that
# finds it back in time delivers the results that it kept; one outage lasts longer than the worker's session.
. "$(dirname "$0")/lib.sh"

PART=250 OUTAGES=4
PASSWORD=pass-word_4711

export REDISCLI_AUTH=$PASSWORD
restart_redis() {
    start_redis --appendonly yes --appendfsync always --auto-aof-rewrite-percentage 0 --requirepass "$PASSWORD"
    export REEVE_REDIS=unix://:$PASSWORD@$REDIS_SOCKET
}

# Parts of the input until told to stop; what is acknowledged is in $TEST_DIR/acknowledged.
enqueue_parts() {
    local status
    while [ ! -e "$TEST_DIR/enough" ]; do
        seq $PART | LC_ALL=C awk '{ print $1 % 3 ? "{\"type\":\"noop\"}" : "{\"type\":\"sleep\",\"payload\":{\"ms\":3}}" }' |
            reeve enqueue --bulk q >>"$TEST_DIR/acknowledged" 2>>"$TEST_DIR/enqueue.log"
        status=$?
        # (3: Redis is away. 4: a reply was lost, and could not be had again in time.)
        [[ $status =~ ^[034]$ ]] || echo "$status" >>"$TEST_DIR/odd"
        sleep 0.1
    done
}

acknowledged() { wc -l <"$TEST_DIR/acknowledged"; }
completed() { redis ZCARD 'reeve:{q}:completed'; }

restart_redis
write_conf worker 'session = 3;' \
    'pools = ( { queues = [ "q" ]; threads = 4; } );' \
    'handlers = ( { type = "sleep"; max_crashes = 1000; }, { type = "noop"; max_crashes = 1000; } );' \
    'queues = ( { name = "q"; keep = { completed = { age = -1; count = -1; }; }; } );'
start_worker worker
enqueue_parts &
own $!
enqueuing=$!

lost=
for ((i = 1; i <= OUTAGES; i++)); do
    more=$(($(completed) + 3 * PART))
    wait_for '[ "$(completed)" -ge $more ]' 30
    downs=$(logged worker redis.down)
    began=$(date +%s%N)
    stop_redis KILL
    wait_for '[ "$(logged worker redis.down)" -gt $downs ]' 10
    # (The third time it takes longer than the session lives.)
    if [ $i = 3 ]; then sleep 3.5; else sleep 0.3; fi
    restart_redis
    wait_for '[ "$(logged worker redis.up)" = "$(logged worker redis.down)" ]' 10
    # Until then no lease was lost. (The last heartbeat came up to a second before.)
    [ $((($(date +%s%N) - began) / 1000000)) -lt 2000 ] || lost=1
    [ -n "$lost" ] || expect_eq "$(redis HGET 'reeve:{q}:counters' crashed)" "" "recovered tasks"
done
more=$(($(acknowledged) + 2 * PART))
wait_for '[ "$(acknowledged)" -ge $more ]' 30
touch "$TEST_DIR/enough"
wait $enqueuing

wait_for 'is_still q "$(completed)" 0' 60
kill -0 "$WORKER_PID" || fail "the worker died"
end "$WORKER_PID"
expect_eq "$ENDED" 0 "the worker's exit status"
[ ! -e "$TEST_DIR/odd" ] || fail "enqueue ended with $(cat "$TEST_DIR/odd")"

# Of what was not acknowledged some was enqueued all the same: its reply was lost.
aof_ended ':completed' | sort >"$TEST_DIR/accepted"
expect_eq "$(uniq -d "$TEST_DIR/accepted" | head -n 3)" "" "accepted twice"
expect_eq "$(sed 's,^q/,,' "$TEST_DIR/acknowledged" | sort | comm -23 - "$TEST_DIR/accepted" | head -n 3)" "" \
    "acknowledged, but not completed"
expect_eq "$(sed 's,^q/,,' "$TEST_DIR/acknowledged" | sort | uniq -d | head -n 3)" "" "acknowledged twice"
expect_eq "$(completed)" "$(wc -l <"$TEST_DIR/accepted")"

# One line for each beginning and end. (Two if a thread fails to connect and says so when another has just done it.)
changes=$(sed -n 's/.* event=redis\.\(down\|up\) .*/\1/p' "$TEST_DIR/worker.log" | paste -sd' ')
[[ "$changes " =~ ^("down up "){4,8}$ ]] || fail "the log of outages: $changes"
grep -l "$PASSWORD" "$TEST_DIR/worker.log" "$TEST_DIR/enqueue.log" && fail "the password is in a log"
echo "$(acknowledged) acknowledged, $(wc -l <"$TEST_DIR/accepted") completed," \
    "$(logged worker task.refused) outcomes refused, $(in_queue q crashed_total) tasks recovered"

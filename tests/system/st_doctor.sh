# st_doctor.sh - `reeve ping` and `reeve doctor`: a sound Redis with a worker, and what is found where something is wrong.
. "$(dirname "$0")/lib.sh"

# found STATUS NAME [QUEUE]: doctor ends with STATUS and has that finding (of that queue), with advice.
found() {
    expect_status "$1" reeve doctor --json
    expect_has "$OUT" "\"finding\":\"$2\",\"queue\":${3:-null},"
    expect_lacks "$OUT" '"advice":null'
}
# lacks NAME...: no such finding.
lacks() {
    local name
    for name; do expect_lacks "$(reeve doctor --json 2>/dev/null)" "\"finding\":\"$name\""; done
}

pinged() {
    local mode=standalone
    [ "${REEVE_TEST_OVER:-unix}" != cluster ] || mode=cluster
    expect_status 3 reeve ping --redis "unix://$TEST_DIR/none.sock"
    expect_status 0 reeve ping
    expect_has "$OUT" "$(redis INFO server | sed -n 's/^redis_version:\([0-9.]*\).*/\1/p'), $mode, master"
    expect_has "$OUT" "round trip:"
    expect_status 0 reeve ping --json
    expect_eq "$(member role "$OUT") $(member max_memory_bytes "$OUT")" '"master" null'
    [ "$(member best_us "$OUT")" -gt 0 ] || fail "no round trip: $OUT"
    expect_status 2 reeve ping q
}

sound() {
    write_conf one 'session = 2; log = { level = "error"; };' 'pools = ( { queues = [ "q" ]; threads = 1; } );'
    start_alone one
    expect_status 0 reeve enqueue q noop --wait=30
    expect_status 0 reeve doctor --strict
    expect_has "$OUT" "0 problems, 0 warnings; Redis 7"
    expect_status 0 reeve doctor --json
    expect_silent
    expect_quiet
    expect_status 2 reeve doctor 'no queue'
    expect_status 0 reeve doctor mailx
    expect_has "$OUT" "warning: queue mailx: there is no such queue"
    expect_status 1 reeve doctor --strict mailx q
    expect_status 0 reeve doctor --strict q~0
    expect_has "$OUT" "0 problems, 0 warnings"
}

# Without a URL, commands use a private Redis. Those that find nothing there note that.
private() {
    local words none="REEVE_REDIS is not set, and --redis not given: this is the private Redis of unix://$TEST_DIR/state/"
    while read -r words; do
        # shellcheck disable=SC2086
        run env -u REEVE_REDIS XDG_STATE_HOME="$TEST_DIR/state" "$REEVE" $words
        expect_has "$ERR" "$none"
    done <<'END'
workers
queues
stats
doctor
show q/none
signal all quiet
END
    run reeve show q/none
    expect_lacks "$ERR" "private"
}

# All workers of a queue with tasks are quiet.
quiet() {
    expect_status 0 reeve signal one quiet
    expect_status 0 reeve enqueue q noop
    wait_for 'reeve doctor --json | grep -q "\"finding\":\"quiet\",\"queue\":\"q\""' 20
    expect_has "$(reeve doctor)" "what to do: reeve signal --queue QUEUE resume, if they are quiet"
    expect_status 0 reeve signal one resume
    wait_for '[ "$(in_queue q ready)" = 0 ]' 20
}

# A worker that cannot answer may still do what it is asked.
unanswered() {
    kill -STOP "$WORKER_PID"
    expect_status 1 reeve signal one rotate-logs --wait 200ms
    kill -CONT "$WORKER_PID"
    expect_has "$OUT" "one: no answer"
    expect_has "$ERR" "no answer: the log of a worker that has received the request has event=control.request"
    wait_for '[ "$(reeve workers --json | grep -c "\"name\":\"one\"")" = 1 ]' 20
}

# The attempts of a task without a handler fail, so it is scheduled most of the time.
unhandled() {
    expect_status 0 reeve enqueue q unheard-of --id odd --in 1h
    expect_status 0 reeve why q
    expect_has "$OUT" "has no handler for type unheard-of, of q/odd"
    found 1 no_handler '"q"'
    expect_status 0 reeve delete q/odd
    lacks no_handler
}

# What the server is like.
servers() {
    redis CONFIG SET maxmemory-policy allkeys-lru >/dev/null
    found 0 evicts
    expect_has "$OUT" '"level":"warning"'
    expect_status 1 reeve doctor --strict
    expect_has "$OUT" "maxmemory-policy is allkeys-lru"
    expect_has "$OUT" "what to do: CONFIG SET maxmemory-policy noeviction"
    redis CONFIG SET maxmemory 1gb >/dev/null
    found 1 evicts
    expect_eq "$(member error "$ERR")" '"findings"'
    redis CONFIG SET maxmemory-policy noeviction >/dev/null
    lacks evicts memory
    # So much that the buffers of connections do not count.
    redis SETRANGE ballast 30000000 x >/dev/null
    redis CONFIG SET maxmemory "$(($(redis INFO memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p') * 105 / 100))" >/dev/null
    found 1 memory
    redis CONFIG SET maxmemory 0 >/dev/null
    redis DEL ballast >/dev/null
    redis CONFIG SET appendonly no >/dev/null
    found 1 volatile
    redis CONFIG SET save "3600 1" >/dev/null
    found 0 saves_only
    redis CONFIG SET appendonly yes save "" >/dev/null
    wait_for 'redis INFO persistence | grep -q "^aof_rewrite_in_progress:0"' 30
    lacks volatile saves_only
}

# A replica answers, and says so.
replica() {
    local socket=$TEST_DIR/replica.sock pid
    redis-server --port 0 --unixsocket "$socket" --dir "$TEST_DIR" --save '' --replicaof 127.0.0.1 1 >/dev/null 2>&1 &
    pid=$!
    own "$pid"
    wait_for '[ "$(redis_at "'"$socket"'" PING 2>/dev/null)" = PONG ]' 30
    expect_status 0 reeve ping --redis "unix://$socket"
    expect_has "$OUT" "slave"
    expect_status 1 reeve doctor --redis "unix://$socket"
    expect_has "$OUT" "a replica without a connection to its master"
    end "$pid"
}

# A master that waits before it sends its data to a replica, and one whose replica has all.
replicas() {
    local one=$TEST_DIR/one other=$TEST_DIR/other port master replica
    port=$(free_port)
    mkdir -p "$one" "$other"
    redis-server --port "$port" --bind 127.0.0.1 --unixsocket "$one/s" --dir "$one" --save '' --appendonly yes \
        --repl-diskless-sync yes --repl-diskless-sync-delay 3600 >/dev/null 2>&1 &
    master=$!
    own "$master"
    wait_for '[ "$(redis_at "'"$one/s"'" PING 2>/dev/null)" = PONG ]' 30
    redis-server --port 0 --unixsocket "$other/s" --dir "$other" --save '' --replicaof 127.0.0.1 "$port" >/dev/null 2>&1 &
    replica=$!
    own "$replica"
    wait_for 'redis_at "'"$one/s"'" INFO replication | grep -q state=wait_bgsave' 30
    expect_status 0 reeve doctor --redis "unix://$one/s"
    expect_has "$OUT" "the replica of this Redis is not in sync: a failover to it loses tasks"
    redis_at "$one/s" CONFIG SET repl-diskless-sync-delay 0 >/dev/null
    wait_for 'redis_at "'"$one/s"'" INFO replication | grep -q state=online' 30
    expect_status 0 reeve doctor --redis "unix://$one/s"
    [[ $OUT != *"not in sync"* ]] || fail "$OUT"
    end "$replica"
    end "$master"
}

rights() {
    redis ACL SETUSER few on '>pw' '~reeve:*' +@all -zadd -hset >/dev/null
    expect_status 1 reeve doctor --redis "$(redis_as few:pw)" --json
    expect_has "$OUT" '"finding":"rights","queue":null,"text":"the Redis user few may not call HSET, ZADD on reeve:{default}:*'
    expect_has "$OUT" '"finding":"channels"'
    # One who may do next to nothing.
    redis ACL SETUSER none on '>pw' resetkeys -@all +auth +hello +client +select '+cluster|slots' '+cluster|shards' >/dev/null
    expect_status 1 reeve doctor --redis "$(redis_as none:pw)"
    expect_has "$OUT" "NOPERM"
    expect_has "$OUT" "scripts cannot be called"
    redis ACL SETUSER all on '>pw' '~*' '&*' +@all >/dev/null
    expect_status 0 reeve doctor --redis "$(redis_as all:pw)" --strict
}

queues() {
    reeve enqueue lone noop --in 1h >/dev/null || fail "not enqueued"
    found 0 unserved '"lone"'
    reeve enqueue lone noop >/dev/null || fail "not enqueued"
    found 1 unserved '"lone"'
    expect_status 0 reeve doctor q
    expect_status 1 reeve doctor lone
    expect_has "$OUT" "problem: queue lone: no live worker serves it, and 2 tasks wait there"
    for state in ready scheduled; do reeve delete lone --all --state $state >/dev/null || fail "not deleted"; done
    lacks unserved
    reeve enqueue q fail '{"kind":"k","message":"m"}' --attempts 1 --wait=30 >/dev/null 2>&1
    found 0 dead '"q"'
    expect_has "$OUT" '"count":1'
    reeve purge q --all --state dead >/dev/null || fail "not purged"
    reeve pause q >/dev/null
    reeve enqueue q nosuch --id odd >/dev/null || fail "not enqueued"
    found 1 no_handler '"q"'
    found 1 paused '"q"'
    reeve delete q/odd >/dev/null || fail "not deleted"
    reeve resume q >/dev/null
    redis RPUSH 'reeve:{q}:unread' 'odd message' >/dev/null
    found 0 unread '"q"'
    redis DEL 'reeve:{q}:unread' >/dev/null
}

# A second worker with the name of the first one, and one that takes the place of one that died.
names() {
    local first=$WORKER_PID second
    lacks same_name
    expect_eq "$(logged one worker.same_name)" 0
    sed 's/level = "error"/level = "warn"/' "$TEST_DIR/one.conf" >"$TEST_DIR/two.conf"
    start_alone two
    second=$WORKER_PID
    wait_for '[ "$(logged two worker.same_name)" = 1 ]' 30
    expect_has "$(grep worker.same_name "$TEST_DIR/two.log")" " name=one "
    expect_has "$(grep worker.same_name "$TEST_DIR/two.log")" " pid=$second other_worker="
    expect_has "$(grep worker.same_name "$TEST_DIR/two.log")" " other_pid=$first"
    wait_for '[ "$(reeve workers --json | grep -c .)" = 2 ]' 30
    found 0 same_name
    expect_has "$OUT" "process $first on"
    expect_has "$OUT" "process $second on"
    end "$second" KILL
    sed -i 's/name = "one"/name = "two"/' "$TEST_DIR/two.conf"
    start_alone two
    second=$WORKER_PID
    wait_for '[ "$(reeve workers --json | grep -c \"name\":\"two\")" = 1 ]' 30
    end "$second" KILL
    start_alone two
    second=$WORKER_PID
    wait_for 'reeve workers --json | grep -q "\"pid\":$second,"' 30
    expect_eq "$(logged two worker.same_name)" 1 "the record of a dead process is no worker"
    end "$second"
    WORKER_PID=$first
}

# The worker is killed while it runs a task: nobody takes it back.
stalled() {
    reeve enqueue q sleep '{"ms":600000}' --id long >/dev/null || fail "not enqueued"
    wait_for '[ "$(of_task q/long state)" = "\"running\"" ]' 30
    lacks stalled unmaintained
    end "$WORKER_PID" KILL
    wait_for 'reeve doctor --json 2>/dev/null | grep -q "\"finding\":\"unmaintained\""' 30
    found 1 stalled '"q"'
    # It changes nothing.
    found 1 stalled '"q"'
}

start_redis --appendonly yes
pinged
private
sound
quiet
unanswered
unhandled
servers
replica
replicas
rights
queues
names
stalled

# st_gone.sh - waiting for tasks whose records are not kept; a Redis that does not let a worker in, or does not keep anything.
. "$(dirname "$0")/lib.sh"

skip_over acl "workers may not read the configuration of Redis"

start_redis
cat >"$TEST_DIR/gone.conf" <<END
redis = "$REDIS_URL";
plugins = [ "$PLUGIN_DIR/sample.so" ];
pools = ( { queues = [ "q" ]; threads = 2; } );
END

# ---- nothing is kept: a completed task is told as completed, however fast it was ----------------------------------------
expect_status 0 reeve settings q --keep-completed none
start_worker gone
for i in 1 2 3 4 5 6 7 8; do
    expect_status 0 reeve enqueue q noop --wait=20s
    expect_eq "$ERR" ""
done
expect_status 0 reeve --json enqueue q noop --wait=20s
expect_status 1 reeve wait q/none
wait_for "[ \"\$(logged gone worker.started)\" -ge 1 ]" 30; end "$WORKER_PID"

# ---- a task that somebody deletes while its producer waits has not completed ------------------------------------------------
"$REEVE" enqueue later noop --id gone --in 1h --wait >"$TEST_DIR/waiter.out" 2>"$TEST_DIR/waiter.err" &
waiter=$!
own "$waiter"
expect_status 0 reeve settings later --keep-completed none
wait_for '[ -n "$(redis ZSCORE "reeve:{later}:waiters" gone)" ]' 20
expect_status 0 reeve delete later/gone
end "$waiter" CONT
expect_eq "$ENDED" 1 "exit status of enqueue --wait for a deleted task"
expect_has "$(cat "$TEST_DIR/waiter.err")" "later/gone was deleted"

# ---- the first look at Redis ----------------------------------------------------------------------------------------------
redis CONFIG SET maxmemory-policy allkeys-lru >/dev/null
redis CONFIG SET appendonly no >/dev/null
redis CONFIG SET save "" >/dev/null
start_worker gone
wait_for '[ "$(logged gone redis.evicts)" = 1 ]' 30
wait_for '[ "$(logged gone redis.volatile)" = 2 ]' 30 # (it had no persistence before, either)
end "$WORKER_PID"

redis CONFIG SET requirepass secret >/dev/null
expect_status 1 timeout 60 "$REEVE_WORKER" -c "$TEST_DIR/gone.conf"
grep -q NOAUTH "$TEST_DIR/err" || fail "the reason is not told"
export REEVE_REDIS
REEVE_REDIS=$(redis_as :wrong)
expect_status 1 timeout 60 "$REEVE_WORKER" -c "$TEST_DIR/gone.conf"
grep -q WRONGPASS "$TEST_DIR/err" || fail "the reason is not told"

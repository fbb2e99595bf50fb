# st_wait_replicas.sh - `enqueue --wait-replicas N`: confirmed when N replicas have the task; else it is enqueued all the same,
# and the status says so.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_sentinel.sh"

start_server master
MASTER=$PORT
start_server replica --replicaof "127.0.0.1 $MASTER"
wait_for 'redis_at "$MASTER" INFO replication | grep -q "slave0:.*state=online"' 20
export REEVE_REDIS=redis://127.0.0.1:$MASTER

expect_status 0 reeve enqueue q echo x --wait-replicas 1 --wait-replicas-for 60
expect_quiet
seq 3 | sed 's/.*/{"payload":"&"}/' >"$TEST_DIR/lines"
expect_status 0 reeve enqueue --bulk q echo --wait-replicas 1 --wait-replicas-for 60 <"$TEST_DIR/lines"
expect_lines 3

expect_status 4 reeve enqueue q echo y --id y --wait-replicas 2 --wait-replicas-for 0.01
expect_eq "$OUT" q/y
expect_has "$ERR" "q/y: enqueued, but 1 of 2 replicas confirmed it within 10 ms"
expect_status 4 reeve enqueue q echo z --id z --wait-replicas 2 --wait-replicas-for 0.01 --json
expect_has "$ERR" '"error":"unconfirmed"'
expect_status 0 reeve show q/y q/z
expect_status 4 reeve enqueue --bulk q echo --wait-replicas 2 --wait-replicas-for 0.01 <"$TEST_DIR/lines"
expect_lines 3
expect_has "$ERR" "line 1: enqueued, but 1 of 2 replicas"
expect_eq "$(in_queue q ready)" 9
expect_status 2 reeve enqueue q echo --wait-replicas-for 1

# A user without the right to WAIT is told.
redis_at "$MASTER" ACL SETUSER w on '>p' '~*' '&*' +@all -wait >/dev/null
expect_status 4 reeve --redis "redis://w:p@127.0.0.1:$MASTER" enqueue q echo v --wait-replicas 1
expect_has "$ERR" NOPERM

# ---- on the disk ----------------------------------------------------------------------------------------------------

# A Redis before 7.2 is told; a later one has it.
run reeve enqueue q echo d --wait-disk
case $(redis_at "$MASTER" COMMAND INFO waitaof) in
*waitaof*) expect_eq "$STATUS" 0 "--wait-disk" ;;
*)
    expect_eq "$STATUS" 4
    expect_has "$ERR" "this Redis has no WAITAOF"
    expect_has "$ERR" "7.2"
    ;;
esac

# A server on which another command of the same form has the name: "WAITAOF 1 R MS" tells whether a set named "1" has R and MS.
start_server late --rename-command SMISMEMBER WAITAOF
LATE=$PORT
export REEVE_REDIS=redis://127.0.0.1:$LATE
expect_status 4 reeve enqueue q echo x --wait-disk --wait-replicas-for 0.5
expect_has "$ERR" "the append-only file has it not on the disk after 500 ms"
redis_at "$LATE" SADD 1 0 >/dev/null
expect_status 0 reeve enqueue q echo x --wait-disk --wait-replicas-for 0.5
expect_quiet
redis_at "$LATE" SADD 1 1 >/dev/null
expect_status 4 reeve enqueue q echo x --wait-disk --wait-replicas 1 --wait-replicas-for 0.5
expect_has "$ERR" "0 of 1 replicas confirmed"
redis_at "$LATE" SADD 1 500 >/dev/null
expect_status 0 reeve enqueue q echo x --wait-disk --wait-replicas 1 --wait-replicas-for 0.5
expect_eq "$(in_queue q ready)" 4

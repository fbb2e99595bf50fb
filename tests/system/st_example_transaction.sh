# st_example_transaction.sh - the example transaction: an order and its task come together, in one MULTI of the program.
. "$(dirname "$0")/lib.sh"

TRANSACTION="$REEVE_BUILD/examples/transaction"
[ -x "$TRANSACTION" ] || { echo "built without the examples: skipped"; exit 77; }

skip_over cluster "a transaction of an enqueue has keys of several hash slots"
start_redis
expect_status 0 "$TRANSACTION" "$REDIS_SOCKET" 7 8
expect_eq "$OUT" "invoices/7
invoices/8"
expect_eq "$(redis HGET order:7 state) $(redis HGET order:8 state)" "paid paid"
expect_eq "$(of_task invoices/7 state)" '"ready"'
expect_eq "$(in_queue invoices ready)" 2

# An order that is paid again is not invoiced again.
expect_status 0 "$TRANSACTION" "$REDIS_SOCKET" 7
expect_eq "$OUT" "invoices/7"
expect_has "$ERR" "exists already"
expect_eq "$(in_queue invoices ready)" 2

# Workers run the tasks.
write_conf w "" 'pools = ( { name = "p"; queues = [ "invoices" ]; threads = 1; } );'
start_worker w
expect_status 0 reeve wait invoices/8
expect_has "$OUT" 8
expect_status 0 "$TRANSACTION" "$REDIS_SOCKET" 9
expect_status 0 reeve wait invoices/9

# What Redis refuses as a whole leaves neither.
redis CONFIG SET maxmemory 1 >/dev/null
expect_status 1 "$TRANSACTION" "$REDIS_SOCKET" 10
expect_has "$ERR" "EXECABORT"
redis CONFIG SET maxmemory 0 >/dev/null
expect_eq "$(redis EXISTS order:10)" 0
expect_status 1 reeve show invoices/10
expect_status 2 "$TRANSACTION"
expect_status 3 "$TRANSACTION" /nonexistent/redis.sock 1
end "$WORKER_PID"

# st_format.sh - a namespace whose data a newer release has changed: what the command line and the worker report.
. "$(dirname "$0")/lib.sh"

start_redis
expect_status 0 reeve enqueue q t hello
expect_eq "$(redis GET reeve:format)" 1
redis SET reeve:format 2 >/dev/null
before=$(redis DBSIZE)
words="the data of namespace reeve have format 2 (reeve:format), and this release of reeve reads formats up to 1"
expect_status 3 reeve enqueue q t again
expect_has "$ERR" "$words"
expect_status 3 reeve list q
expect_has "$ERR" "use a newer release, or another namespace"
write_conf late "" 'pools = ( { name = "p"; queues = [ "q" ]; threads = 1; } );'
run "$REEVE_WORKER" -c "$TEST_DIR/late.conf"
[ "$STATUS" != 0 ] || fail "the worker starts"
expect_has "$ERR" "$words"
expect_eq "$(redis DBSIZE)" "$before"
# An older one is read.
redis SET reeve:format 0 >/dev/null
expect_status 0 reeve list q

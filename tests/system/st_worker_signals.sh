#!/usr/bin/env bash
# reeve-worker as a process: a Redis that comes late, settings of queues, every signal, the end of its drain, and what it
# tells a service manager.
. "$(dirname "$0")/lib.sh"
cd "$TEST_DIR" || exit 1
export REEVE_PLUGIN_DIR=$PLUGIN_DIR
# A worker that goes at once leaves threads behind on purpose.
export TSAN_OPTIONS="report_thread_leaks=0 ${TSAN_OPTIONS:-}"

cat >worker.conf <<END
worker = { session = 5; drain = 6; };
plugins = [ "sample" ];
pools = ( { name = "p"; queues = [ "a" ]; threads = 2; batch = 1; } );
queues = ( { name = "a"; keep = { completed = { age = 1000; count = 7; }; }; } );
END

# start_worker [ARGUMENT...]: in the background, its log in the file log.
start_worker() {
    : >log
    "$REEVE_WORKER" -c worker.conf "$@" 2>log &
    WORKER=$!
    own "$WORKER"
    wait_for 'grep -q event=worker.started log' 20
}
logged() { grep -q "$1" log; }
# expect_end STATUS: the worker ends by itself with this status.
expect_end() {
    local status=0
    wait "$WORKER" || status=$?
    expect_eq "$status" "$1" "exit status of the worker; its log: $(cat log)"
}
workers_alive() { "$REEVE" --json workers | grep -c '"worker"'; }
# (Of lib.sh, for this worker.)
are_busy() { kill -USR1 "$WORKER"; sleep 0.05; grep event=program.stats log | tail -n 1 | grep -Eq " busy=$1( |$)"; }
state_of() { "$REEVE" --json show "a/$1" 2>/dev/null | sed -n 's/.*"state":"\([a-z]*\)".*/\1/p'; }

# ---- a Redis that is not there yet --------------------------------------------------------------------------------------

REDIS_DIR=$TEST_DIR/redis
# shellcheck disable=SC2034 # (choose_transport reads it)
REDIS_SOCKET=$REDIS_DIR/redis.sock
choose_transport
start_worker --redis "$REDIS_URL"
wait_for 'logged event=redis.down' 20
start_redis
wait_for 'logged event=redis.up' 20
expect_eq "$(grep -c event=redis.down log)" 1 "the outage is told once"
wait_for '[ "$(redis HGET "reeve:{a}:settings" completed_count)" = 7 ]' 20
expect_eq "$(redis HGET 'reeve:{a}:settings' completed_age)" 1000000
id=$("$REEVE" enqueue a echo '"hello"')
expect_status 0 "$REEVE" wait "$id"

# ---- a plugin with a thread of its own: signals still reach the worker ----------------------------------------------------

sed "s,\"sample\",\"sample\"\, \"$REEVE_BUILD/tests/plugins/threaded.so\"," worker.conf >threaded.conf
"$REEVE_WORKER" -c threaded.conf --redis "$REDIS_URL" 2>threaded.log &
threaded=$!
own "$threaded"
wait_for 'grep -q event=worker.started threaded.log' 20
kill -USR1 "$threaded"
wait_for 'grep -q event=program.stats threaded.log' 10
kill -TERM "$threaded"
end "$threaded" CONT
expect_eq "$ENDED" 0 "exit status of a worker whose plugin has a thread: $(cat threaded.log)"

# ---- closed standard streams: what is logged goes into no connection -----------------------------------------------------

before=$(redis INFO errorstats | grep -c errorstat_)
"$REEVE_WORKER" -c worker.conf --redis "$REDIS_URL" 0<&- 1>&- 2>&- &
closed=$!
own "$closed"
wait_for '[ "$(workers_alive)" = 2 ]' 20
kill -USR1 "$closed" && kill -HUP "$closed"
kill -TERM "$closed"
end "$closed" CONT
expect_eq "$ENDED" 0 "exit status of a worker without standard streams"
expect_eq "$(redis INFO errorstats | grep -c errorstat_ERR)" 0 "kinds of errors (before: $before)"

# ---- USR1, HUP, TSTP, TERM ----------------------------------------------------------------------------------------------

kill -USR1 "$WORKER"
wait_for 'logged event=program.stats' 10
expect_has "$(grep event=program.stats log)" "completed=1 failed=0"
kill -HUP "$WORKER"
wait_for 'logged event=program.reloaded' 10
expect_has "$(grep event=program.reloaded log)" "changes=0 at_next_start=0"
"$REEVE" enqueue --id long a sleep '{"ms":4000}' >/dev/null
wait_for 'are_busy 1' 10
kill -TSTP "$WORKER"
wait_for 'logged event=worker.quiet' 10
"$REEVE" enqueue --id later a noop >/dev/null
wait_for '[ "$(state_of long)" = completed ]' 10
expect_eq "$(state_of later)" ready "a quiet worker takes nothing"
kill -CONT "$WORKER"
wait_for '[ "$(state_of later)" = completed ]' 10
kill -USR2 "$WORKER"
wait_for 'logged event=log.rotate' 10
# A worker that drains does not resume.
"$REEVE" enqueue --id drained a sleep '{"ms":2000}' >/dev/null
wait_for 'are_busy 1' 10
kill -TERM "$WORKER"
wait_for 'logged event=program.stopping' 10
"$REEVE" enqueue --id later2 a noop >/dev/null
kill -CONT "$WORKER"
expect_status 1 "$REEVE" signal all resume
expect_has "$OUT" "refused: the worker is stopping"
expect_end 0
expect_eq "$(state_of later2)" ready "a worker that drains takes nothing"
expect_has "$(grep event=program.ended log)" "completed=4"
expect_eq "$(workers_alive)" 0 "workers after the end"

# ---- INT lets a running task finish within the drain, and takes no other -------------------------------------------------

start_worker
wait_for '[ "$(state_of later2)" = completed ]' 10
"$REEVE" enqueue --id inside a sleep '{"ms":3000}' >/dev/null
wait_for 'are_busy 1' 10
kill -INT "$WORKER"
expect_end 0
expect_eq "$(state_of inside)" completed
expect_lacks "$(cat log)" "past the deadline"

# ---- what runs longer is given back: after the drain, or at once when told again -----------------------------------------

# The sample plugin's sleep notices that it should stop; a stopped worker must not count an attempt either way.
start_worker
"$REEVE" enqueue --id outlasts a sleep '{"ms":60000}' >/dev/null
wait_for 'are_busy 1' 10
began=$(date +%s%N)
kill -TERM "$WORKER"
expect_end 0
took=$((($(date +%s%N) - began) / 1000000))
[ "$took" -ge 5900 ] || fail "the drain of 6 s took $took ms"
wait_for '[ "$(state_of outlasts)" = ready ]' 10
expect_lacks "$("$REEVE" --json show a/outlasts)" '"failures":1'

sed -i 's/drain = 6;/drain = 60;/' worker.conf
start_worker
wait_for 'are_busy 1' 10
kill -TERM "$WORKER"
wait_for 'logged event=program.stopping' 10
kill -TERM "$WORKER"
expect_end 0
expect_has "$(cat log)" "told again to stop"
wait_for '[ "$(state_of outlasts)" = ready ]' 10
"$REEVE" cancel a/outlasts >/dev/null

# ---- Redis gone at the end: an outcome waits for it until the drain ends, or until told again ------------------------------

sed -i 's/session = 5;/session = 60;/' worker.conf
start_worker
"$REEVE" enqueue --id orphan a sleep '{"ms":3000}' >/dev/null
wait_for 'are_busy 1' 10
stop_redis KILL
wait_for 'are_busy 0' 10
began=$(date +%s)
kill -TERM "$WORKER"
wait_for 'logged event=program.stopping' 10
wait_for '! kill -TERM "$WORKER" 2>/dev/null' 20
expect_end 0
expect_has "$(cat log)" "going without a word to Redis"
[ $(($(date +%s) - began)) -lt 40 ] || fail "the worker waited for Redis although it was told again"
start_redis

# ---- the log as JSON, and its level ---------------------------------------------------------------------------------------

sed -i 's/drain = 60;/drain = 2; log = { format = "json"; level = "warn"; };/' worker.conf
"$REEVE_WORKER" -c worker.conf 2>log &
WORKER=$!
own "$WORKER"
wait_for '[ "$(workers_alive)" = 1 ]' 20
sed -i 's/session = 60;/session = 59;/' worker.conf
kill -HUP "$WORKER"
wait_for 'logged program.reload' 10
kill -TERM "$WORKER"
expect_end 0
expect_eq "$(grep -vc '^{"time":".*"level":"\(warn\|error\)",.*}$' log)" 0 "$(cat log)"

# ---- a service manager ----------------------------------------------------------------------------------------------------

# listen_at NAME: a datagram socket there ('@': abstract); what arrives goes to the file told, a message a line.
listen_at() {
    rm -f told ready
    perl -MSocket -e '
        my $name = $ARGV[0]; $name =~ s/^@/\0/; $| = 1;
        socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die; bind($s, pack("Sa*", AF_UNIX, $name)) or die "bind: $!";
        open(my $out, ">", "told") or die; $out->autoflush(1); open(my $r, ">", "ready"); close($r);
        while (defined recv($s, my $text, 4096, 0)) { $text =~ s/\n/ /g; print $out "$text\n"; }' "$1" &
    LISTENER=$!
    own "$LISTENER"
    wait_for '[ -e ready ]' 10
}
for name in "$TEST_DIR/notify" "@reeve-test-$$"; do
    listen_at "$name"
    NOTIFY_SOCKET=$name WATCHDOG_USEC=200000 "$REEVE_WORKER" -c worker.conf 2>log &
    WORKER=$!
    own "$WORKER"
    wait_for 'grep -q READY=1 told' 20
    wait_for '[ "$(grep -c WATCHDOG=1 told)" -ge 3 ]' 10
    kill -TERM "$WORKER"
    expect_end 0
    wait_for 'grep -q STOPPING=1 told' 10
    kill "$LISTENER"
    wait "$LISTENER" 2>/dev/null
done

# ---- what cannot start ------------------------------------------------------------------------------------------------------

expect_status 1 "$REEVE_WORKER" -c worker.conf --redis embedded:/dev/null/x
expect_has "$ERR" "reeve-worker: cannot start: "

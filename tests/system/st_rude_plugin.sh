#!/usr/bin/env bash
# reeve-worker with a plugin that crashes, hangs or exits where it must not, or unblocks signals: the log names the
# plugin, and the worker can always be stopped.
. "$(dirname "$0")/lib.sh"
cd "$TEST_DIR" || exit 1
# shellcheck disable=SC2034
SANITIZER_EXPECTED=1
plugin=$REEVE_BUILD/tests/plugins/rude.so

cat >worker.conf <<END
worker = { session = 1; drain = 60; };
plugins = [ "$plugin" ];
pools = ( { name = "p"; queues = [ "a" ]; threads = 2; batch = 1; } );
END

# begin_worker WHAT: in the background, its log in the file log; the plugin does WHAT. A sanitizer looks for no leaks: it
# would do so at the exit of each forked child, and change its status.
RACES= # "report_bugs=0" where a handler races with the worker on purpose
begin_worker() {
    : >log
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}$RACES \
        REEVE_TEST_RUDE=$1 "$REEVE_WORKER" --no-supervise -c worker.conf 2>log &
    WORKER=$!
    own "$WORKER"
}
logged() { grep -q "$1" log; }
# expect_end STATUS: the worker ends by itself with this status.
expect_end() {
    local status=0
    wait "$WORKER" || status=$?
    expect_eq "$status" "$1" "exit status of the worker; its log: $(cat log)"
}
state_of() { "$REEVE" --json show "a/$1" 2>/dev/null | sed -n 's/.*"state":"\([a-z]*\)".*/\1/p'; }

start_redis

# ---- constructors ---------------------------------------------------------------------------------------------------------

begin_worker abort
expect_end 134
expect_has "$(tail -n 1 log)$(grep plugin.loading log)" "plugin=$plugin"

begin_worker exit
expect_end 70
expect_has "$(grep plugin.loading log)" "plugin=$plugin"
expect_has "$(cat log)" event=program.exit

for signal in TERM INT; do
    begin_worker hang
    wait_for 'logged event=plugin.loading' 20
    kill "-$signal" "$WORKER"
    expect_end 0
    expect_has "$(tail -n 1 log)" 'while="plugins are loaded"'
done

# The main thread, too, may have them unblocked.
begin_worker unblock
wait_for 'logged event=worker.started' 20
kill -USR1 "$WORKER"
wait_for 'logged event=program.stats' 10
kill -TERM "$WORKER"
expect_end 0
expect_has "$(cat log)" event=worker.stopped

# ---- exit() of a handler ----------------------------------------------------------------------------------------------------

"$REEVE" enqueue --id leaves a leave >/dev/null
begin_worker nothing
expect_end 70
expect_has "$(cat log)" event=program.exit
expect_has "$(grep event=program.exit log)" thread=p
"$REEVE" cancel a/leaves >/dev/null
"$REEVE" purge a --all >/dev/null 2>&1

# ---- children of a handler exit and are killed as ever, and a thread that unblocks signals passes them on -------------------

begin_worker nothing
wait_for 'logged event=worker.started' 20
# (The thread sanitizer holds signals back, and ends a child that exits with a status of its own.)
if ! grep -q '^REEVE_SANITIZE:.*thread' "$REEVE_BUILD/CMakeCache.txt"; then
    "$REEVE" enqueue --id forks a fork >/dev/null
    wait_for '[ "$(state_of forks)" = completed ]' 20
fi
for id in one two; do
    "$REEVE" enqueue --id "$id" a unblock >/dev/null
    wait_for '"$REEVE" show "a/$id" | grep -q unblocked' 20
done
kill -USR1 "$WORKER"
wait_for 'logged event=program.stats' 10
kill -HUP "$WORKER"
wait_for 'logged event=program.reloaded' 10
kill -TERM "$WORKER"
wait_for 'logged event=program.stopping' 10
kill -TERM "$WORKER"
expect_end 0
expect_has "$(cat log)" event=worker.stopped
expect_eq "$(state_of one) $(state_of two)" "ready ready"

# ---- a handler that closes the descriptors of the process -----------------------------------------------------------------

# It closes what other threads use: a race of its own.
RACES=report_bugs=0

serve() { sed -i "s/queues = .*]/queues = [ \"$1\" ]/" worker.conf; }

serve b
"$REEVE" enqueue b close >/dev/null
begin_worker nothing
expect_end 70
expect_has "$(cat log)" event=worker.descriptors

# One that does not return is found at TERM, before the drain of a minute is over.
serve c
"$REEVE" enqueue c close_hang >/dev/null
begin_worker nothing
wait_for 'logged closed' 20
kill -TERM "$WORKER"
expect_end 70
expect_has "$(cat log)" event=worker.descriptors

# No connection takes the place of a stream.
serve d
begin_worker nothing
wait_for 'logged event=worker.started' 20
"$REEVE" enqueue --wait d streams >/dev/null
redis client kill type normal >/dev/null
"$REEVE" enqueue --wait d streams >/dev/null
expect_eq "$(find "/proc/$WORKER/fd" -name '[012]' -lname 'socket:*')" ""
kill -TERM "$WORKER"
expect_end 0
serve a

# ---- an unload hook that hangs --------------------------------------------------------------------------------------------

"$REEVE" purge a --all >/dev/null 2>&1
begin_worker "hang at the end"
wait_for 'logged event=worker.started' 20
kill -TERM "$WORKER"
wait_for 'logged event=program.ended' 20
wait_for '! kill -TERM "$WORKER" 2>/dev/null' 20
expect_end 0

#!/usr/bin/env bash
# Handlers, layers and hooks that end or break their process, in threads of a supervised worker and with isolation = "process":
# the guilty task is blamed, and only it; the next one runs; and nothing is left.
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
SANITIZER_EXPECTED=1
# What a sanitizer says of it, and when, is its own.
[ -z "$SANITIZED" ] || { echo "a sanitizer's own handlers end the process"; exit 77; }
ulimit -c 0
start_redis
cp "$REEVE_BUILD/tests/plugins/attacks.so" "$TEST_DIR/attacks.so"

# write_worker NAME [POOL [SETTINGS]]: its plugins are sample, attacks and fatal.
write_worker() {
    cat >"$TEST_DIR/$1.conf" <<END
worker = { name = "$1"; frozen = 1; drain = 5; log = { level = "debug"; }; ${3:-} };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample", "$TEST_DIR/attacks.so", "$REEVE_BUILD/tests/plugins/fatal.so" ];
pools = ( { name = "p"; queues = [ "q" ]; threads = 2; ${2:-} } );
queues = ( { name = "q"; keep = { completed = { age = -1; count = -1; }; }; } );
handlers = ( { type = "attack"; max_crashes = 1; attempts = 1; timeout = 10; } );
END
}
blamed() { in_queue q crashed_total; }
own_children() { tr '\0' ' ' <"/proc/$1/task/$1/children" | wc -w; }

# attack WHAT STATE [PART of its error]: then other tasks run, and none of them is blamed.
attack() {
    local id=$MODE-${1// /-} before status=0 i
    before=$(blamed)
    [ "$2" = completed ] || status=5
    expect_status $status reeve enqueue q attack "$1" --id "$id" --wait=30
    expect_eq "$(of_task "q/$id" state)" "\"$2\"" "$1"
    [ -z "${3:-}" ] || expect_has "$(of_task "q/$id" error_message)" "$3"
    [ "$2" = completed ] || expect_eq "$(of_task "q/$id" error_kind)" '"crash"' "$1"
    for i in 1 2 3; do expect_status 0 reeve enqueue q noop --max-crashes 1 --wait=30; done
    expect_eq "$(($(blamed) - before))" "$((status / 5))" "crashes after $1"
}

# ---- on threads and in runners ----------------------------------------------------------------------------------------------

# What ends the process, and is blamed by its frame; what ends it without one; what breaks nothing.
attack_all() {
    local what
    for what in progress log checkpoint result chain "chain into a layer" layer after; do attack "$what" dead SIGSEGV; done
    for what in default block ignore thread; do attack "$what" dead SIGSEGV; done
    attack stack dead "an overflow of the stack"
    for what in abort heap; do attack "$what" dead SIGABRT; done
    attack jump dead
    attack kill dead SIGKILL
    attack "kill the group" dead SIGKILL
    attack alarm dead
    attack _exit dead "with status 0"
    attack quick_exit dead "with status 3"
    attack exit dead
    attack "block and return" completed
    attack setsid completed
}

MODE=thread
write_worker thread
start_worker thread
parent=$WORKER_PID
wait_for '[ "$(logged thread worker.started)" = 1 ]' 20
descriptors=$(ls "/proc/$parent/fd" | wc -l)
attack_all
attack stop dead "no sign of life"
wait_for '[ "$(ls "/proc/$parent/fd" | wc -l)" -le "$descriptors" ]' 10
expect_eq "$(own_children "$parent")" 1 "children of the supervisor"

# A signal to the process group of the worker is not for its supervisor: the worker ends in good order, and is replaced.
# shellcheck disable=SC2034 # (a condition reads it)
begun=$(logged thread worker.started)
attack "terminate the group" completed
wait_for '[ "$(logged thread worker.started)" -gt "$begun" ]' 20
expect_has "$(grep event=worker.renewed "$TEST_DIR/thread.log")" "a signal that its supervisor has not sent"

# A batch handler: nobody knows which one it was until they run alone.
for i in 1 2 3 4 5; do echo "{\"type\":\"attack.many\",\"id\":\"innocent$i\"}"; done >"$TEST_DIR/many"
echo '{"type":"attack.many","id":"guilty","payload":"guilty"}' >>"$TEST_DIR/many"
sed -i 's/"payload":"guilty"/"payload_base64":"Z3VpbHR5"/' "$TEST_DIR/many"
bulk q <"$TEST_DIR/many" || exit 1
wait_for '[ "$(of_task q/guilty state)" = "\"dead\"" ]' 60
for i in 1 2 3 4 5; do
    wait_for "[ \"\$(of_task q/innocent$i state)\" = '\"completed\"' ]" 60
done

# ---- what handlers have started ends with the worker ------------------------------------------------------------------------

# started OWN: processes of this test's handlers, those of the worker's group (0), or those in a session of their own (1).
started() {
    local pid fields
    for pid in $(grep -lsa "REEVE_TEST_OF=$TEST_DIR" /proc/[0-9]*/environ | cut -d / -f 3); do
        read -r -a fields <"/proc/$pid/stat" || continue
        [ "${fields[1]}" = "(sleep)" ] || continue
        [ "$((fields[4] == pid))" = "$1" ] && echo "$pid"
    done 2>/dev/null
}
end "$parent"
expect_eq "$ENDED" 0
export REEVE_TEST_OF=$TEST_DIR
write_worker leaves
start_worker leaves
wait_for '[ "$(logged leaves worker.started)" = 1 ]' 20
attack children completed
expect_eq "$(started 0 | wc -l) $(started 1 | wc -l)" "1 1"
# It ignores TERM.
kill -KILL "$(worker_child "$WORKER_PID")"
wait_for '[ "$(started 0 | wc -l)" = 0 ]' 10
expect_eq "$(logged leaves worker.left_behind)" 1
# One that is a daemon lives on.
expect_eq "$(started 1 | wc -l)" 1
wait_for '[ "$(logged leaves worker.started)" = 2 ]' 20
MODE=again attack "children and abort" dead SIGABRT
expect_eq "$(started 1 | wc -l)" 2
end "$WORKER_PID"
expect_eq "$ENDED" 0
expect_eq "$(started 0 | wc -l)" 0 "when the supervisor has ended"
# Without a supervisor, too, where it has died.
start_worker leaves
wait_for '[ "$(logged leaves worker.started)" = 4 ]' 20
MODE=third attack children completed
end "$WORKER_PID" KILL
for pid in $(started 1); do kill -KILL "$pid"; done
for pid in $(started 0); do kill -KILL "$pid"; done # (it ignores TERM)

# ---- in runners -------------------------------------------------------------------------------------------------------------

MODE=process
write_worker process 'isolation = "process"; runner = { grace = 0.1; };' "supervise = false;"
start_worker process
worker=$WORKER_PID
wait_for '[ "$(logged process worker.started)" = 1 ]' 20
MODE=first attack progress dead # (the keeper has connected)
# shellcheck disable=SC2034 # (a condition reads it)
descriptors=$(ls "/proc/$worker/fd" | wc -l)
attack_all
attack close dead
attack dup2 dead
attack "few descriptors" completed
attack "terminate the group" dead SIGTERM
before=$(blamed)
sed 's/innocent/calm/; s/"guilty","p/"caught","p/' "$TEST_DIR/many" | bulk q || exit 1
wait_for '[ "$(of_task q/caught state)" = "\"dead\"" ]' 60
for i in 1 2 3 4 5; do
    wait_for "[ \"\$(of_task q/calm$i state)\" = '\"completed\"' ]" 60
    expect_eq "$(of_task "q/calm$i" crashes)" 0 "crashes of an innocent"
done
wait_for '[ "$(ls "/proc/$worker/fd" | wc -l)" -le "$descriptors" ]' 10
end "$worker"
expect_eq "$ENDED" 0
expect_eq "$(logged process worker.started)" 1

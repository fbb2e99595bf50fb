#!/usr/bin/env bash
# isolation = "process" against handlers that attack their runner's worker: whatever a handler does in its process, exactly
# its task fails, the worker works on, and nothing of it is left.
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
SANITIZER_EXPECTED=1
plugin=$REEVE_BUILD/tests/plugins/hostile.so
ulimit -c 0
start_redis
mkfifo "$TEST_DIR/fifo"
export REEVE_TEST_FIFO=$TEST_DIR/fifo

# write_worker NAME [SETTINGS [RUNNER]]
write_worker() {
    cat >"$TEST_DIR/$1.conf" <<END
worker = { name = "$1"; log = { level = "debug"; }; ${2:-} };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample", "$plugin", "$REEVE_BUILD/tests/plugins/isolated.so" ];
pools = ( { name = "p"; queues = [ "q" ]; threads = 1; isolation = "process"; runner = { grace = 0.1; ${3:-} }; } );
handlers = ( { type = "hostile"; max_crashes = 1; attempts = 1; timeout = 1; } );
END
}
runners() { cat "/proc/$1"/task/*/children 2>/dev/null | tr ' ' '\n' | grep .; }
open_in() { ls "/proc/$1/fd" | wc -l; }

# Processes of handlers of this test, which have the environment of their runners.
left() {
    local pid name
    for pid in $(grep -lsa "REEVE_TEST_FIFO=$TEST_DIR/fifo" /proc/[0-9]*/environ | cut -d / -f 3); do
        { read -r name <"/proc/$pid/comm"; } 2>/dev/null || continue
        case $name in reeve-runner | sleep) echo "$pid" ;; esac
    done
}
count_left() { left | wc -l; }

write_worker one "supervise = false;"
start_worker one
worker=$WORKER_PID
wait_for '[ "$(logged one worker.started)" = 1 ]' 20

# Each of them ends dead, or completed, within seconds; the worker then runs the next task.
# attack PAYLOAD STATE [PART of its error]
attack() {
    expect_status "$([ "$2" = completed ] && echo 0 || echo 5)" reeve enqueue q hostile "$1" --id "${1// /-}" --wait=20
    expect_eq "$(of_task "q/${1// /-}" state)" "\"$2\"" "$1"
    [ -z "${3:-}" ] || expect_has "$(of_task "q/${1// /-}" error_message)" "$3"
    expect_status 0 reeve enqueue q noop --wait=20
}
attack print completed
attack stopped dead # (the keeper connects to settle it)
# shellcheck disable=SC2034 # (a condition reads it)
descriptors=$(open_in "$worker")
attack garbage dead "is no message of a runner"
attack descriptors dead "is no message of a runner"
attack "more descriptors" dead "is no message of a runner"
attack "large packet" dead "is no message of a runner"
attack "large memory" dead "is no message of a runner"
attack unsealed dead "is no message of a runner"
attack "another run" dead "is no message of a runner"
attack "earlier run" dead "is no message of a runner"
attack "many outcomes" dead "is no message of a runner"
attack flood dead
attack close dead
attack regroup dead
attack forge dead
attack child completed
wait_for '[ "$(open_in $worker)" -le $descriptors ]' 5
[ "$(runners "$worker" | wc -l)" -le 1 ] || fail "runners are left: $(runners "$worker")"
# What has left the group of its runner ends with it: a child in a session of its own, and a daemon that is another program.
attack session dead
wait_for '[ "$(count_left)" -le 1 ]' 5
attack daemon dead
wait_for '[ "$(count_left)" -le 1 ]' 5
attack "quiet daemon" completed
kill -KILL "$(runners "$worker")"
wait_for '[ "$(count_left)" -le 1 ]' 5

# ---- payloads and results of all sizes --------------------------------------------------------------------------------------

expect_status 0 reeve enqueue q where "" --id empty --wait=20
expect_eq "$(of_task q/empty result | tr -d '"' | cut -d ' ' -f 2)" 0 "bytes of an empty payload"
head -c 52428800 /dev/zero | tr '\0' y >"$TEST_DIR/payload"
expect_status 0 reeve enqueue q where "@$TEST_DIR/payload" --id large --wait=60
expect_eq "$(of_task q/large result | tr -d '"' | cut -d ' ' -f 2)" 52428800 "bytes of a large payload"
rm "$TEST_DIR/payload"
# The runner does not keep memory of that size.
resident=$(awk '/^VmRSS/ { print $2 }' "/proc/$(runners "$worker")/status")
[ -n "$SANITIZED" ] || [ "$resident" -lt 30000 ] || fail "the runner has $resident KiB after a large payload"

# ---- SIGSTOP, SIGKILL at each moment ----------------------------------------------------------------------------------------

# A runner that was stopped while it waited: its task's time limit ends it.
kill -STOP "$(runners "$worker")"
expect_status 5 reeve enqueue q hostile nothing --id frozen --wait=20
expect_eq "$(of_task q/frozen error_kind)" '"timeout"'
expect_status 0 reeve enqueue q noop --wait=20
# A runner is killed all the time, while it starts, waits and runs: nothing is lost.
for i in $(seq 300); do echo "{\"type\":\"echo\",\"id\":\"many$i\",\"payload\":$i,\"max_crashes\":1000}"; done | bulk q
while [ "$(in_queue q ready)" != 0 ] || [ "$(in_queue q running)" != 0 ]; do
    for pid in $(runners "$worker"); do kill -KILL "$pid" 2>/dev/null; done
    sleep "0.0$((RANDOM % 4))$((RANDOM % 10))"
done
for i in 1 150 300; do expect_eq "$(of_task "q/many$i" state)" '"completed"' "many$i"; done
wait_for '[ "$(open_in $worker)" -le $descriptors ]' 5
expect_status 0 reeve enqueue q noop --wait=20
expect_eq "$(ps -o stat= --ppid "$worker" | grep -c Z)" 0 "zombies"
end "$worker"
expect_eq "$ENDED" 0

# ---- runners that attack while they load the plugins ------------------------------------------------------------------------

export REEVE_TEST_HOSTILE_LOAD=garbage
expect_status 1 "$REEVE_WORKER" -c "$TEST_DIR/one.conf"
expect_has "$ERR" "it does not answer as a runner does"
# Its child holds the socket: the end of the process is seen nevertheless.
REEVE_TEST_HOSTILE_LOAD=child
SECONDS=0
expect_status 1 "$REEVE_WORKER" -c "$TEST_DIR/one.conf"
expect_has "$ERR" "a runner ended with status 5 before it had loaded the plugins"
[ "$SECONDS" -lt 20 ] || fail "it took $SECONDS s"
wait_for '[ "$(count_left)" = 0 ]' 5
# The memory that it shares with its worker keeps its size.
REEVE_TEST_HOSTILE_LOAD=truncate
write_worker two "supervise = false;"
start_worker two
wait_for '[ "$(logged two worker.started)" = 1 ]' 20
expect_status 0 reeve enqueue q noop --wait=20
end "$WORKER_PID"
expect_eq "$ENDED" 0
unset REEVE_TEST_HOSTILE_LOAD

# ---- the limit of files and a large result ----------------------------------------------------------------------------------

write_worker three "supervise = false;" "file_size = 1000;"
start_worker three
wait_for '[ "$(logged three worker.started)" = 1 ]' 20
expect_status 0 reeve enqueue q large --id result --wait=20
expect_eq "$(of_task q/result state)" '"completed"'
end "$WORKER_PID"

# ---- a worker that is killed ------------------------------------------------------------------------------------------------

# Its supervisor kills what its runners left, even a runner that is stopped.
write_worker five
start_worker five
wait_for '[ "$(logged five worker.started)" = 1 ]' 20
child=$(tr -d ' ' <"/proc/$WORKER_PID/task/$WORKER_PID/children")
expect_status 0 reeve enqueue q hostile "quiet daemon" --id last --wait=20
stopped=$(runners "$child")
kill -STOP "$stopped"
kill -KILL "$child"
wait_for '[ "$(logged five worker.started)" = 2 ]' 20
wait_for '! kill -0 "$stopped" 2>/dev/null' 5
wait_for '[ "$(count_left)" -le 1 ]' 5
end "$WORKER_PID"
wait_for '[ "$(count_left)" = 0 ]' 5

# ---- two runners --------------------------------------------------------------------------------------------------------------

# What a handler has started in the background lives as long as its own runner, whatever ends the other runner of the pool:
# the number of its tasks, or a crash.
write_worker six "supervise = false;" "max_tasks = 1;"
sed -i 's/threads = 1;/threads = 2;/; s/ timeout = 1;//' "$TEST_DIR/six.conf"
start_worker six
wait_for '[ "$(logged six worker.started)" = 1 ]' 20
helper() {
    local pid
    for pid in $(grep -lsa "REEVE_RUNNER_OF=$WORKER_PID" /proc/[0-9]*/environ | cut -d / -f 3); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = sleep ] && echo "$pid"
    done
}
expect_status 0 reeve enqueue q hostile "daemon and wait" --id waits
wait_for '[ -n "$(helper)" ]' 10
of_helper=$(helper)
before=$(runners "$WORKER_PID" | sort)
expect_status 0 reeve enqueue q noop --wait=20
expect_status 5 reeve enqueue q hostile session --wait=20
expect_status 0 reeve enqueue q noop --wait=20
expect_eq "$(helper)" "$of_helper" "what the handler of the other runner has started"
own_runner=$(comm -12 <(echo "$before") <(runners "$WORKER_PID" | sort))
expect_eq "$(echo "$own_runner" | wc -w)" 1 "runners that live on"
kill -KILL "$own_runner"
wait_for '[ -z "$(helper)" ]' 5
end "$WORKER_PID"
wait_for '[ "$(count_left)" = 0 ]' 5

# ---- a pool whose size follows the work -------------------------------------------------------------------------------------

# What its runners need of processors counts as that of its threads.
write_worker four "supervise = false;"
sed -i 's/threads = 1;/threads = { min = 1; max = 2; };/; s/^handlers.*//' "$TEST_DIR/four.conf"
start_worker four
wait_for '[ "$(logged four worker.started)" = 1 ]' 20
for i in 1 2 3 4; do reeve enqueue q burn --id "burn$i" >/dev/null; done
share() { reeve workers --pools --json | grep -o '"processor_share":[0-9.]*' | cut -d : -f 2; }
wait_for 'awk -v s="$(share)" "BEGIN { exit !(s > 0.3) }"' 10
end "$WORKER_PID" KILL

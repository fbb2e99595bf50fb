#!/usr/bin/env bash
# A pool with process isolation: handlers run in runners, all that they call works there, and the end of a runner, however it
# comes, concerns exactly its task and leaves nothing behind.
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
SANITIZER_EXPECTED=1
plugin=$REEVE_BUILD/tests/plugins/isolated.so
ulimit -c 0
start_redis

cat >"$TEST_DIR/one.conf" <<END
worker = { name = "one"; supervise = false; log = { level = "debug"; }; };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample", "checksum", "$plugin" ];
pools = ( { queues = [ "q" ]; threads = 2; isolation = "process"; } );
queues = ( { name = "q"; keep = { completed = { age = -1; count = -1; }; dead = { age = 3600; count = 10000; }; }; } );
handlers = ( { type = "crash"; max_crashes = 1; }, { type = "leave"; max_crashes = 2; }, { type = "many"; max_crashes = 1; batch_wait = 0.05; } );
END
# runners PID: the process ids of the worker's runners, one a line.
runners() { cat "/proc/$1"/task/*/children 2>/dev/null | tr ' ' '\n' | grep .; }
count_runners() { runners "$1" | wc -l; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }
are_gone() { local pid; for pid in $1; do is_gone "$pid" || return 1; done; }
open_in() { ls "/proc/$1/fd" | wc -l; }

start_worker one
worker=$WORKER_PID
wait_for '[ "$(logged one worker.started)" = 1 ]' 20
wait_for '[ "$(count_runners $worker)" = 2 ]' 5
expect_eq "$(tr '\0' ' ' <"/proc/$(runners "$worker" | head -n 1)/cmdline" | sed 's/[12] $//')" "reeve-runner pool-1/" "arguments"

# ---- what handlers call ---------------------------------------------------------------------------------------------------

expect_status 0 reeve enqueue q echo '{"a":1}' --id echo --wait=20
expect_has "$OUT" '{"a":1}'
expect_status 0 reeve enqueue q calls --id calls --meta tenant=acme --group g --wait=20
expect_eq "$(of_task q/calls result)" '"half attempt 2 tenant acme group g chained chained"'
expect_status 0 reeve show q/calls --log
expect_has "$OUT" "line 1"
expect_status 0 reeve wait q/chained --timeout 20
expect_has "$(of_task q/chained result)" ' 3"'
expect_status 0 reeve enqueue q join --id join --after q/calls --after q/echo --wait=20
expect_has "$(of_task q/join result)" 'q/echo completed {\"a\":1};'
expect_has "$(of_task q/join result)" 'q/calls completed half attempt 2'
# A payload and a result that no packet holds.
head -c 200000 /dev/zero | tr '\0' y >"$TEST_DIR/payload"
expect_status 0 reeve enqueue q where "@$TEST_DIR/payload" --id where --wait=20
pid=$(of_task q/where result | tr -d '"' | cut -d ' ' -f 1)
expect_eq "$(of_task q/where result | tr -d '"' | cut -d ' ' -f 2)" 200000 "bytes of the payload"
runners "$worker" | grep -q "^$pid\$" || fail "the handler ran in $pid"
expect_status 0 reeve enqueue q large --id large --wait=20
expect_status 0 reeve enqueue q child --id child --wait=20
expect_status 0 reeve enqueue q steps '{"steps":3,"ms":1}' --id steps --wait=20
expect_status 5 reeve enqueue q fail --id fail --attempts 1 --wait=20
expect_eq "$(of_task q/fail error_kind)" '"sample"'
for i in 1 2 3 4 5; do echo "{\"type\":\"many\",\"id\":\"many$i\",\"payload\":$i}"; done | bulk q
wait_for '[ "$(of_task q/many5 state)" = "\"completed\"" ]' 10
expect_eq "$(of_task q/many3 result)" '"3"'

# ---- crashes --------------------------------------------------------------------------------------------------------------

BAD=200 GOOD=1000
[ -z "$SANITIZED" ] || BAD=20 GOOD=100
# shellcheck disable=SC2034 # (conditions read them)
descriptors=$(open_in "$worker") before=$(in_queue q crashed_total)
# shellcheck disable=SC2034
completed=$(in_queue q completed) dead=$(in_queue q dead)
awk -v bad=$BAD -v good=$GOOD 'BEGIN {
    for (i = 1; i <= good; i++) {
        print "{\"type\":\"noop\",\"id\":\"good" i "\"}"
        if (i % (good / bad) == 0) print "{\"type\":\"crash\",\"id\":\"bad" i / (good / bad) "\"}"
    }
}' | bulk q || exit 1
wait_for 'is_still q $((completed + GOOD)) $((dead + BAD))' 60
expect_eq "$(in_queue q crashed_total)" $((before + BAD)) "crashes"
expect_eq "$(of_task q/bad1 error_kind)" '"crash"'
expect_has "$(of_task q/bad1 error_message)" "SIGSEGV at address 0x"
expect_has "$(of_task q/bad1 error_message)" "(sample.so+0x"
expect_has "$(of_task q/bad1 backtrace)" "#0 "
expect_eq "$(of_task q/bad1 crashes)" 1
wait_for '[ "$(open_in $worker)" -le $descriptors ]' 5
[ "$(count_runners "$worker")" -le 2 ] || fail "there are $(count_runners "$worker") runners"
# (A process that has ended and that nobody waited for is a child, too.)
expect_status 5 reeve enqueue q leave --id leave --wait=20
expect_has "$(of_task q/leave error_message)" "ended with status 3"
expect_eq "$(of_task q/leave crashes)" 2
# A batch handler that crashes: the cause is found, and the others of its call run, without a crash.
{ for i in 1 2 3; do echo "{\"type\":\"many\",\"id\":\"with$i\",\"payload\":$i}"; done
    echo '{"type":"many","id":"cause","payload":12345}'; } | bulk q
wait_for '[ "$(of_task q/cause state)$(of_task q/with1 state)$(of_task q/with3 state)" = "\"dead\"\"completed\"\"completed\"" ]' 30
expect_eq "$(of_task q/cause crashes)$(of_task q/with2 crashes)" 10 "crashes of the cause and of another"
# A runner that is killed while it waits is replaced; one that is killed in a task is a crash of it.
for pid in $(runners "$worker"); do kill -KILL "$pid"; done
expect_status 0 reeve enqueue q where --id after --wait=20
expect_status 0 reeve enqueue q sleep '{"ms":60000}' --id sleep --max-crashes 1
wait_for '[ "$(of_task q/sleep state)" = "\"running\"" ]' 10
before=$(logged one runner.crashed)
while [ "$(logged one runner.crashed)" = "$before" ]; do
    for pid in $(runners "$worker"); do kill -KILL "$pid" 2>/dev/null; done
    sleep 0.05
done
wait_for '[ "$(of_task q/sleep state)" = "\"dead\"" ]' 10
expect_has "$(of_task q/sleep error_message)" "SIGKILL"

# ---- a handler that does not stop -----------------------------------------------------------------------------------------

# progress_of TASK: whether the handler has said that it is there.
has_progress() { reeve show "$1" | grep -q 'it is there'; }
expect_status 0 reeve enqueue q stubborn --id late --timeout 0.5 --attempts 1
wait_for '[ "$(of_task q/late state)" = "\"dead\"" ]' 10
expect_eq "$(of_task q/late error_kind)" '"timeout"'
expect_status 0 reeve enqueue q stubborn --id unwanted
wait_for 'has_progress q/unwanted' 10
group=$(ps -eo pid,pgid,ppid,comm | awk -v w="$worker" '$3 == w { print $2 }')
reeve cancel q/unwanted >/dev/null
wait_for '[ "$(of_task q/unwanted state)" = "\"cancelled\"" ]' 10
# Neither the handlers nor the children that they forked are left.
wait_for '[ "$(logged one runner.ended)" = 2 ]' 10
expect_status 0 reeve enqueue q where --id again --wait=20
[ "$(pgrep -c -g "$(echo $group | tr ' ' ,)" || true)" -le 2 ] || fail "processes are left: $(ps -eo pid,pgid,ppid,comm)"

# ---- the end --------------------------------------------------------------------------------------------------------------

# A worker that is told to stop ends its runners; one that is killed takes them with it, whatever they do.
pids=$(runners "$worker")
end "$worker"
are_gone "$pids" || fail "runners are left"
start_worker one
worker=$WORKER_PID
wait_for '[ "$(logged one worker.started)" = 2 ]' 20
expect_status 0 reeve enqueue q stubborn --id killed
wait_for 'has_progress q/killed' 10
group=$(ps -eo pid,pgid,ppid,comm | awk -v w="$worker" '$3 == w { print $2 }' | tr '\n' ' ')
pids=$(for g in $group; do pgrep -g "$g"; done)
[ "$(echo "$pids" | wc -l)" -ge 3 ] || fail "there are only $pids"
end "$worker" KILL
wait_for 'are_gone "$pids"' 1

# ---- limits ---------------------------------------------------------------------------------------------------------------

mkdir "$TEST_DIR/scratch"
memory='memory = 268435456; cpu_time = 1;'
[ -z "$SANITIZED" ] || memory= # (a sanitizer takes memory of its own, and turns signals into an exit status)
cat >"$TEST_DIR/two.conf" <<END
worker = { name = "two"; supervise = false; log = { level = "debug"; }; };
plugins = [ "$plugin" ];
pools = ( { queues = [ "r" ]; isolation = "process";
            runner = { $memory file_size = 2000000; max_tasks = 5; grace = 0.1; scratch = "$TEST_DIR/scratch"; }; },
          { name = "narrow"; queues = [ "s" ]; isolation = "process"; runner = { file_size = 1000; scratch = "$TEST_DIR/scratch"; }; } );
handlers = ( { type = "burn"; max_crashes = 1; }, { type = "fill"; max_crashes = 1; } );
END
start_worker two
worker=$WORKER_PID
wait_for '[ "$(logged two worker.started)" = 1 ]' 20
if [ -z "$SANITIZED" ]; then
    expect_status 0 reeve enqueue r eat --id eat --wait=30
    mib=$(of_task r/eat result | tr -d '"')
    [ "$mib" -gt 100 ] && [ "$mib" -lt 256 ] || fail "the handler got $mib MiB"
    expect_status 5 reeve enqueue r burn --id burn --wait=60
    expect_has "$(of_task r/burn error_message)" "SIGXCPU"
    expect_status 0 reeve enqueue r fill --id fill --wait=20
    expect_has "$(of_task r/fill result)" "$TEST_DIR/scratch/reeve-"
    expect_status 5 reeve enqueue s fill --id large --wait=20
    expect_has "$(of_task s/large error_message)" "SIGXFSZ"
    expect_eq "$(ls -A "$TEST_DIR/scratch")" "" "directories that are left"
fi
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    expect_status 0 reeve enqueue r where --id "where$i" --wait=20
    of_task "r/where$i" result | tr -d '"' | cut -d ' ' -f 1
done >"$TEST_DIR/pids"
[ "$(sort -u "$TEST_DIR/pids" | wc -l)" -ge 3 ] || fail "a runner had more than five tasks: $(cat "$TEST_DIR/pids")"
expect_status 0 reeve enqueue r stubborn --id late --timeout 0.2 --attempts 1
wait_for '[ "$(logged two runner.ended)" = 1 ]' 1
end "$worker"
printf 'pools = ( { queues = [ "r" ]; runner = { memory = 268435456; }; } );\n' >"$TEST_DIR/bad.conf"
expect_status 1 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf"
expect_has "$ERR" "limits of runners are for REEVE_ISOLATION_PROCESS only"

# ---- what cannot begin ----------------------------------------------------------------------------------------------------

cat >"$TEST_DIR/bad-runner" <<'END'
#!/bin/sh
exit 7
END
chmod +x "$TEST_DIR/bad-runner"
REEVE_RUNNER=$TEST_DIR/bad-runner expect_status 1 "$REEVE_WORKER" -c "$TEST_DIR/one.conf"
expect_has "$ERR" "cannot start: pool pool-1: a runner ended with status 7 before it had loaded the plugins"
REEVE_RUNNER=$TEST_DIR/nothing expect_status 1 "$REEVE_WORKER" -c "$TEST_DIR/one.conf"
expect_has "$ERR" "cannot start the runner $TEST_DIR/nothing: No such file or directory"
expect_status 2 "$REEVE_BUILD/bin/reeve-runner"
expect_has "$ERR" "is started by a worker"

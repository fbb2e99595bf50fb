#!/usr/bin/env bash
# A supervised worker: a crash is blamed on the task that caused it, what had finished does not run again, and neither the
# end of the parent nor that of the child leaves anything behind.
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
SANITIZER_EXPECTED=1
plugin=$REEVE_BUILD/tests/plugins/fatal.so
export REEVE_TEST_NOTES=$TEST_DIR/notes
ulimit -c 0
start_redis

# A sanitizer's own handler may hang when two threads crash at once: the supervisor then ends the worker.
FROZEN=60
[ -z "$SANITIZED" ] || FROZEN=2

# write_supervised NAME THREADS: a worker with the plugins sample and fatal.
write_supervised() {
    cat >"$TEST_DIR/$1.conf" <<END
worker = { name = "$1"; supervise = true; frozen = $FROZEN; log = { level = "info"; }; };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample", "$plugin" ];
pools = ( { queues = [ "q" ]; threads = $2; } );
queues = ( { name = "q"; keep = { completed = { age = -1; count = -1; }; dead = { age = 3600; count = 10000; }; }; } );
handlers = ( { type = "fault"; max_crashes = 1; }, { type = "overflow"; max_crashes = 1; }, { type = "abort"; max_crashes = 1; },
             { type = "end_process"; max_crashes = 1; }, { type = "leave"; max_crashes = 1; } );
END
}
# child_of PID: its only child.
child_of() { cat "/proc/$1/task/$1/children" 2>/dev/null | tr -d ' '; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }
# is_working NAME N: so many of its threads run a handler. (The parent passes the signal on.)
is_working() {
    kill -USR1 "$WORKER_PID"
    sleep 0.05
    grep event=program.stats "$TEST_DIR/$1.log" | tail -n 1 | grep -Eq " busy=$2( |$)"
}
# sum NAME FIELD: over the deaths in the log.
sum() { grep event=worker.crashed "$TEST_DIR/$1.log" | sed -n "s/.* $2=\([0-9]*\).*/\1/p" | awk '{ s += $1 } END { print s + 0 }'; }

# ---- crashes among good tasks ---------------------------------------------------------------------------------------------

write_supervised one 1
BAD=200 GOOD=2000
[ -z "$SANITIZED" ] || BAD=20 GOOD=200
start_worker one
parent=$WORKER_PID
wait_for '[ "$(logged one worker.started)" = 1 ]' 20
descriptors=$(ls "/proc/$parent/fd" | wc -l)
awk -v bad=$BAD -v good=$GOOD 'BEGIN {
    for (i = 1; i <= good; i++) {
        print "{\"type\":\"note\",\"id\":\"good" i "\"}"
        if (i % (good / bad) == 0) print "{\"type\":\"fault\",\"id\":\"bad" i / (good / bad) "\"}"
    }
}' | bulk q || exit 1
wait_for 'is_still q $GOOD $BAD' 60
expect_eq "$(wc -l <"$TEST_DIR/notes")" $GOOD "runs of the good tasks"
expect_eq "$(sort -u "$TEST_DIR/notes" | wc -l)" $GOOD "good tasks that ran"
expect_eq "$(in_queue q crashed_total)" $BAD "crashes"
expect_eq "$(logged one worker.crashed)" $BAD "deaths"
expect_eq "$(sum one crashed)" $BAD "tasks that were blamed"
[ "$(sum one settled)" -gt $BAD ] || fail "only $(sum one settled) tasks had finished when the worker died"
expect_status 0 reeve show q/bad1 --json
expect_eq "$(member state "$OUT")" '"dead"'
expect_eq "$(member error_kind "$OUT")" '"crash"'
expect_eq "$(member crashes "$OUT")" 1
expect_has "$(member error_message "$OUT")" "SIGSEGV at address 0x10 in fault"
expect_has "$(member error_message "$OUT")" "(fatal.so+0x"
expect_has "$(member backtrace "$OUT")" "#0 fault+0x"
expect_has "$(member backtrace "$OUT")" "\n#1 "
expect_status 0 reeve show q/bad1
expect_has "$OUT" "#0 fault+0x"
# What the parent has open is what it had: the present child's record and its messages.
wait_for "[ \"\$(ls /proc/$parent/fd | wc -l)\" -le $descriptors ]" 10
expect_eq "$(tr -d '\0' <"/proc/$parent/task/$parent/children" | wc -w)" 1 "children"
expect_eq "$(reeve workers --json | grep -c .)" 1 "workers"
expect_status 0 reeve workers --crashes --json
expect_lines $((BAD < 100 ? BAD : 100))
expect_eq "$(grep -c '"type":"fault","message":"SIGSEGV at address 0x10' "$TEST_DIR/out")" $((BAD < 100 ? BAD : 100)) "crashes"
expect_status 0 reeve workers --crashes --limit 1
expect_has "$OUT" "#0 fault+0x"

# ---- other ends -----------------------------------------------------------------------------------------------------------

reeve enqueue q overflow --id overflow >/dev/null
wait_for '[ "$(of_task q/overflow state)" = "\"dead\"" ]' 20
expect_has "$(of_task q/overflow error_message)" "SIGSEGV"
[ -n "$SANITIZED" ] || expect_has "$(of_task q/overflow error_message)" "an overflow of the stack in use_stack"
reeve enqueue q abort --id abort >/dev/null
wait_for '[ "$(of_task q/abort state)" = "\"dead\"" ]' 20
expect_has "$(of_task q/abort error_message)" "SIGABRT"
expect_has "$(of_task q/abort backtrace)" "give_up+0x"
reeve enqueue q end_process --id end_process >/dev/null
wait_for '[ "$(of_task q/end_process state)" = "\"dead\"" ]' 20
expect_has "$(of_task q/end_process error_message)" "exited with status 3"
end "$parent"
expect_eq "$ENDED" 0 "status of the supervised worker"
expect_eq "$(reeve workers --json | grep -c .)" 0 "workers"

# ---- several threads ------------------------------------------------------------------------------------------------------

# The handler of a sanitizer may hang in a crash beside other threads: then none crashes here.
FAULTS=20
[ -z "$SANITIZED" ] || FAULTS=0
write_supervised four 4
for i in $(seq 1 20); do
    seq 1 20 | sed "s/.*/{\"type\":\"note\",\"id\":\"b$i.&\"}/"
    [ "$i" -gt "$FAULTS" ] || echo '{"type":"fault"}'
done | bulk q || exit 1
reeve enqueue q sleep '{"ms":1}' --id last >/dev/null
start_worker four
wait_for 'is_still q $((GOOD + 401)) $((BAD + 3 + FAULTS))' 60
expect_eq "$(reeve list q --state dead --json --limit 1000 | grep -c '"type":"fault"')" $((BAD + FAULTS)) "dead tasks that crash"
expect_eq "$(in_queue q crashed_total)" $((BAD + 3 + FAULTS)) "crashes: none of an innocent"

# ---- exit, beside another task --------------------------------------------------------------------------------------------

reeve enqueue q sleep '{"ms":60000}' --id beside >/dev/null
wait_for '[ "$(of_task q/beside state)" = "\"running\"" ] && is_working four 1' 10
reeve enqueue q leave --id leave >/dev/null
wait_for '[ "$(of_task q/leave state)" = "\"dead\"" ]' 20
expect_has "$(of_task q/leave error_message)" "exited with status 70"
[ -n "$SANITIZED" ] || expect_has "$(of_task q/leave backtrace)" "leave+0x"
wait_for '[ "$(of_task q/beside state)" = "\"running\"" ]' 20
expect_eq "$(of_task q/beside crashes)" 0 "crashes of the other one"
reeve cancel q/beside >/dev/null
wait_for '[ "$(of_task q/beside state)" = "\"cancelled\"" ]' 10

# ---- the child is killed --------------------------------------------------------------------------------------------------

child=$(child_of "$WORKER_PID")
reeve enqueue q sleep '{"ms":2000}' --id sleeper >/dev/null
wait_for '[ "$(of_task q/sleeper state)" = "\"running\"" ] && is_working four 1' 10
kill -KILL "$child"
wait_for '[ "$(of_task q/sleeper state)" = "\"completed\"" ]' 10
expect_eq "$(of_task q/sleeper crashes)" 1
expect_has "$(of_task q/sleeper history)" SIGKILL
[ "$(child_of "$WORKER_PID")" != "$child" ] || fail "the child was not replaced"

# ---- the parent is killed -------------------------------------------------------------------------------------------------

reeve enqueue q sleep '{"ms":60000}' --id long >/dev/null
wait_for '[ "$(of_task q/long state)" = "\"running\"" ] && is_working four 1' 10
child=$(child_of "$WORKER_PID")
end "$WORKER_PID" KILL
wait_for 'is_gone $child' 2
expect_eq "$(of_task q/long state)" '"ready"'
expect_eq "$(of_task q/long crashes)" 0
expect_eq "$(reeve workers --json | grep -c .)" 0 "workers"

# ---- a plugin that cannot be loaded when the worker is to start again -----------------------------------------------------

cat >"$TEST_DIR/broken.conf" <<END
worker = { name = "broken"; supervise = true; frozen = 60; log = { level = "info"; }; };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample", "$TEST_DIR/replaced.so" ];
pools = ( { queues = [ "broken" ]; threads = 1; } );
END
cp "$plugin" "$TEST_DIR/replaced.so"
start_worker broken
parent=$WORKER_PID
wait_for '[ "$(logged broken worker.started)" = 1 ]' 20
head -c 2000 /dev/zero >"$TEST_DIR/new" && mv "$TEST_DIR/new" "$TEST_DIR/replaced.so"
kill -KILL "$(child_of "$parent")"
wait_for '[ "$(logged broken worker.start)" -ge 2 ]' 20
expect_has "$(grep 'event=worker.start ' "$TEST_DIR/broken.log")" "status=2"
kill -0 "$parent" || fail "the supervisor has ended"
cp "$plugin" "$TEST_DIR/new" && mv "$TEST_DIR/new" "$TEST_DIR/replaced.so"
expect_status 0 reeve enqueue broken noop --wait=20
# It is told to stop while no worker can start.
head -c 2000 /dev/zero >"$TEST_DIR/new" && mv "$TEST_DIR/new" "$TEST_DIR/replaced.so"
begun=$(logged broken worker.start)
kill -KILL "$(child_of "$parent")"
wait_for "[ \"\$(logged broken worker.start)\" -gt $begun ]" 20
end "$parent"
expect_eq "$ENDED" 0 "status of a supervisor that was told to stop"
# The first worker ends it.
expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/broken.conf"
expect_has "$ERR" "replaced.so"

# ---- a crash while the worker stops ---------------------------------------------------------------------------------------

expect_status 0 reeve delete q/long
write_supervised drains 1
start_worker drains
wait_for '[ "$(logged drains worker.started)" = 1 ]' 20
child=$(child_of "$WORKER_PID")
reeve enqueue q sleep '{"ms":20000}' --id drained >/dev/null
wait_for '[ "$(of_task q/drained state)" = "\"running\"" ] && is_working drains 1' 10
kill -TERM "$WORKER_PID"
wait_for '[ "$(logged drains program.stopping)" = 1 ]' 10
kill -KILL "$child"
end "$WORKER_PID"
expect_eq "$ENDED" 70 "status of a supervisor whose worker was killed while it stopped"

# ---- a death that Redis does not hear of ----------------------------------------------------------------------------------

write_supervised away 1
start_worker away
wait_for '[ "$(logged away worker.started)" = 1 ]' 20
child=$(child_of "$WORKER_PID")
stop_redis
kill -KILL "$child"
wait_for '[ "$(logged away worker.started)" = 2 ]' 20
sleep 2
expect_eq "$(grep -c "does not take what it left" "$TEST_DIR/away.log")" 1 "warnings of one death"
start_redis
end "$WORKER_PID"

# ---- a plugin that crashes before the worker can work ---------------------------------------------------------------------

cat >"$TEST_DIR/early.conf" <<END
plugins = [ "$REEVE_BUILD/tests/plugins/rude.so" ];
pools = ( { queues = [ "q" ]; } );
END
REEVE_TEST_RUDE=abort expect_status 71 "$REEVE_WORKER" --supervise -c "$TEST_DIR/early.conf"
expect_has "$ERR" "the worker died 3 times before it could take a task; the last time: SIGABRT"

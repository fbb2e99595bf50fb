# st_killed_workers.sh - workers die at any moment, again and again, and every task ends well exactly once.
#
# Four workers run tasks while they are being enqueued; one after another is killed with SIGKILL and replaced. In the end
# every task is completed, and the append-only file of Redis shows that each was accepted once and never again.
. "$(dirname "$0")/lib.sh"

TASKS=20000 KILLS=20 PARTS=20
[ -z "$SANITIZED" ] || TASKS=10000

# Seven in ten sleep, so that the run lasts and a kill finds tasks that have begun; two do nothing, one has a result.
lines() {
    seq "$1" "$2" | LC_ALL=C awk '{
        type = $1 % 10 < 7 ? "sleep" : $1 % 10 < 9 ? "noop" : "echo"
        printf "{\"id\":\"t%d\",\"type\":\"%s\",\"payload\":{\"ms\":8}}\n", $1, type
    }'
}

enqueue_slowly() {
    local part each=$((TASKS / PARTS))
    for ((part = 0; part < PARTS; part++)); do
        lines $((part * each + 1)) $(((part + 1) * each))
        sleep 0.2
    done | reeve enqueue --bulk q >"$TEST_DIR/handles"
}

start_redis --appendonly yes --appendfsync no --auto-aof-rewrite-percentage 0
# How often a worker dies says nothing about a task here.
write_conf killed 'session = 1;' \
    'pools = ( { queues = [ "q" ]; threads = 2; } );' \
    'handlers = ( { type = "sleep"; max_crashes = 100000; }, { type = "noop"; max_crashes = 100000; },
                  { type = "echo"; max_crashes = 100000; } );' \
    'queues = ( { name = "q"; keep = { completed = { age = -1; count = -1; }; }; } );'
workers=()
for i in 0 1 2 3; do
    start_alone killed
    workers[i]=$WORKER_PID
done
wait_for '[ "$(reeve workers --json | wc -l)" = 4 ]' 30
enqueue_slowly &
own $!
enqueuing=$!

kills=0
while [ $kills -lt $KILLS ] || kill -0 $enqueuing 2>/dev/null; do
    sleep "0.$((RANDOM % 4 + 2))"
    i=$((RANDOM % 4))
    end "${workers[i]}" KILL
    kills=$((kills + 1))
    start_alone killed
    workers[i]=$WORKER_PID
    # Kills that find nothing to do would prove nothing.
    [ "$(redis ZCARD 'reeve:{q}:completed')" -lt "$TASKS" ] || break
done
wait $enqueuing || fail "enqueue ended with $?"
expect_eq "$(wc -l <"$TEST_DIR/handles")" "$TASKS" "enqueued"
[ $kills -ge 15 ] || fail "the run was over after $kills kills"
wait_for 'is_still q $TASKS 0' 120
# Sessions of the dead go; those of the living are renewed past this moment.
limit=$(($(redis TIME | head -n 1) * 1000 + 2000))
wait_for '[ "$(redis ZCOUNT "reeve:{q}:sessions" -inf $limit)" = 0 ]' 30
for pid in "${workers[@]}"; do end "$pid"; done
crashed=$(in_queue q crashed_total)
[ "${crashed:-0}" -ge 15 ] || fail "the kills hit only $crashed tasks"
aof_ended ':completed' >"$TEST_DIR/accepted"
expect_eq "$(sort "$TEST_DIR/accepted" | uniq -d | head -n 3)" "" "accepted twice"
expect_eq "$(sort "$TEST_DIR/accepted")" "$(sed 's,^q/,,' "$TEST_DIR/handles" | sort)" "accepted"
expect_eq "$(redis ZCARD 'reeve:{q}:sessions')" 0 "sessions that are left"
echo "$kills kills hit $crashed tasks; $TASKS tasks, each accepted once"

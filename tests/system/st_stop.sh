# st_stop.sh - a worker that is told to stop: it drains, gives back the rest in order, counts nothing against the tasks.
. "$(dirname "$0")/lib.sh"

# More than enough to drain for one second, tell the handlers, and go.
BOUND_MS=25000

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# ids STATE QUEUE: in the order of the list.
ids() { reeve list "$2" --state "$1" --json --limit 0 | sed 's/.*"id":"\([^"]*\)".*/\1/' | paste -sd' '; }

sleepers() { for id in "$@"; do echo "{\"id\":\"$id\",\"type\":\"sleep\",\"payload\":{\"ms\":60000}}"; done; }

# The deadline passes: what runs is given back, before those that came later.
deadline_passes() {
    local begun took id
    start_worker brief
    sleepers a b c | bulk deadline || exit 1
    wait_for 'are_busy brief 2' 20
    sleepers d e | bulk deadline || exit 1
    expect_eq "$(ids ready deadline)" "c d e"
    begun=$(now_ms)
    end "$WORKER_PID" TERM
    expect_eq "$ENDED" 0 "exit status"
    took=$(($(now_ms) - begun))
    [ $took -ge 1000 ] && [ $took -le $BOUND_MS ] || fail "it took $took ms"
    # (a and b come from two threads: which is given back first is open.)
    expect_eq "$(ids ready deadline | sed 's/^b a/a b/')" "a b c d e"
    for id in a b c; do
        expect_eq "$(of_task deadline/$id failures)" 0 "failures of $id"
        expect_eq "$(of_task deadline/$id crashes)" 0 "crashes of $id"
    done
    expect_eq "$(redis EXISTS 'reeve:{deadline}:sessions')" 0 "sessions that are left"
    expect_eq "$(reeve workers --json)" "" "workers"
    expect_eq "$(logged brief worker.stopped)" 1
}

# What ends within the deadline is completed, and the worker does not wait longer than that.
long_enough() {
    local begun took
    start_worker patient
    echo '{"id":"short","type":"sleep","payload":{"ms":4000}}' | bulk enough || exit 1
    wait_for 'are_busy patient 1' 20
    begun=$(now_ms)
    end "$WORKER_PID" TERM
    expect_eq "$ENDED" 0 "exit status"
    took=$(($(now_ms) - begun))
    expect_eq "$(of_task enough/short state)" '"completed"'
    [ $took -le $BOUND_MS ] || fail "it took $took ms"
}

# The second signal does not wait for the deadline of 60 s.
second_signal() {
    local begun took signal
    for signal in TERM INT; do
        start_worker patient
        sleepers "x$signal" | bulk twice || exit 1
        wait_for '[ "$(in_queue twice running)" = 1 ]' 20
        begun=$(now_ms)
        kill -$signal "$WORKER_PID"
        wait_for '[ "$(logged patient program.stopping)" -ge 1 ]' 20
        end "$WORKER_PID" $signal
        expect_eq "$ENDED" 0 "exit status after two $signal"
        took=$(($(now_ms) - begun))
        [ $took -le $BOUND_MS ] || fail "it took $took ms"
        expect_eq "$(ids ready twice)" "x$signal"
        expect_eq "$(of_task twice/x$signal failures)" 0
        reeve delete "twice/x$signal" >/dev/null
        rm "$TEST_DIR/patient.log"
    done
}

# A worker whose one thread has learned that tasks are short, so that it takes many at once of those on standard input.
start_with_batch() {
    local queue=$1
    start_worker quiet
    for ((i = 0; i < 3000; i++)); do echo '{"type":"noop"}'; done | bulk "$queue" || exit 1
    wait_for 'is_still $queue 3000 0' 30
    reeve pause "$queue" >/dev/null
    bulk "$queue"
    reeve resume "$queue" >/dev/null
    wait_for '[ "$(in_queue $queue running)" -ge 1 ]' 20
}

# tell_quiet QUEUE N: in the end nothing runs, and the tasks that have not begun stand there in order, nothing counted
# against them. There were N; LEFT is how many are left. (On a busy machine the thread may have leased the task behind its
# batch just before the keeper gave back what waited in it.)
tell_quiet() {
    local queue=$1 count=$2 ready
    kill -TSTP "$WORKER_PID"
    wait_for '[ "$(member state "$(reeve workers --json)")" = "\"quiet\"" ]' 20
    wait_for '[ "$(in_queue $queue running)" = 0 ]' 20
    LEFT=$(in_queue "$queue" ready)
    ready=$(ids ready "$queue")
    expect_eq "$(wc -w <<<"$ready")" "$LEFT"
    expect_eq "$ready" "$(tr ' ' '\n' <<<"$ready" | sort -n | paste -sd' ')"
    expect_eq "$(in_queue "$queue" completed)" $((3000 + count - LEFT))
    reeve list "$queue" --json --limit 0 >"$TEST_DIR/list"
    expect_eq "$(grep -c '"failures":0,"crashes":0,' "$TEST_DIR/list")" "$LEFT" "untouched tasks"
}

# Quiet: what runs ends, nothing is begun any more. (The keeper gives back what waits behind a long task.)
quiet_in_long_task() {
    seq 13 | sed 's/.*/{"type":"sleep","payload":{"ms":5000},"id":"&"}/' >"$TEST_DIR/lines"
    start_with_batch long <"$TEST_DIR/lines"
    wait_for 'are_busy quiet 1' 20
    tell_quiet long 13
    expect_eq "$(ids ready long)" "$(seq -s' ' 2 13)"
    # It does not take the wake-ups of tasks from others; told to stop it goes at once.
    quiet=$WORKER_PID
    start_worker other
    for i in 1 2 3; do expect_status 0 reeve enqueue shared noop --wait=20; done
    end "$WORKER_PID"
    end "$quiet"
    expect_eq "$ENDED" 0
    reeve pause long >/dev/null
}

# (The thread itself gives back what is left of its batch.)
quiet_in_batch() {
    seq 400 | sed 's/.*/{"type":"sleep","payload":{"ms":15},"id":"&"}/' >"$TEST_DIR/lines"
    start_with_batch short <"$TEST_DIR/lines"
    sleep 0.1
    tell_quiet short 400
    [ "$LEFT" -gt 0 ] || fail "all have run: the signal came too late"
    end "$WORKER_PID"
}

start_redis
write_conf brief 'drain = 1;' 'pools = ( { queues = [ "deadline" ]; threads = 2; } );'
write_conf patient 'drain = 60;' 'pools = ( { queues = [ "enough", "twice" ]; threads = 2; } );'
write_conf quiet 'drain = 60; session = 3;' 'pools = ( { queues = [ "long", "short", "shared" ]; threads = 1; } );'
write_conf other '' 'pools = ( { queues = [ "shared" ]; threads = 1; } );'
deadline_passes
long_enough
second_signal
quiet_in_long_task
quiet_in_batch

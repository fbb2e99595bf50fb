# st_poison.sh - a task that brings its worker down is found out and set aside, and its neighbours in a batch are not blamed.
#
# Three workers, restarted whenever one dies, run a task that crashes among 200 good ones. The first crash takes the good
# ones of its batch along; from then on each of these is leased alone, and in the end only the guilty one is dead.
. "$(dirname "$0")/lib.sh"

GOOD=200
SANITIZER_EXPECTED=1

start_redis
ulimit -c 0
write_conf poison 'session = 1;' \
    'pools = ( { queues = [ "q" ]; threads = 1; } );' \
    'queues = ( { name = "q"; keep = { completed = { age = -1; count = -1; }; }; } );'

# keep_alive: starts a worker for each that died, and notes how it died.
workers=(0 0 0)
keep_alive() {
    local i
    for i in 0 1 2; do
        if [ "${workers[i]}" != 0 ]; then
            kill -0 "${workers[i]}" 2>/dev/null && continue
            end "${workers[i]}"
            echo "$ENDED" >>"$TEST_DIR/deaths"
        fi
        start_alone poison
        workers[i]=$WORKER_PID
    done
}

# The threads learn that tasks here are short, and then take many at once.
keep_alive
seq 1 5000 | sed 's/.*/{"id":"before&","type":"noop"}/' | bulk q || exit 1
wait_for 'is_still q 5000 0' 30
reeve pause q >/dev/null
{
    seq 1 $((GOOD / 2)) | sed 's/.*/{"id":"good&","type":"noop"}/'
    echo '{"id":"bad","type":"crash"}'
    seq $((GOOD / 2 + 1)) $GOOD | sed 's/.*/{"id":"good&","type":"noop"}/'
} | bulk q || exit 1
reeve resume q >/dev/null
wait_for 'keep_alive; is_still q $((5000 + GOOD)) 1' 60

# (A sanitizer reports a segmentation fault, and chooses another status.)
expect_eq "$(wc -l <"$TEST_DIR/deaths")" 3 "deaths of workers"
[ -n "$SANITIZED" ] || expect_eq "$(sort -u "$TEST_DIR/deaths")" 139 "their status: a segmentation fault"
expect_status 0 reeve list q --state dead --json
expect_eq "$(member id "$OUT")" '"bad"'
expect_eq "$(member error_kind "$OUT")" '"crash"'
expect_eq "$(member crashes "$OUT")" 3
expect_eq "$(member failures "$OUT")" 0
expect_eq "$(logged poison task.dead)" 1 "dead tasks in the log"
# Else the neighbours were in no danger. (While a sanitizer writes its report, the keeper brings them into safety.)
crashed=$(in_queue q crashed_total)
[ -n "$SANITIZED" ] || [ "$crashed" -gt 5 ] || fail "the crash hit a batch of only $((crashed - 2))"
echo "the first crash hit $((crashed - 2)) tasks"

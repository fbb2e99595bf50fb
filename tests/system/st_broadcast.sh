# st_broadcast.sh - a broadcast to three workers, of which one is killed: each of the others runs its task once.
. "$(dirname "$0")/lib.sh"

start_redis
PIDS=
for name in one two three; do
    write_conf "$name" "session = 2;" 'pools = ( { name = "p"; queues = [ "b" ]; threads = 1; } );'
    start_alone "$name"
    PIDS="$PIDS $WORKER_PID"
done
wait_for '[ "$(reeve workers --json | grep -cF "[\"b\"]")" = 3 ]' 20

expect_status 0 reeve broadcast b sleep '{"ms":60000}' --json
expect_lines 3
long=$OUT
wait_for '[ "$(in_queue b running)" = 3 ]' 20
# Each of the three threads is busy. What is broadcast now waits for its own worker.
expect_status 0 reeve broadcast b echo later --json
later=$OUT
expect_status 0 reeve broadcast b echo soon --expires-in 5s --json
soon=$OUT
expect_eq "$(in_queue b blocked)" 6

handle_of() { printf '%s\n' "$1" | grep "\"name\":\"$2\"" | sed 's/.*"handle":"\([^"]*\)".*/\1/'; }
for name in one two; do
    reeve cancel "$(handle_of "$long" "$name")" >/dev/null || fail "not cancelled"
done

# The victim dies: its task that ran has crashed, and the one with a deadline expires. Nobody else runs them.
set -- $PIDS
victim=$(handle_of "$long" three)
kill -9 "$3"
end "$3"
wait_for '[ "$(of_task "$victim" crashes)" = 1 ]' 20
for name in one two; do
    expect_status 0 reeve wait "$(handle_of "$later" "$name")" --timeout 60s
    expect_eq "$(of_task "$(handle_of "$later" "$name")" result)" '"later"'
done
expect_status 5 reeve wait "$(handle_of "$soon" three)" --timeout 60s
expect_eq "$(of_task "$(handle_of "$soon" three)" error_kind)" '"expired"'
wait_for '[ "$(of_task "$victim" error_kind)" = "\"crash\"" ]' 20

# A worker that comes later runs nothing of it, and one that is dead gets nothing.
expect_status 0 reeve broadcast b noop --json
expect_lines 2
for pid in "$1" "$2"; do end "$pid"; done # told twice, a worker would leave what runs behind

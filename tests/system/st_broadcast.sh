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
expect_status 0 reeve broadcast b echo later --expires-in 10s --json
later=$OUT
expect_eq "$(in_queue b blocked)" 3

for name in one two; do
    handle=$(printf '%s\n' "$long" | grep "\"name\":\"$name\"" | sed 's/.*"handle":"\([^"]*\)".*/\1/')
    reeve cancel "$handle" >/dev/null || fail "not cancelled"
done

# The victim dies: its task that ran has crashed, and the other one expires. Nobody else runs them.
set -- $PIDS
victim=$(printf '%s\n' "$long" | grep '"name":"three"')
kill -9 "$3"
end "$3"
wait_for '[ "$(of_task '"$(member handle "$victim" | tr -d '"')"' crashes)" = 1 ]' 20
of_later() { printf '%s\n' "$later" | grep "\"name\":\"$1\"" | sed 's/.*"handle":"\([^"]*\)".*/\1/'; }
for name in one two; do
    expect_status 0 reeve wait "$(of_later "$name")" --timeout 20s
    expect_eq "$(of_task "$(of_later "$name")" result)" '"later"'
done
expect_status 5 reeve wait "$(of_later three)" --timeout 20s
expect_eq "$(of_task "$(of_later three)" error_kind)" '"expired"'
wait_for '[ "$(of_task '"$(member handle "$victim" | tr -d '"')"' error_kind)" = "\"crash\"" ]' 20

# A worker that comes later runs nothing of it, and one that is dead gets nothing.
expect_status 0 reeve broadcast b noop --json
expect_lines 2
for pid in "$1" "$2"; do
    kill "$pid"
    end "$pid"
done

#!/usr/bin/env bash
# st_log_file.sh - worker.log.file: opened again after a rotation, by signal and through Redis, supervised and not; a reload that
# moves it; worker.log.flood; the format journald.
. "$(dirname "$0")/lib.sh"
cd "$TEST_DIR" || exit 1

conf() { write_conf w "session = 5; log = { $1 };" 'pools = ( { name = "p"; queues = [ "q" ]; } );'; }
rotate() { run reeve signal w rotate-logs --wait 20s; }

start_redis
conf 'level = "info";'
start_worker w
wait_for 'reeve workers | grep -q running' 20
rotate
expect_eq "$STATUS" 1
expect_has "$OUT" "refused: the log goes to standard error: there is no file to open again"

# ---- a reload moves it -----------------------------------------------------------------------------------------------------

conf 'file = "one.txt";'
expect_status 0 reeve signal w reload
expect_has "$OUT" 'worker.log.file: not set -> "'
wait_for 'grep -q event=program.reloaded one.txt' 20
expect_eq "$(stat -c %a one.txt)" 640
conf 'file = "/nowhere/two.txt";'
expect_status 1 reeve signal w reload
expect_has "$OUT" 'worker.log could not be changed: /nowhere/two.txt: No such file or directory'
expect_has "$(cat one.txt)" 'a part of the configuration could not be put in force'

# ---- a rotation ------------------------------------------------------------------------------------------------------------

mv one.txt one.txt.1
reeve log-level w info >/dev/null
rotate
expect_eq "$STATUS" 0 "$OUT$ERR"
wait_for 'grep -q event=log.rotate one.txt' 20
expect_has "$(cat one.txt.1)" event=control.request
mv one.txt one.txt.2
kill -USR2 "$WORKER_PID"
wait_for 'grep -q event=log.rotate one.txt' 20
rm -f one.txt
mkdir one.txt
rotate
expect_eq "$STATUS" 1
expect_has "$OUT" "one.txt: Is a directory"
rmdir one.txt
end "$WORKER_PID"
expect_eq "$ENDED" 0

# ---- supervised: both processes have the new file ----------------------------------------------------------------------------

conf 'file = "two.txt";'
start_worker w --supervise
wait_for 'grep -q event=worker.started two.txt 2>/dev/null' 20
mv two.txt two.txt.1
rotate
expect_eq "$STATUS" 0 "$OUT$ERR"
wait_for 'grep -q event=log.rotate two.txt' 20
reeve enqueue q crash --attempts 1 --max-crashes 1 >/dev/null
wait_for 'grep -q event=worker.crashed two.txt' 30
wait_for 'grep -q event=worker.started two.txt' 30
end "$WORKER_PID"
expect_eq "$ENDED" 0
expect_lacks "$(cat two.txt.1)" worker.crashed

# ---- what cannot start -------------------------------------------------------------------------------------------------------

conf 'file = "/nowhere/two.txt";'
expect_status 1 "$REEVE_WORKER" -c w.conf --no-supervise
expect_has "$ERR" "cannot start: worker.log.file: /nowhere/two.txt: No such file or directory"
conf 'file = "three.txt";'
expect_status 1 "$REEVE_WORKER" -c w.conf --no-supervise --redis embedded:/dev/null/x
expect_has "$ERR" "reeve-worker: cannot start: "

# ---- a flood, and the journal's format ---------------------------------------------------------------------------------------

conf 'file = "four.txt"; flood = 10; format = "journald";'
start_worker w
wait_for 'grep -q event=worker.started four.txt 2>/dev/null' 20
for _ in $(seq 300); do echo '{"type":"fail","attempts":1,"payload":{"kind":"k","message":"m"}}'; done | bulk q || exit 1
wait_for '[ "$(in_queue q dead)" = 301 ]' 30
end "$WORKER_PID"
held=$(sed -n 's/.*event=log.held .* lines=\([0-9]*\).*/\1/p' four.txt | paste -sd+ | bc)
failures=$(grep -c 'event=task.* kind=k' four.txt)
[ "${held:-0}" -gt 100 ] || fail "held $held: $(head -c 2000 four.txt)"
[ $((held + failures)) -ge 300 ] || fail "$held lines held, $failures written"
expect_eq "$(grep -vc '^<[3467]>time=' four.txt)" 0

#!/usr/bin/env bash
# st_hot_plugins.sh - plugins replaced while tasks run: new tasks run in the new version, the old one ends with its last task, and
# one that cannot be loaded changes nothing; a hundred times under load, and in processes.
. "$(dirname "$0")/lib.sh"

cd "$TEST_DIR" || exit 1
export HOT_LOG=$TEST_DIR/hot.lines
hot=$REEVE_BUILD/tests/plugins/hot

# put VERSION: as an editor or a linker does, over the file that is loaded.  move VERSION: by another file of the same name.
put() { cat "${hot}_$1.so" >hot.so; }
move() { cp "${hot}_$1.so" hot.so.new && mv hot.so.new hot.so; }
conf() {
    write_conf w "session = 5; log = { level = \"info\"; };" \
        'pools = ( { name = "p"; queues = [ "q" ]; threads = 3; }, { name = "i"; queues = [ "i" ]; threads = 1; isolation = "process"; } );' \
        'queues = ( { name = "q"; keep = { completed = { age = 3600; count = 100000; }; }; } );' "$@"
    sed -i 's/plugins = .*/plugins = [ "sample", ".\/hot.so" ];/' w.conf
}
reload() { run reeve signal w reload --wait 20s; }
refused() {
    reload
    expect_eq "$STATUS" 1
    expect_has "$OUT" "refused: the present configuration stays in force; $TEST_DIR/w.conf:2: plugins[1]: plugin $TEST_DIR/./hot.so: $1"
    expect_eq "$(result q)" "$2"
}
# result QUEUE: which version runs a new task.
result() { reeve enqueue "$1" hot --wait=20 | sed -n 's/^result: "\(.*\)"/\1/p'; }
plugins() { reeve workers --plugins | awk '$2 == "hot" { print $3, $NF }' FS='  +' | sort; }
count() { grep -c "^$1" "$HOT_LOG"; }
copies() { find "/proc/$(worker_pid)/fd" -lname '/memfd:*/hot.so*' | wc -l; }
worker_pid() { member pid "$(reeve workers --json | head -n 1)"; }
threads() { ls "/proc/$(worker_pid)/task" | wc -l; }

start_redis
put 1
conf
start_worker w
wait_for '[ -n "$(reeve workers 2>/dev/null)" ]' 20
expect_eq "$(result q) $(result i)" "1 1"
reload
expect_has "$OUT" "nothing has changed in the file"
expect_status 0 env -u HOT_LOG "$REEVE_WORKER" -c w.conf --check --diff
expect_lacks "$OUT" "plugins."

# ---- one replacement ------------------------------------------------------------------------------------------------------

# The old version ends with its last task.
first=$(reeve enqueue q hold "$TEST_DIR/go")
wait_for '[ "$(member state "$(reeve show "$first" --json)")" = "\"running\"" ]' 20
put 2
expect_eq "$(result q)" 1 "a file that was written over changes nothing"
expect_has "$(reeve enqueue q more --wait=20 --attempts 1 2>&1)" "no handler"
expect_status 0 env -u HOT_LOG "$REEVE_WORKER" -c w.conf --check --diff
expect_has "$OUT" ": plugins.hot.version: 1 ($TEST_DIR/./hot.so) -> 2 (./hot.so)"
expect_lacks "$OUT" "plugins.sample"
reload
expect_eq "$STATUS" 0 "$OUT$ERR"
expect_has "$OUT" "plugins.hot.version: 1 ($TEST_DIR/./hot.so) -> 2 ($TEST_DIR/./hot.so)"
expect_eq "$(result q) $(result i)" "2 2"
expect_status 0 reeve enqueue q more --wait=20
expect_has "$(reeve workers --plugins)" " 1 "
expect_eq "$(reeve workers --json | grep -o '"version":"1","path":"[^"]*/hot.so","loaded_ms":[^}]*' | sed 's/.*"ends"/ends/')" 'ends:true'
expect_eq "$(count 'unload 1')" 0 "unloaded while a task runs"
touch "$TEST_DIR/go"
expect_status 0 reeve wait "$first" --timeout 20
expect_has "$OUT" 'result: "1"'
expect_has "$(reeve show "$first" --log)" "layer 1"
wait_for '[ "$(copies)" = 1 ]' 20
wait_for '[ "$(reeve workers --json | grep -c "\"ends\":true")" = 0 ]' 20
expect_eq "$(logged w plugin.closing)" 1
rm go
# Layers and settings of handlers are those of the new one.
conf 'handlers = ( { type = "hot"; attempts = 3; timeout = 7; }, { type = "more"; backoff = { shape = "fixed"; base = 1.0; }; } );'
reload
expect_eq "$STATUS" 0 "$OUT$ERR"
expect_has "$OUT" 'handlers.hot: absent -> { type = "hot"; attempts = 3; timeout = 7;'
touch go
second=$(reeve enqueue q hold "$TEST_DIR/go")
expect_status 0 reeve wait "$second" --timeout 20
expect_has "$(reeve show "$second" --log)" "layer 2"

# ---- what changes nothing -------------------------------------------------------------------------------------------------

conf
reload
head -c 9000 "${hot}_1.so" >hot.so
refused "cannot open it: it has 9000 of " 2
echo text >hot.so
refused "cannot open it: " 2
rm hot.so
refused "cannot open it: No such file or directory" 2
touch hot-refuses
move 1
refused "its load hook failed (it returned 1)" 2
rm hot-refuses
conf 'handlers = ( { type = "more"; attempts = 3; } );'
reload
expect_eq "$STATUS" 1
expect_has "$OUT" "w.conf:5: handlers[0].type: no plugin has a handler for \"more\""
expect_eq "$(result q) $(result i)" "2 2"
conf
mkfifo pipe.conf
mv pipe.conf w.conf
reload
expect_has "$OUT" "w.conf: is no regular file: it cannot be read again"
rm w.conf
conf
reload
expect_has "$OUT" "plugins.hot.version: 2 ($TEST_DIR/./hot.so) -> 1 ($TEST_DIR/./hot.so)"
expect_eq "$(result q) $(result i)" "1 1"
# A plugin that a reload would remove is a difference.
sed 's/, ".\/hot.so"//' w.conf >without.conf
expect_status 0 env -u HOT_LOG "$REEVE_WORKER" -c without.conf --check --diff
expect_has "$OUT" ": plugins.hot.version: 1 ($TEST_DIR/./hot.so) -> absent"
expect_lacks "$OUT" "plugins.sample"
# The reload does that, and quotes its path.
cp without.conf w.conf
reload
expect_has "$OUT" "plugins[\"$TEST_DIR/./hot.so\"]: { name = \"$TEST_DIR/./hot.so\"; } -> absent"
conf
reload
expect_has "$OUT" "plugins[\"$TEST_DIR/./hot.so\"]: absent -> { name = "
wait_for '[ "$(result q) $(result i)" = "1 1" ]' 20

# A file that has a plugin of another name than before.
cp "$PLUGIN_DIR/checksum.so" hot.so.new && mv hot.so.new hot.so
expect_status 0 env -u HOT_LOG "$REEVE_WORKER" -c w.conf --check --diff
expect_has "$OUT" ": plugins.hot.version: 1 ($TEST_DIR/./hot.so) -> absent"
reload
expect_eq "$STATUS" 0 "$OUT$ERR"
expect_has "$OUT" "plugins.hot.version: 1 ($TEST_DIR/./hot.so) -> absent"
expect_has "$OUT" "plugins.checksum.version: absent -> "
expect_has "$(reeve enqueue q hot --wait=20 --attempts 1 2>&1)" "no handler"
move 1
reload
expect_eq "$(result q) $(result i)" "1 1"

# ---- a hundred times, under load ------------------------------------------------------------------------------------------

# shellcheck disable=SC2034 # (conditions read them)
before=$(count run) threads=$(threads)
(for _ in $(seq 100); do
    seq 100 | sed 's/.*/{"queue":"q","type":"hot"}/' | reeve enqueue --bulk
    [ -e enough ] && break
    sleep 0.1
done >handles 2>errors) &
producer=$!
own $producer
for round in $(seq 100); do
    if [ $((round % 3)) = 0 ]; then move $((1 + round % 2)); else put $((1 + round % 2)); fi
    reload
    expect_eq "$STATUS" 0 "round $round: $OUT$ERR"
    [ $((round % 20)) = 0 ] && { expect_eq "$(result q) $(result i)" "$((1 + round % 2)) $((1 + round % 2))"; }
done
touch enough
wait $producer
wait_for '[ "$(reeve queues q --json | grep -c "\"ready\":0,\"parked\":0,\"running\":0")" = 1 ]' 60
sed 's/.*\///' handles | sort >enqueued
grep '^run' "$HOT_LOG" | cut -d ' ' -f 2 | sort >ran
expect_eq "$(comm -23 enqueued ran | wc -l)" 0 "lost"
expect_eq "$(uniq -d ran | wc -l)" 0 "run twice"
[ "$(wc -l <enqueued)" -ge 500 ] || fail "the load was $(wc -l <enqueued) tasks"
# Nothing of the old versions is left.
wait_for '[ "$(copies)" = 1 ]' 20
wait_for '[ "$(threads)" -le "$threads" ]' 20
wait_for '[ "$(reeve workers --json | grep -c "\"ends\":true")" = 0 ]' 20
expect_eq "$(logged w program.reload_rejected | sed 's/.*/x/')" x
end "$WORKER_PID"
expect_eq "$ENDED" 0
expect_eq "$(count start)" "$(count stop)" "threads that were set up"
expect_eq "$(count load)" "$(($(count unload) + $(grep -c 'load hook failed' w.log)))" "hooks"

#!/usr/bin/env bash
# Plugins that fault in their hooks: no task is blamed for a load or unload hook, and the worker says which plugin it was.
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
SANITIZER_EXPECTED=1
[ -z "$SANITIZED" ] || { echo "a sanitizer's own handlers end the process"; exit 77; }
ulimit -c 0
start_redis
attacks=$TEST_DIR/attacks.so
put_plugin() { cp "$REEVE_BUILD/tests/plugins/attacks.so" "$attacks.new" && mv "$attacks.new" "$attacks"; }
put_plugin

# write_worker NAME [POOL]
write_worker() {
    cat >"$TEST_DIR/$1.conf" <<END
worker = { name = "$1"; log = { level = "debug"; }; };
plugins = [ "$attacks", "$REEVE_BUILD/tests/plugins/fatal.so" ];
pools = ( { name = "p"; queues = [ "q" ]; threads = 2; ${2:-} } );
handlers = ( { type = "attack"; max_crashes = 1; attempts = 1; } );
END
}
write_worker thread
write_worker process 'isolation = "process";'

# ---- load -------------------------------------------------------------------------------------------------------------------

export REEVE_TEST_ATTACK_HOOK=load
for kind in thread process; do
    expect_status 71 "$REEVE_WORKER" -c "$TEST_DIR/$kind.conf"
    expect_has "$ERR" "the worker died 3 times before it could take a task; the last time: SIGSEGV at address 0x10 in"
    expect_has "$ERR" "(attacks.so+0x"
done

# ---- the hooks of a thread --------------------------------------------------------------------------------------------------

# It is called for a task, whose thread crashes.
REEVE_TEST_ATTACK_HOOK=thread_start
for kind in thread process; do
    start_worker $kind
    expect_status 5 reeve enqueue q attack nothing --id $kind-begins --wait=20
    expect_eq "$(of_task q/$kind-begins error_kind)" '"crash"'
    expect_has "$(of_task q/$kind-begins backtrace)" "#0 thread_start+0x"
    end "$WORKER_PID"
    expect_eq "$ENDED" 0
done
# All tasks have ended.
REEVE_TEST_ATTACK_HOOK=thread_stop
for kind in thread process; do
    start_worker $kind
    expect_status 0 reeve enqueue q attack nothing --id $kind-ends --wait=20
    end "$WORKER_PID"
    expect_eq "$ENDED" "$([ $kind = thread ] && echo 70 || echo 0)" "$kind"
done
expect_eq "$(in_queue q crashed_total)" 2

# ---- unload -----------------------------------------------------------------------------------------------------------------

REEVE_TEST_ATTACK_HOOK=unload
for kind in thread process; do
    start_worker $kind
    expect_status 0 reeve enqueue q attack nothing --id $kind-unloads --wait=20
    end "$WORKER_PID"
    expect_eq "$ENDED" 70 "$kind"
    expect_has "$(grep event=worker.crashed "$TEST_DIR/$kind.log" | tail -n 1)" "SIGSEGV at address 0x10 in"
done

# At a reload, while another version of the plugin runs tasks.
export REEVE_TEST_ATTACK_GATE=$TEST_DIR/gate
write_worker reloaded
start_worker reloaded
wait_for '[ "$(logged reloaded worker.started)" = 1 ]' 20
put_plugin
kill -HUP "$WORKER_PID"
wait_for '[ "$(logged reloaded plugin.closing)" = 1 ]' 20
for id in one two; do reeve enqueue q hold "$TEST_DIR/go" --id $id --max-crashes 1 >/dev/null; done
wait_for 'are_busy reloaded 2' 20
: >"$TEST_DIR/gate"
wait_for '[ "$(logged reloaded worker.started)" = 2 ]' 20
expect_has "$(grep event=worker.crashed "$TEST_DIR/reloaded.log")" "crashed=0"
: >"$TEST_DIR/go"
for id in one two; do
    expect_status 0 reeve wait q/$id --timeout 20s
    expect_eq "$(of_task q/$id crashes)" 0 "crashes of $id"
done
expect_eq "$(in_queue q crashed_total)" 2
unset REEVE_TEST_ATTACK_HOOK
end "$WORKER_PID" KILL

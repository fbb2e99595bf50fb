# st_example_encrypt.sh - the example encrypt: payloads are encrypted in Redis, and decrypted before handlers; keys are exchanged.
. "$(dirname "$0")/lib.sh"

ENCRYPT="$REEVE_BUILD/examples/encrypt.so"
[ -e "$ENCRYPT" ] || { echo "built without the examples: skipped"; exit 77; }
cd "$TEST_DIR" || exit 1
OLD=$(printf '%064x' 11) NEW=$(printf '%064x' 22)
printf '# keys\nold %s\n' "$OLD" >old.keys
printf 'new %s\nold %s\n' "$NEW" "$OLD" >both.keys
printf 'old %s\nnew %s\n' "$OLD" "$NEW" >new.keys
export ENCRYPT_KEYS=$TEST_DIR/old.keys

# put KEYS ARGUMENT...: enqueues into vault through the layer.
put() {
    local keys=$1
    shift
    expect_status 0 env ENCRYPT_KEYS="$TEST_DIR/$keys" "$REEVE" enqueue vault "$@" --layers "$ENCRYPT"
}

start_work() {
    {
        echo 'worker = { name = "w"; session = 1; };'
        echo "plugin_dir = \"$PLUGIN_DIR\"; plugins = [ \"$ENCRYPT\", \"sample\", \"./chain.so\" ];"
        echo 'pools = ( { name = "p"; queues = [ "vault" ]; threads = 1; } );'
        echo "$1"
    } >w.conf
    start_worker w
}

# A handler that chains a task, and a batch handler.
cat >chain.c <<'END'
#include <reeve/plugin.h>
#include <reeve/depend.h>

static reeve_outcome chain(reeve_task *task, void *user)
{
    reeve_task_spec spec = {.queue = "vault", .type = "echo", .id = "chained", .payload = reeve_task_payload(task)};
    (void)user;
    if (reeve_task_chain(task, &spec, NULL) != REEVE_OK) return reeve_task_fail(task, "chain", "%s", reeve_task_call_error(task));
    return reeve_task_done(task, NULL, 0);
}

static void many(reeve_task *const *tasks, size_t count, void *user)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        reeve_bytes payload = reeve_task_payload(tasks[i]);
        (void)reeve_task_done(tasks[i], payload.data, payload.length);
    }
}

static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "chain", .run = chain},
                                         {REEVE_HANDLER, .type = "many", .run_batch = many, .batch_size = 10}};

REEVE_PLUGIN(.name = "chain", .handlers = handlers, .handler_count = 2)
END
expect_status 0 cc -std=c11 -shared -fPIC -I"$REEVE_SOURCE/include" -o chain.so chain.c

start_redis
put old.keys echo "a secret" --id one
put old.keys many "a batched secret" --id batched
expect_lacks "$(redis HGET 'reeve:{vault}:tasks' one | tr -d '\000')" "a secret"
expect_has "$(redis HGET 'reeve:{vault}:tasks' one | tr -d '\000')" '"meta":{"key":"old"}'
printf '{"payload":"lines","id":"line"}\n' >lines
expect_status 0 "$REEVE" enqueue --bulk vault echo --layers "$ENCRYPT" <lines
expect_lacks "$(redis HGET 'reeve:{vault}:tasks' line | tr -d '\000')" "lines"
expect_status 0 "$REEVE" cron add nightly "every 1s" vault echo "a recurring secret" --layers "$ENCRYPT"
expect_lacks "$(redis HVALS 'reeve:{vault}:cron' | tr -d '\000')" "recurring secret"
expect_has "$(redis HVALS 'reeve:{vault}:cron' | tr -d '\000')" '"layered":"k'

# What is encrypted is not encrypted again.
expect_status 0 "$REEVE" cron add kept "0 0 1 1 *" vault echo "a kept secret" --layers "$ENCRYPT"
expect_status 1 "$REEVE" cron add kept "0 0 2 1 *" vault echo --layers "$ENCRYPT"
expect_has "$ERR" "cannot pass them again: give the payload"
expect_status 1 "$REEVE" cron add kept "0 0 2 1 *" vault echo "a plain text"
expect_has "$ERR" "name them with --layers"
expect_status 1 "$REEVE" cron add kept "0 0 2 1 *" vault many
expect_status 0 "$REEVE" cron add kept "0 0 2 1 *" vault echo --priority 1
expect_status 0 "$REEVE" cron run vault/kept
KEPT=$OUT

start_work 'cron = ( { name = "configured"; spec = "0 0 1 1 *"; queue = "vault"; type = "echo"; payload = "of the file"; } );'
expect_status 0 reeve wait vault/one
expect_has "$OUT" "a secret"
expect_status 0 reeve wait vault/batched
expect_has "$OUT" "a batched secret"
wait_for 'reeve list vault --state completed --json | grep -q "a recurring secret"' 20
expect_status 0 reeve wait "$KEPT"
expect_has "$OUT" "a kept secret"
expect_status 0 reeve cron remove vault/kept
expect_status 0 reeve cron remove vault/nightly
wait_for 'redis HVALS "reeve:{vault}:cron" | grep -q configured || redis HKEYS "reeve:{vault}:cron" | grep -q configured' 20
expect_lacks "$(redis HVALS 'reeve:{vault}:cron' | tr -d '\000')" "of the file"
put old.keys chain "handed on"
expect_status 0 reeve wait vault/chained
expect_has "$OUT" "handed on"
expect_has "$(redis HGET 'reeve:{vault}:tasks' chained | tr -d '\000')" '"meta":{"key":"old"}'

# A key that the worker has not got yet; then it has.
put new.keys echo "a newer secret" --id two
wait_for '[ "$(of_task vault/two error_kind)" = "\"key\"" ]' 20
end "$WORKER_PID"
export ENCRYPT_KEYS=$TEST_DIR/both.keys
start_work ''
put old.keys echo "with the old key" --id three
reeve retry vault/two >/dev/null 2>&1 || : # (its next attempt may have begun by itself)
expect_status 0 reeve wait vault/two
expect_has "$OUT" "a newer secret"
expect_status 0 reeve wait vault/three
expect_has "$OUT" "with the old key"

# What nobody encrypted, and what somebody changed.
expect_status 5 reeve enqueue vault echo "plain" --wait
expect_has "$OUT$ERR" "the payload is not encrypted"
expect_status 5 reeve enqueue vault echo "not sealed at all, but long enough" --meta key=old --wait
expect_has "$OUT$ERR" "does not open with key old"

# Taken by a shell.
end "$WORKER_PID"
put old.keys echo "a pulled secret" --id pulled
expect_status 0 reeve lease vault
expect_lacks "$OUT" "a pulled secret"
expect_status 0 reeve settle vault/pulled give-back --lease "$(sed -n 's/^lease: *//p' <<<"$OUT")"
expect_status 0 "$REEVE" lease vault --layers "$ENCRYPT" --exec 'tr a-z A-Z'
expect_status 0 reeve show vault/pulled
expect_has "$OUT" "A PULLED SECRET"
expect_status 0 reeve enqueue vault echo "plain" --id plain --after vault/pulled
expect_status 1 "$REEVE" lease vault/plain --layers "$ENCRYPT"
expect_has "$ERR" "a layer has settled vault/plain"
expect_eq "$(of_task vault/plain error_kind)" '"plain"'
expect_status 1 "$REEVE" lease vault --layers "$TEST_DIR/none.so"

# Without keys nothing is enqueued.
expect_status 1 env ENCRYPT_KEYS="$TEST_DIR/none" "$REEVE" enqueue vault echo secret --layers "$ENCRYPT"
expect_status 1 "$REEVE" enqueue vault echo secret --layers "$TEST_DIR/none.so"
expect_eq "$(grep -c -e secret -e 'handed on' w.log)" 0 "secrets in the log"

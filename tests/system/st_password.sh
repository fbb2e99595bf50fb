#!/usr/bin/env bash
# A password in --redis does not stand in the list of processes; it can stand in a file that only its owner may read.
. "$(dirname "$0")/lib.sh"

write_conf w 'session = 5;' 'pools = ( { queues = [ "q" ]; threads = 1; } );'
for argument in "--redis redis://user:topsecret@127.0.0.1:1/0" "--redis=redis://:topsecret@127.0.0.1:1" \
    "--redis=redis://:topsecret@/?a@127.0.0.1:1"; do
    : >"$TEST_DIR/w.log"
    # shellcheck disable=SC2086
    start_worker w $argument
    wait_for '[ "$(logged w worker.started)" = 1 ]' 20
    expect_lacks "$(tr '\0' ' ' <"/proc/$WORKER_PID/cmdline")" "topsecret"
    expect_has "$(tr '\0' ' ' <"/proc/$WORKER_PID/cmdline")" "*********@127.0.0.1:1"
    expect_lacks "$(cat "$TEST_DIR/w.log")" "topsecret"
    kill -TERM "$WORKER_PID"
    end "$WORKER_PID" KILL
done

# ---- in a file ---------------------------------------------------------------------------------------------------------

export REDISCLI_AUTH='top:secret/@%'
start_redis --requirepass 'top:secret/@%'
unset REEVE_REDIS
printf 'unix://:top%%3Asecret%%2F%%40%%25@%s\n' "$REDIS_SOCKET" >"$TEST_DIR/url"
printf 'top:secret/@%%\n' >"$TEST_DIR/password"
chmod 644 "$TEST_DIR/url" "$TEST_DIR/password"

# Others can read it: nothing is done.
expect_status 2 reeve ping --redis-file "$TEST_DIR/url"
expect_has "$ERR" "url: others may read or change it (mode 0644): chmod 600 it"
expect_lacks "$ERR" "secret"
chmod 600 "$TEST_DIR/url" "$TEST_DIR/password"
expect_status 0 reeve ping --redis-file "$TEST_DIR/url"
expect_lacks "$OUT" "secret"
expect_status 0 reeve --redis-file "$TEST_DIR/url" --json enqueue q noop --id one
expect_status 0 reeve ping --redis-file <(cat "$TEST_DIR/url")
expect_status 2 reeve ping --redis-file "$TEST_DIR/none"
expect_has "$ERR" "none: cannot be opened"
expect_status 2 reeve ping --redis-file "$TEST_DIR/url" --redis unix:///x
expect_has "$ERR" "either --redis or --redis-file"
echo nonsense >"$TEST_DIR/bad"
chmod 600 "$TEST_DIR/bad"
expect_status 2 reeve ping --redis-file "$TEST_DIR/bad"

# A worker, by the flag, and by a relative file of the configuration.
write_conf w 'session = 2; log = { level = "error"; };' 'pools = ( { queues = [ "q" ]; threads = 1; } );'
start_worker w --redis-file "$TEST_DIR/url"
expect_status 0 reeve wait q/one --timeout 30 --redis-file "$TEST_DIR/url"
expect_lacks "$(tr '\0' ' ' <"/proc/$WORKER_PID/cmdline")" "secret"
end "$WORKER_PID"
expect_eq "$ENDED" 0
write_conf f 'session = 2; log = { level = "error"; };' 'pools = ( { queues = [ "q" ]; threads = 1; } );' \
    "redis = \"unix://$REDIS_SOCKET\"; redis_password_file = \"password\";"
expect_status 0 "$REEVE_WORKER" -c "$TEST_DIR/f.conf" --check
start_worker f
expect_status 0 reeve enqueue q noop --id two --redis-file "$TEST_DIR/url"
expect_status 0 reeve wait q/two --timeout 30 --redis-file "$TEST_DIR/url"
end "$WORKER_PID"
expect_eq "$ENDED" 0
chmod 604 "$TEST_DIR/password"
expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/f.conf" --check
expect_has "$ERR" "redis_password_file: $TEST_DIR/password: others may read"
expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/f.conf"
expect_status 0 "$REEVE_WORKER" -c "$TEST_DIR/f.conf" --redis unix:///x --check
sed -i 's/^redis = .*; redis_p/redis_p/' "$TEST_DIR/f.conf"
chmod 600 "$TEST_DIR/password"
expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/f.conf" --check
expect_has "$ERR" "needs redis"

# ---- in a file, or told by a command, read for each connection ----------------------------------------------------------

# change PASSWORD: from now on Redis wants this one, and all connections end.
change() {
    redis CONFIG SET requirepass "$1" >/dev/null
    export REDISCLI_AUTH=$1
    redis CLIENT KILL TYPE normal SKIPME yes >/dev/null
    redis CLIENT KILL TYPE pubsub >/dev/null
}

printf 'top:secret/@%%\n' >"$TEST_DIR/password"
write_conf p 'session = 2; log = { level = "warn"; };' 'pools = ( { queues = [ "q" ]; threads = 2; } );'
start_worker p --redis "unix://$REDIS_SOCKET?password_file=$TEST_DIR/password"
export REEVE_REDIS="unix://$REDIS_SOCKET?password_command=cat%20$TEST_DIR/password"
expect_status 0 reeve enqueue q echo first --wait
echo second-secret >"$TEST_DIR/next"
chmod 600 "$TEST_DIR/next"
mv "$TEST_DIR/next" "$TEST_DIR/password"
change second-secret
expect_status 0 reeve enqueue q echo second --wait=60
expect_lacks "$(cat "$TEST_DIR/p.log")" secret
end "$WORKER_PID"
expect_eq "$ENDED" 0
echo third-secret >"$TEST_DIR/password"
expect_status 3 reeve ping
expect_has "$ERR" "wrong user or password"
expect_lacks "$ERR" third-secret
expect_status 3 reeve ping --redis "unix://$REDIS_SOCKET?password_file=$TEST_DIR/none"
expect_has "$ERR" "password_file: $TEST_DIR/none: cannot be opened"
expect_status 3 reeve ping --redis "unix://$REDIS_SOCKET?password_command=echo%20secret;exit%201"
expect_has "$ERR" "password_command: it failed"
expect_status 2 reeve ping --redis "unix://u:secret@$REDIS_SOCKET?password_file=/x"
expect_has "$ERR" "more than one of a password"

#!/usr/bin/env bash
# The sandbox of a pool with process isolation: what handlers cannot reach, who they run as, and what `reeve workers` shows of
# it. A kernel without Landlock, or a build without libseccomp, limits less: then the test checks that this is shown.
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
SANITIZER_EXPECTED=1
plugin=$REEVE_BUILD/tests/plugins/confined.so
ulimit -c 0
start_redis
mkdir "$TEST_DIR/scratch" "$TEST_DIR/readable" "$TEST_DIR/secret"
chmod 755 "$TEST_DIR" "$TEST_DIR/readable"
chmod 777 "$TEST_DIR/scratch"
echo readable >"$TEST_DIR/readable/file"
echo secret >"$TEST_DIR/secret/file"
chmod 644 "$TEST_DIR"/*/file

# write_worker NAME POOL-SETTINGS
write_worker() {
    # shellcheck disable=SC2034 # (the condition reads it)
    local name=$1
    cat >"$TEST_DIR/$1.conf" <<END
worker = { name = "$1"; supervise = false; };
plugins = [ "$plugin" ];
pools = ( { name = "p"; queues = [ "$1" ]; threads = 1; isolation = "process"; $2 } );
handlers = ( { type = "try"; attempts = 1; max_crashes = 1; } );
END
    start_worker "$1"
    wait_for '[ "$(logged $name worker.started)" = 1 ]' 20
}
# try QUEUE WHAT: what the handler says of it: "ok", or the name of an error.
try() {
    expect_status 0 reeve enqueue "$1" try "$2" --wait=20
    sed -n 's/^result: *//p' "$TEST_DIR/out"
}
in_force() { member sandbox "$(reeve workers --json | grep "\"name\":\"$1\"")" | tr -d '"'; }

# ---- none -----------------------------------------------------------------------------------------------------------------

write_worker free ""
expect_eq "$(in_force free)" null
expect_eq "$(try free "read $TEST_DIR/secret/file")" ok
expect_eq "$(try free "socket")" ok
end "$WORKER_PID"

# ---- all of it ------------------------------------------------------------------------------------------------------------

write_worker box "runner = { scratch = \"$TEST_DIR/scratch\"; }; sandbox = { network = false; files = [ \"ro:$TEST_DIR/readable\", \"rw:scratch\" ]; syscalls = \"handler\"; };"
shown=$(in_force box)
echo "in force: $shown"
force=${shown%%; not in force:*} missing=${shown#"$force"}
for part in "files (Landlock)" "syscalls (seccomp)"; do
    case $force$missing in *"$part"*) ;; *) fail "nothing is said of $part: $shown" ;; esac
done
[ -z "$missing" ] || expect_has "$(cat "$TEST_DIR/box.log")" "event=runner.unconfined"
secret=ok network=ok
case $force in
*"files (Landlock)"*)
    secret=EACCES
    expect_eq "$(try box "read $TEST_DIR/secret/file")" EACCES
    expect_eq "$(try box "read $TEST_DIR/readable/file")" ok
    expect_eq "$(try box "write $TEST_DIR/readable/file")" EACCES
    expect_eq "$(try box "write $TEST_DIR/secret/new")" EACCES
    expect_eq "$(try box "write here")" ok
    expect_eq "$(try box "read /etc/passwd")" EACCES
    # The directory is the task's: not that of all runners, and nothing is left for the next task.
    expect_eq "$(try box "list $TEST_DIR/scratch")" EACCES
    expect_eq "$(try box "write $TEST_DIR/scratch/for-others")" EACCES
    expect_eq "$(try box "write ../left")" ok
    expect_eq "$(try box "read ../left")" ENOENT
    expect_eq "$(try box "list /")" EACCES
    ;;
*) expect_eq "$(try box "read $TEST_DIR/secret/file")" ok ;;
esac
case $force in
*"network (seccomp)"*) network=EACCES && expect_eq "$(try box socket)" EACCES ;;
*"TCP (Landlock)"*) expect_eq "$(try box connect)" EACCES ;;
*) expect_eq "$(try box socket)" ok ;;
esac
case $force in
*"syscalls (seccomp)"*)
    expect_eq "$(try box unshare)" EPERM
    expect_eq "$(try box ptrace)" EPERM
    ;;
esac
# A queue that gets partitions makes a new pool: of the same sandbox, also in a worker that starts later.
expect_status 0 reeve partition box 2
wait_for '[ "$(logged box pool.changed)" = 1 ]' 20
wait_for '[ "$(in_force box)" = "$shown" ]' 20
expect_eq "$(try box "read $TEST_DIR/secret/file")" "$secret" "a file out of reach, with partitions"
expect_eq "$(try box socket)" "$network" "the network, with partitions"
end "$WORKER_PID"
start_worker box
wait_for '[ "$(logged box worker.started)" = 2 ]' 20
wait_for '[ "$(in_force box)" = "$shown" ]' 20
expect_eq "$(try box "read $TEST_DIR/secret/file")" "$secret" "a file out of reach, at a start with partitions"
# What handlers call still works, and a crash is told with its frames.
expect_eq "$(try box progress)" ok
if [ -z "$SANITIZED" ]; then
    expect_status 5 reeve enqueue box try crash --id crash --wait=20
    expect_has "$(of_task box/crash error_message)" "SIGSEGV at address 0x"
    expect_has "$(of_task box/crash backtrace)" "#0 "
fi
expect_eq "$(find "$TEST_DIR/scratch" -mindepth 2)" "" "what tasks have left"
end "$WORKER_PID"
expect_eq "$(ls -A "$TEST_DIR/scratch")" "" "directories that are left"

# ---- another user ---------------------------------------------------------------------------------------------------------

if [ "$(id -u)" = 0 ]; then
    chmod 700 "$TEST_DIR/secret"
    write_worker other "runner = { user = \"nobody:nogroup\"; scratch = \"$TEST_DIR/scratch\"; };"
    expect_has "$(in_force other)" "user $(id -u nobody):$(getent group nogroup | cut -d : -f 3)"
    expect_eq "$(try other "read $TEST_DIR/secret/file")" EACCES
    expect_eq "$(try other "write here")" ok
    expect_eq "$(try other "id")" "$(id -u nobody) $(getent group nogroup | cut -d : -f 3) 0 groups"
    expect_eq "$(ls -A "$TEST_DIR/scratch")" "" "directories that are left"
    expect_status 0 reeve partition other 2
    wait_for '[ "$(logged other pool.changed)" = 1 ]' 20
    expect_eq "$(try other "id")" "$(id -u nobody) $(getent group nogroup | cut -d : -f 3) 0 groups"
    end "$WORKER_PID"
else
    printf 'pools = ( { queues = [ "r" ]; isolation = "process"; runner = { user = "root"; }; } );\n' >"$TEST_DIR/bad.conf"
    expect_status 1 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf"
    expect_has "$ERR" 'only a worker of root can run them as "root"'
fi

# ---- what is wrong --------------------------------------------------------------------------------------------------------

# refuse POOL-SETTINGS WORDS
refuse() {
    printf 'pools = ( { queues = [ "r" ]; isolation = "process"; %s } );\n' "$1" >"$TEST_DIR/bad.conf"
    expect_status 1 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf"
    expect_has "$ERR" "$2"
}
refuse 'runner = { user = "no-such-user"; };' 'there is no user "no-such-user"'
refuse 'sandbox = { files = [ "rw:scratch" ]; };' '"rw:scratch" needs a scratch directory'
printf 'pools = ( { queues = [ "r" ]; sandbox = { network = false; }; } );\n' >"$TEST_DIR/bad.conf"
expect_status 1 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf"
expect_has "$ERR" "for REEVE_ISOLATION_PROCESS only"
printf 'pools = ( { queues = [ "r" ]; isolation = "process"; sandbox = { files = [ "usr" ]; }; } );\n' >"$TEST_DIR/bad.conf"
expect_status 2 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf"
expect_has "$ERR" '"ro:/PATH", "rw:/PATH" or "rw:scratch"'

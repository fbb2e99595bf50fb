#!/usr/bin/env bash
# Runners in control groups (cgroup v2), below a directory that is given and in the group of the worker: what a handler has
# started ends with its runner, whatever it does to hide; the limit of memory is told from another end; nothing is left. What
# the system does not allow, `reeve workers` tells.
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
SANITIZER_EXPECTED=1
plugin=$REEVE_BUILD/tests/plugins/hostile.so
ulimit -c 0
start_redis

# write_worker NAME RUNNER [THREADS]
write_worker() {
    cat >"$TEST_DIR/$1.conf" <<END
worker = { name = "$1"; log = { level = "debug"; }; };
plugin_dir = "$PLUGIN_DIR"; plugins = [ "sample", "$plugin" ];
pools = ( { name = "p"; queues = [ "q" ]; threads = ${3:-2}; isolation = "process"; runner = { $2 }; } );
handlers = ( { type = "hostile"; max_crashes = 1; attempts = 1; } );
END
}
in_force() { member sandbox "$(reeve workers --json | grep "\"name\":\"$1\"")" | tr -d '"'; }

# ---- where there is none ----------------------------------------------------------------------------------------------------

write_worker none "cgroup = \"$TEST_DIR/none\"; cgroup_memory = 100000000;"
start_worker none
wait_for '[ "$(in_force none)" = "not in force: cgroup" ]' 20
expect_eq "$(logged none runner.unconfined)" 1
expect_status 0 reeve enqueue q noop --wait=20
end "$WORKER_PID"
write_worker bad "cgroup = \"relative\";"
expect_status 1 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf"
expect_has "$ERR" 'must be "own" or an absolute path'
write_worker bad "cgroup_memory = 100000000;"
expect_status 1 "$REEVE_WORKER" -c "$TEST_DIR/bad.conf"

# ---- a directory ------------------------------------------------------------------------------------------------------------

mounted=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
own=$mounted$(sed -n 's/^0:://p' /proc/self/cgroup)
base=${own%/}/reeve-st-$$
if [ -z "$mounted" ] || ! mkdir "$base" 2>/dev/null; then
    echo "no cgroup v2 that this user may write to: the rest is not tested"
    exit 0
fi
# remove_groups STATUS
remove_groups() {
    local group
    for group in "$base"/*/ "$base"; do echo 1 >"$group/cgroup.kill"; done 2>/dev/null
    for group in "$base"/*/ "$base"; do until rmdir "$group" 2>/dev/null || [ ! -d "$group" ]; do sleep 0.01; done; done
    return "$1"
}
trap "remove_groups \$?; clean_up" EXIT
groups() { find "$base" -mindepth 1 -type d; }
count_groups() { groups | wc -l; }
runner_groups() { find "$base" -name 'reeve-[0-9]*'; }
# Each runner is in its group, whose name ends with its process id. expect_in_groups WORKER COUNT [STARTED], of all workers of this name
expect_in_groups() {
    local group
    wait_for '[ "$(logged '"$1"' runner.started)" = '"${3:-$2}"' ]' 20
    expect_eq "$(runner_groups | wc -l)" "$2" "groups of runners"
    for group in $(runner_groups); do expect_has " $(tr '\n' ' ' <"$group/cgroup.procs")" " ${group##*-} "; done
}
echo +memory >"${own%/}/cgroup.subtree_control" 2>/dev/null # for the limit, where the controller is there
HAS_MEMORY=
grep -qw memory "$base/cgroup.controllers" && HAS_MEMORY=1

write_worker one "cgroup = \"$base\"; cgroup_memory = 100000000;"
mkdir "$base/reeve-4194303-1" # of a worker that was killed
start_worker one
wait_for '[ -n "$(in_force one)" ]' 20
if [ -n "$HAS_MEMORY" ]; then
    expect_eq "$(in_force one)" "cgroup, memory (cgroup)"
    expect_eq "$(sort -u "$base"/reeve-*/memory.max)" 99999744 # whole pages
    expect_status 5 reeve enqueue q hostile memory --id memory --wait=60
    expect_has "$(of_task q/memory error_message)" "its process was killed: its control group had no memory left"
else
    expect_eq "$(in_force one)" "cgroup; not in force: memory (cgroup)"
fi
expect_status 5 reeve enqueue q hostile "hidden daemon" --id hidden --wait=20
expect_has "$(of_task q/hidden error_message)" SIGABRT
wait_for '[ "$(count_groups)" -le 1 ]' 5 # (The next task starts the next runner.)
expect_status 0 reeve enqueue q hostile "hidden daemon that completes" --id quiet --wait=20
wait_for '[ "$(cat "$base"/reeve-*/cgroup.procs | wc -l)" = $(($(count_groups) + 1)) ]' 5
end "$WORKER_PID"
expect_eq "$(count_groups)" 0 "groups that are left"

# ---- the group of the worker ------------------------------------------------------------------------------------------------

write_worker two 'cgroup = "own";'
(
    echo "$BASHPID" >"$base/cgroup.procs"
    exec "$REEVE_WORKER" -c "$TEST_DIR/two.conf" 2>"$TEST_DIR/two.log"
) &
own $!
worker=$!
wait_for '[ "$(in_force two)" = cgroup ]' 20
expect_in_groups two 2
end "$worker"
wait_for '[ -z "$(runner_groups)" ]' 5

# Other processes of the same service, which are moved as well.
(
    echo "$BASHPID" >"$base/cgroup.procs"
    for _ in {1..300}; do sleep 300 & done
    wait
) &
own $!
wait_for '[ "$(wc -l <"$base/cgroup.procs")" = 301 ]' 10
write_worker three 'cgroup = "own"; cgroup_memory = 100000000;' 16
(
    echo "$BASHPID" >"$base/cgroup.procs"
    exec "$REEVE_WORKER" -c "$TEST_DIR/three.conf" 2>"$TEST_DIR/three.log"
) &
own $!
worker=$!
wait_for '[ -n "$(in_force three)" ]' 20
[ -z "$HAS_MEMORY" ] || expect_eq "$(in_force three)" "cgroup, memory (cgroup)"
expect_has "$(in_force three)" cgroup
expect_in_groups three 16
expect_eq "$(wc -l <"$base/cgroup.procs")" 0 "processes that stand in the way of controllers"
expect_eq "$(wc -l <"$base/reeve-worker/cgroup.procs")" 303 "the worker, its supervisor and others"
# A worker that is started again finds the same place.
kill -KILL "$(tr -d ' ' <"/proc/$worker/task/$worker/children")"
wait_for '[ "$(logged three worker.started)" = 2 ]' 20
expect_status 0 reeve enqueue q noop --wait=20
expect_in_groups three 16 32
end "$worker"
wait_for '[ -z "$(runner_groups)" ]' 5
echo 1 >"$base/reeve-worker/cgroup.kill"

# ---- groups of that name ----------------------------------------------------------------------------------------------------

# They are those of an earlier worker with the same process id, or of one in another container, whose runner lives.
write_worker four "cgroup = \"$base\";"
sed -i 's/^worker = {/& supervise = false;/' "$TEST_DIR/four.conf"
(
    eval "mkdir \"$base\"/reeve-$BASHPID-{$((BASHPID + 1))..$((BASHPID + 500))}"
    exec "$REEVE_WORKER" -c "$TEST_DIR/four.conf" 2>"$TEST_DIR/four.log"
) &
own $!
worker=$!
wait_for '[ "$(logged four runner.started)" = 2 ]' 20
expect_eq "$(in_force four)" cgroup
expect_eq "$(cat "$base"/reeve-"$worker"-*/cgroup.procs | wc -l)" 2 "runners in groups"
end "$worker"
expect_eq "$(count_groups)" 501 "groups of that name, and reeve-worker"
rmdir "$base/reeve-$worker"-*

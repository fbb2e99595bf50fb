#!/usr/bin/env bash
# scripts/demo, as a newcomer calls it: the manifest is what sha256sum says, also when its worker is killed half way; it
# leaves no process behind, however it ends.
. "$(dirname "$0")/lib.sh"
cd "$TEST_DIR" || exit 1
mkdir tmp
export TMPDIR=$TEST_DIR/tmp
DEMO=("$REEVE_SOURCE/scripts/demo" --build "$REEVE_BUILD")

# Processes of a demo: their command lines name its directory, which is below ours.
left_behind() {
    printf '%s' "$TMPDIR/reeve-demo" >"$TEST_DIR/mark" # (in a file, so that the command line that looks for it does not have it)
    grep -alsF -f "$TEST_DIR/mark" /proc/[0-9]*/cmdline
    find /proc/[0-9]* -maxdepth 1 -name cwd -lname "*$TMPDIR/reeve-demo*" 2>/dev/null
}
# What a demo left in its directory for temporary files, but for the files in which a program under the thread sanitizer
# starts: one that a signal ends at that moment leaves its own.
data_left() { find "$TMPDIR" -mindepth 1 -maxdepth 1 ! -name 'tsan.rodata.*'; }
worker_of_demo() { pgrep -f "^$REEVE_WORKER -c $TMPDIR/reeve-demo" | head -n 1; }

mkdir -p 'tree/with space' tree/deep/er
for ((i = 0; i < 300; i++)); do echo "content $i" >"tree/deep/file $i"; done
head -c 300000 /dev/urandom >tree/large
: >tree/empty
printf x >"tree/with space/new
line"
printf x >'tree/back\slash'
ln -s large tree/link
ln -s nowhere tree/dangling
find tree -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum >expected

# ---- a run, and another ---------------------------------------------------------------------------------------------------

for round in 1 2; do
    expect_status 0 "${DEMO[@]}" tree --manifest "manifest$round"
    cmp "manifest$round" expected || fail "the manifest of round $round differs from sha256sum's"
    expect_has "$OUT" "304"
    expect_eq "$(left_behind)" "" "processes after round $round"
done
# The commands of the summary still work.
command=$(grep -o -- '--redis embedded:.* show .*' <<<"$OUT")
# shellcheck disable=SC2086
expect_status 0 "$REEVE" $command
expect_has "$OUT" checksum
expect_eq "$(left_behind)" ""
rm -rf "${TMPDIR:?}"/*

# ---- the worker is killed half way ------------------------------------------------------------------------------------------

mkdir many
for ((i = 0; i < 40; i++)); do head -c 4000000 /dev/zero | tr '\0' "$(printf "\\$(printf %o $((48 + i)))")" >"many/$i"; done
for ((i = 0; i < 4000; i++)); do echo "$i" >"many/small$i"; done
find many -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum >expected
"${DEMO[@]}" --manifest manifest many >demo.out 2>demo.err &
demo=$!
own "$demo"
completed() { redis_at "$TMPDIR"/reeve-demo.*/redis.sock ZCARD 'reeve:{files}:completed' 2>/dev/null; }
wait_for '[ "$(completed)" -gt 100 ] 2>/dev/null' 60
killed=$(worker_of_demo)
kill -KILL "$killed"
status=0
wait "$demo" || status=$?
expect_eq "$status" 0 "$(cat demo.err)"
expect_has "$(cat demo.err)" "the worker (pid $killed) ended with status 137; starting it again"
cmp manifest expected || fail "the manifest differs from sha256sum's after the worker was killed"
expect_eq "$(left_behind)" ""
rm -rf "${TMPDIR:?}"/*

# ---- it is told to end ------------------------------------------------------------------------------------------------------

for signal in TERM:143 INT:130 HUP:129; do
    # (A shell lets its background jobs ignore INT; a terminal does not.)
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "${DEMO[@]}" many >demo.out 2>demo.err &
    demo=$!
    own "$demo"
    wait_for '[ -n "$(worker_of_demo)" ]' 60
    kill "-${signal%:*}" "$demo"
    status=0
    wait "$demo" || status=$?
    expect_eq "$status" "${signal#*:}" "$(cat demo.err)"
    expect_eq "$(left_behind)" "" "processes after $signal"
    expect_eq "$(data_left)" "" "data after $signal"
done

# ---- wrong calls ------------------------------------------------------------------------------------------------------------

expect_status 2 "${DEMO[@]}" nowhere
expect_has "$ERR" "nowhere: there is no such directory"
expect_status 2 "${DEMO[@]}" expected
expect_has "$ERR" "expected: not a directory"
expect_status 2 "${DEMO[@]}" tree many
expect_status 2 "${DEMO[@]}" --manifest
expect_status 2 "${DEMO[@]}" --manifest nowhere/out tree
expect_status 2 "${DEMO[@]}" --nonsense
expect_eq "$(left_behind)" ""

# st_checksum_tree.sh - checksum-tree: its manifest is sha256sum's for names of any bytes, with a worker killed on the
# way too; what cannot be read becomes a failure with a kind; a signal ends the wait.
. "$(dirname "$0")/lib.sh"

TREE_PROGRAM="$REEVE_BUILD/examples/checksum-tree"
[ -x "$TREE_PROGRAM" ] && [ -e "$PLUGIN_DIR/checksum.so" ] || { echo "built without the examples or plugins: skipped"; exit 77; }

# (In the background the program itself is started, so that $! is its pid.)
checksum_tree() { "$TREE_PROGRAM" --redis "$REDIS_URL" "$@"; }

# what_sha256sum_says DIR: for all regular files below it, in byte order.
what_sha256sum_says() { find "$1" -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum; }

same_as_sha256sum() {
    what_sha256sum_says "$1" >"$TEST_DIR/expected"
    cmp "$TEST_DIR/expected" "$2" || fail "the manifest of $1 is not sha256sum's"
}

write_conf one 'session = 1;' 'plugins = [ "checksum" ];' 'pools = ( { name = "p"; queues = [ "files" ]; threads = 2; } );'
sed -i '/"sample"/s/plugins = .*//' "$TEST_DIR/one.conf"
start_redis
cd "$TEST_DIR" || exit 1

# names of any bytes, links, a FIFO
mkdir -p tree/below/further 'tree/with space' tree/empty
for name in plain $'new\nline' $'carriage\rreturn' 'back\slash' 'quo"te' $'\xff\xfe' $'tab\t' -dash ' lead' $'\x1b[31m' \
    '%s%n' $'a\nb\\c\rd' '*' 'é' '\u0000'; do
    for place in tree tree/below/further 'tree/with space'; do printf '%s' "$place$name" >"$place/$name"; done
done
: >tree/empty-file
head -c 3000000 /dev/zero >tree/large
ln -s nowhere tree/dangling
ln -s plain tree/link
mkfifo tree/fifo

start_alone one
expect_status 0 checksum_tree --manifest m1 tree
same_as_sha256sum tree m1
expect_has "$OUT" 'done                   47'
case $REDIS_URL in *[?\&]*) shown="'$REDIS_URL'" ;; *) shown=$REDIS_URL ;; esac # as a shell takes it
expect_has "$OUT" "reeve --redis $shown list files --state dead"
for directory in ./tree tree/ tree//below "$TEST_DIR/tree" tree/plain tree/empty; do
    expect_status 0 checksum_tree --manifest m2 "$directory"
    same_as_sha256sum "$directory" m2
done

# a file that has gone, and one that became something else, before their turn
kill -TSTP "$WORKER_PID"
wait_for '[ "$(logged one worker.quiet)" = 1 ]' 20
mkdir late
for name in a b c; do echo $name >late/$name; done
"$TREE_PROGRAM" --redis "$REDIS_URL" --manifest m3 --progress late >out3 2>err3 &
tree=$!
own $tree
wait_for '[ "$(in_queue files ready)" = 3 ]' 20
rm late/a late/b
ln -s nowhere late/b
end "$WORKER_PID"
start_alone one
wait $tree
expect_eq $? 0 "status with failures"
expect_has "$(cat out3)" 'missing  2'
expect_has "$(cat out3)" 'no such file: late/a'
expect_has "$(cat out3)" 'dangling link: late/b -> nowhere'
expect_has "$(cat err3)" '3 of 3 files   100 %'
rm late/b
same_as_sha256sum late m3

# a worker is killed and another comes
mkdir many
for i in $(seq 3000); do echo "$i" >many/$i; done
"$TREE_PROGRAM" --redis "$REDIS_URL" --manifest m4 many >out4 2>err4 &
tree=$!
own $tree
wait_for '[ "$(in_queue files completed)" -gt 500 ]' 60
end "$WORKER_PID" KILL
start_alone one
wait $tree
expect_eq $? 0 "status after a worker was killed"
same_as_sha256sum many m4

# nobody works: a signal ends the wait, and what was there is untouched
end "$WORKER_PID"
cp m4 before
"$TREE_PROGRAM" --redis "$REDIS_URL" --manifest m4 tree >out5 2>err5 &
tree=$!
own $tree
wait_for '[ "$(in_queue files ready)" = 47 ]' 20
end $tree INT
expect_eq "$ENDED" 130
expect_has "$(cat err5)" '47 tasks were enqueued and stay in the queue files'
cmp before m4 || fail "the manifest was touched"

# trouble is said before any work
expect_status 1 checksum_tree nowhere
expect_has "$ERR" 'nowhere: No such file'
expect_status 1 checksum_tree --manifest nowhere/m tree
expect_has "$ERR" 'cannot write the manifest nowhere/m'
expect_status 2 checksum_tree
expect_status 3 "$TREE_PROGRAM" --redis unix:///nowhere.sock tree
expect_eq "$(in_queue files ready)" 47 "nothing was enqueued"

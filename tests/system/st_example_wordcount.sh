# st_example_wordcount.sh - the pipeline of examples/wordcount: what it writes is what find, tr, sort and uniq say, for
# names of any bytes, with a worker killed on the way, and after a file that could not be read was mended.
. "$(dirname "$0")/lib.sh"

EXAMPLES="$REEVE_BUILD/examples"
[ -e "$EXAMPLES/wordcount.so" ] || { echo "built without the examples: skipped"; exit 77; }

# The example's configuration, but that a dead worker is found sooner.
sed 's/session = 5/session = 1/' "$REEVE_SOURCE/examples/wordcount/wordcount.conf" >"$TEST_DIR/words.conf"
cd "$EXAMPLES" || exit 1
export REEVE_PLUGIN_DIR=$EXAMPLES

# what_shell_says DIRECTORY: "COUNT WORD", the most frequent first, then by word. (A file's end is a word's end.)
what_shell_says() {
    find "$1" -type f -exec sh -c 'for file; do cat "$file"; echo; done' - {} + | LC_ALL=C tr 'A-Z' 'a-z' |
        LC_ALL=C tr -cs 'a-z' '\n' | grep -xE '[a-z]{1,100}' | LC_ALL=C sort | uniq -c |
        awk '{ print $1, $2 }' | LC_ALL=C sort -k1,1nr -k2,2
}

# split ID DIRECTORY
split() {
    expect_status 0 reeve enqueue words wordcount.split "$2" --id "$1" --meta "output=$TEST_DIR/$1.txt" --wait=60
    expect_has "$OUT" "result: words/$1.summary"
}

# summed ID DIRECTORY: the summary has come, and is right.
summed() {
    # (What waits for others comes a moment after the task that handed it on.)
    wait_for 'reeve show "words/'"$1"'.summary" >/dev/null 2>&1' 30
    expect_status 0 reeve wait "words/$1.summary" --timeout 120
    what_shell_says "$2" >"$TEST_DIR/expected"
    cmp "$TEST_DIR/expected" "$TEST_DIR/$1.txt" || fail "the words of $2 are others"
    expect_has "$OUT" "result: "
    expect_has "$OUT" "$(find "$2" -type f -printf . | wc -c) files, $(awk '{ n += $1 } END { print n + 0 }' \
        "$TEST_DIR/expected") words, $(wc -l <"$TEST_DIR/expected") different"
}

any_bytes() {
    local tree=$TEST_DIR/tree
    mkdir -p "$tree/below/further" "$tree/empty" "$tree/with space"
    for name in plain $'new\nline' $'\xff\xfe' 'quo"te' -dash; do echo "The words of $name" >"$tree/below/$name"; done
    : >"$tree/empty-file"
    printf 'no end of line' >"$tree/with space/last"
    # Words that lie across pieces of a read, and runs of letters that are too long for words.
    head -c 200000 /dev/zero | tr '\0' 'x' >"$tree/long"
    { head -c 65530 /dev/zero | tr '\0' ' '; echo 'straddling, no more'; } >"$tree/across"
    for length in 100 101; do head -c $length /dev/zero | tr '\0' 'y'; echo; done >"$tree/limit"
    ln -s plain "$tree/below/link"
    mkfifo "$tree/fifo"
    split any "$tree"
    summed any "$tree"
    grep -q '^1 straddling$' "$TEST_DIR/any.txt" || fail "no straddling word"
    mkdir "$TEST_DIR/nothing"
    split none "$TEST_DIR/nothing"
    summed none "$TEST_DIR/nothing"
    expect_eq "$(wc -c <"$TEST_DIR/none.txt")" 0
}

# A real tree, a worker killed in the middle of it, and another one that goes on.
killed() {
    local tree=$TEST_DIR/real count done
    mkdir "$tree"
    for part in src docs include; do cp -r "$REEVE_SOURCE/$part" "$tree/"; done
    count=$(find "$tree" -type f -printf . | wc -c)
    [ "$count" -gt 100 ] || fail "only $count files"
    done=$(in_queue words completed)
    # (Not too fast to be killed on the way.)
    expect_status 0 reeve limit words --group real --rate 50/1s:1
    split real "$tree"
    wait_for '[ "$(in_queue words completed)" -gt '$((done + 20))' ]' 60
    end "$WORKER_PID" KILL
    done=$(in_queue words completed)
    expect_eq "$(of_task words/real.summary state)" '"blocked"'
    # (Of more than 900 files, tasks have several.)
    expect_eq "$(of_task words/real.summary parent_count)" "$((count < 900 ? count : 900))"
    expect_status 0 reeve limit words --group real --rate none
    start_worker words
    summed real "$tree"
    # As many as it takes, each ended once.
    expect_eq "$(aof_ended completed | sort | uniq -d)" ""
}

# More files than one task hands on: some share one.
many() {
    local tree=$TEST_DIR/many number=1
    mkdir "$tree"
    while [ $number -le 1000 ]; do echo "all of them, number $number" >"$tree/$number"; number=$((number + 1)); done
    split many "$tree"
    summed many "$tree"
    expect_eq "$(of_task words/many.summary parent_count)" 900
    expect_eq "$(head -1 "$TEST_DIR/many.txt")" "1000 all"
}

# A file that goes before its turn: the summary waits until it is mended.
mended() {
    local tree=$TEST_DIR/mended
    cp -r "$TEST_DIR/tree/below" "$tree"
    expect_status 0 reeve limit words --group mended --pause-for 1h
    split mended "$tree"
    mv "$tree/plain" "$TEST_DIR/away"
    expect_status 0 reeve limit words --group mended --pause-for none
    wait_for '[ "$(in_queue words dead)" = 1 ]' 30
    wait_for '[ "$(of_task words/mended.summary state)" = "\"blocked\"" ]' 30
    expect_status 0 reeve failures words
    expect_has "$OUT" "$tree/plain: No such file"
    [ ! -e "$TEST_DIR/mended.txt" ] || fail "a sum that lacks a file"
    mv "$TEST_DIR/away" "$tree/plain"
    expect_status 0 reeve retry words --kind read
    summed mended "$tree"
}

wrong() {
    expect_status 5 reeve enqueue words wordcount.split here --meta output=/tmp/x --wait=60
    expect_has "$ERR" "absolute path of a directory"
    expect_status 5 reeve enqueue words wordcount.split /usr --wait=60
    expect_has "$ERR" "output=FILE"
}

start_redis --appendonly yes --auto-aof-rewrite-percentage 0
start_worker words
any_bytes
killed
many
mended
wrong

# st_man.sh - the manual pages: one for each command, the worker, the configuration and the interface of plugins; they are
# well formed and say what --help says.
. "$(dirname "$0")/lib.sh"

MAN=$REEVE_BUILD/man
export REEVE_REDIS=unix:///nonexistent/redis.sock

command -v mandoc >/dev/null || fail "there is no mandoc"
mandoc -Tlint "$MAN"/man?/* >"$TEST_DIR/out" 2>&1 || fail "mandoc finds something"
expect_eq "$(cat "$TEST_DIR/out")" "" "what mandoc finds"

# plain PAGE: as it is read, on one line.
plain() { mandoc -Tutf8 "$MAN/$1" | sed 's/.\x08//g' | tr -s ' \n' '  '; }

for verb in $("$REEVE" help --json | tr '{' '\n' | sed -n 's/^"verb":"\([a-z-]*\)".*/\1/p'); do
    [ -s "$MAN/man1/reeve-$verb.1" ] || fail "there is no reeve-$verb(1)"
done
expect_eq "$(find "$MAN/man1" -name 'reeve-*.1' | wc -l)" "$("$REEVE" --help | sed '/^Options/q' | grep -c '^  [a-z]')" "pages"
PAGE=$(plain man1/reeve-list.1)
expect_has "$PAGE" "only tasks whose id begins with this."
expect_has "$PAGE" "reeve list QUEUE [--state STATE]"
expect_has "$(plain man1/reeve-wait.1)" "5 one is dead, 6 one was cancelled"
expect_has "$(plain man1/reeve.1)" "7 wait, watch, enqueue --wait: the time limit has passed."
expect_has "$(plain man8/reeve-worker.8)" "--dump-plugin FILE"
expect_has "$(plain man8/reeve-worker.8)" "EXIT STATUS"
expect_has "$(plain man5/reeve.conf.5)" "worker.drain How long a stopping worker waits"
expect_has "$(plain man3/reeve-plugin.3)" "REEVE_PLUGIN_ABI"

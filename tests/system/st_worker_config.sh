#!/usr/bin/env bash
# reeve-worker's command line: --check, --dump-plugin, --help-config and the document made from it, and what it says about
# everything that can be wrong before it starts. None of this needs a Redis.
. "$(dirname "$0")/lib.sh"
cd "$TEST_DIR" || exit 1
export REEVE_PLUGIN_DIR=$PLUGIN_DIR
BAD_PLUGINS=$REEVE_BUILD/tests/plugins

# ---- --check ------------------------------------------------------------------------------------------------------------

expect_status 0 "$REEVE_WORKER" --check -c "$REEVE_SOURCE/packaging/reeve-worker.conf"
expect_eq "$OUT" "$REEVE_SOURCE/packaging/reeve-worker.conf: ok: 2 pools, 10 threads, 1 plugin, 1 handler"
expect_eq "$ERR" ""

cat >good.conf <<END
plugins = [ "checksum", "sample" ];
pools = ( { queues = [ "a" ]; threads = 3; } );
handlers = ( { type = "sleep"; timeout = 1.5; } );
END
expect_status 0 "$REEVE_WORKER" --config good.conf --check
expect_eq "$OUT" "good.conf: ok: 1 pool, 3 threads, 2 plugins, 8 handlers"

# The Redis of flag and environment is looked at, but not for: nobody listens there.
expect_status 0 "$REEVE_WORKER" -c good.conf --check --redis redis://127.0.0.1:1/
expect_status 2 "$REEVE_WORKER" -c good.conf --check --redis redis//:hush@host
expect_has "$ERR" "reeve-worker: --redis: a Redis URL begins with"
expect_lacks "$ERR" hush
expect_status 2 env REEVE_REDIS=redis-sentinel://a "$REEVE_WORKER" -c good.conf --check
expect_has "$ERR" "reeve-worker: REEVE_REDIS: the Redis URL lacks the master's name"

# All mistakes at once, each with its place; running says the same as checking.
cat >bad.conf <<END
pools = ( { queues = [ "a" ]; thread = 3; } );
plugins = [ "checksum" ];
worker = { session = "long"; };
END
cat >expected <<END
bad.conf:1: pools[0].thread: unknown setting; did you mean "threads"?
bad.conf:3: worker.session: expected seconds from 0.5 to 86400, got "long"
END
expect_status 2 "$REEVE_WORKER" -c bad.conf --check
expect_eq "$ERR" "$(cat expected)"
expect_eq "$OUT" ""
expect_status 2 "$REEVE_WORKER" -c bad.conf
expect_eq "$ERR" "$(cat expected)"

for ((i = 0; i < 30; i++)); do echo "unknown$i = 1;"; done >many.conf
expect_status 2 "$REEVE_WORKER" -c many.conf --check
expect_eq "$(tail -n 1 <<<"$ERR")" "many.conf: and 11 more errors"
expect_eq "$(wc -l <<<"$ERR")" 21

expect_status 2 "$REEVE_WORKER" -c nowhere.conf --check
expect_eq "$ERR" "nowhere.conf: cannot be opened: No such file or directory"
expect_status 2 "$REEVE_WORKER" -c . --check
expect_eq "$ERR" ".: cannot be read: Is a directory"

# ---- plugins in a configuration -----------------------------------------------------------------------------------------

cp "$BAD_PLUGINS/bad_abi.so" abi.so
cat >plugins.conf <<END
plugins = [ "sample", "nowhere",
            "./abi.so", "./good.conf",
            "./twin.so" ];
pools = ( { queues = [ "a" ]; } );
END
cp "$PLUGIN_DIR/sample.so" twin.so
expect_status 2 "$REEVE_WORKER" -c plugins.conf --check
expect_has "$ERR" "plugins.conf:1: plugins[1]: plugin $PLUGIN_DIR/nowhere.so: cannot open it"
expect_has "$ERR" "plugins.conf:2: plugins[2]: plugin ./abi.so: "
expect_has "$ERR" "plugins.conf:2: plugins[3]: plugin ./good.conf: "
expect_has "$ERR" 'plugins.conf:3: plugins[4]: plugin sample has a handler for "noop", and so has plugin sample'

cat >types.conf <<END
plugins = [ "sample" ];
pools = ( { queues = [ "a" ]; } );
handlers = ( { type = "sleep"; },
             { type = "slepp"; } );
END
expect_status 2 "$REEVE_WORKER" -c types.conf --check
expect_eq "$ERR" 'types.conf:4: handlers[1].type: no plugin has a handler for "slepp"; did you mean "sleep"?'

# plugin_dir comes before the environment's.
mkdir empty
sed '1i plugin_dir = "empty";' good.conf >dir.conf
expect_status 2 "$REEVE_WORKER" -c dir.conf --check
expect_has "$ERR" "dir.conf:2: plugins[0]: plugin empty/checksum.so: cannot open it"

# ---- --dump-plugin ------------------------------------------------------------------------------------------------------

expect_status 0 "$REEVE_WORKER" --dump-plugin checksum
expect_has "$OUT" "name          checksum"
expect_has "$OUT" "file          $PLUGIN_DIR/checksum.so"
expect_has "$OUT" "handlers      1"
expect_status 0 "$REEVE_WORKER" --dump-plugin "$BAD_PLUGINS/good.so"
expect_has "$OUT" "  backoff     fixed:250ms~0"
expect_has "$OUT" "  backoff     exponential (default)"
expect_status 0 "$REEVE_WORKER" --dump-plugin "$BAD_PLUGINS/good.so" --json
expect_has "$OUT" '"backoff":{"shape":"fixed","base_ms":250,"cap_ms":9000,"jitter":0}'
expect_has "$OUT" '"backoff":{"shape":"exponential","base_ms":null,"cap_ms":null,"jitter":null}'
cp "$PLUGIN_DIR/sample.so" local.so
expect_status 0 "$REEVE_WORKER" --dump-plugin local.so --json
expect_has "$OUT" '{"name":"sample","version":"0.1.0",'
expect_has "$OUT" '"file":"./local.so","abi":1,"concurrency":0,"handlers":[{"type":"noop",'
expect_has "$OUT" '],"layers":[],"options":[]}'
if command -v jq >/dev/null; then expect_eq "$(jq -r '.handlers[].type' <<<"$OUT" | sort | tr '\n' ' ')" \
  "collect crash echo fail noop sleep steps "; fi
expect_status 2 "$REEVE_WORKER" --dump-plugin ./abi.so
expect_has "$ERR" "reeve-worker: plugin ./abi.so: "
expect_status 2 "$REEVE_WORKER" --dump-plugin nowhere
expect_status 2 "$REEVE_WORKER" --dump-plugin "$REEVE_SOURCE/README.md"
expect_status 1 bash -c '"$1" --dump-plugin checksum >/dev/full' - "$REEVE_WORKER"

# ---- words --------------------------------------------------------------------------------------------------------------

expect_status 0 "$REEVE_WORKER" --version
expect_eq "$OUT" "reeve-worker $(sed -n 's/^#define REEVE_VERSION_[A-Z]* \([0-9]*\)$/\1/p' \
  "$REEVE_SOURCE/include/reeve/version.h" | paste -sd .)"
expect_status 0 "$REEVE_WORKER" --help
expect_has "$OUT" "usage: reeve-worker -c FILE"
expect_status 0 "$REEVE_WORKER" --help-config
expect_has "$OUT" "pools[].threads"
for arguments in "" "-c" "--nonsense" "-x" "-c good.conf extra" "--check --version -c good.conf" "--json -c good.conf" \
  "--help-config=latin" "--redis= -c good.conf"; do
  # shellcheck disable=SC2086
  expect_status 2 "$REEVE_WORKER" $arguments
  expect_has "$ERR" "reeve-worker: "
done

# docs/configuration.md has, between its two marks, what the table says.
sed -n '/^<!-- settings -->$/,/^<!-- end of settings -->$/{/^<!--/d;p}' "$REEVE_SOURCE/docs/configuration.md" >written
"$REEVE_WORKER" --help-config=markdown >made
[ -s made ] || fail "--help-config=markdown prints nothing"
diff -u written made >differences || {
  cat differences >&2
  fail "docs/configuration.md differs from src/protocol/definition/configuration.lua and settings.lua: put --help-config=markdown between its marks"
}
# Its example is a good configuration.
sed -n '/^```libconfig$/,/^```$/{/^```/d;p}' "$REEVE_SOURCE/docs/configuration.md" >example.conf
[ -s example.conf ] || fail "no example in docs/configuration.md"
expect_status 0 "$REEVE_WORKER" -c example.conf --check

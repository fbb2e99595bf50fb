#!/usr/bin/env bash
# Plugins that were compiled with earlier versions of reeve, one of each: they load and run in this one.
. "$(dirname "$0")/lib.sh"
cd "$TEST_DIR" || exit 1

start_redis
SEEN=0
for plugin in "$REEVE_SOURCE"/tests/abi/plugins/*-x86_64.so; do
  SEEN=$((SEEN + 1))
  name=${plugin##*/}
  queue=old-${name%%-*}
  expect_status 0 "$REEVE" run "$plugin" release:tell words
  expect_has "$OUT" "[good:words:1]"
  expect_status 1 "$REEVE" run "$plugin" release:fail
  expect_has "$OUT$ERR" "on purpose"
  cat >"$name.conf" <<END
plugins = [ "$plugin" ];
pools = ( { name = "old"; queues = [ "$queue" ]; threads = 2; } );
END
  "$REEVE_WORKER" -c "$name.conf" 2>"$name.log" &
  worker=$!
  own "$worker"
  expect_status 0 "$REEVE" enqueue "$queue" release:chain --wait
  expect_has "$OUT" "chained"
  expect_status 0 "$REEVE" wait "$queue/next"
  expect_has "$OUT" "[good:handed:1]"
  end "$worker"
  expect_eq "$ENDED" 0 "the worker's exit status"
done
[ "$SEEN" -gt 0 ] || fail "there is no compiled plugin"

#!/usr/bin/env bash
# The binary interface: what earlier versions recorded still holds, the library exports what the headers declare under
# versions of symbols, and each kind of break is found.
. "$(dirname "$0")/lib.sh"
cd "$TEST_DIR" || exit 1

expect_status 0 "$REEVE_SOURCE/scripts/abi" check --library "$REEVE_BUILD/src/libreeve.so"
nm -D --defined-only "$REEVE_BUILD/src/libreeve.so" >symbols
grep -q ' reeve_enqueue@@REEVE_0\.1$' symbols || fail "reeve_enqueue has no version"

# with HEADER SED EXPECTED-STATUS: the check after a change of a header.
with() {
  rm -rf include
  cp -r "$REEVE_SOURCE/include" include || exit 1
  sed -i "$2" "include/reeve/$1"
  cmp -s "include/reeve/$1" "$REEVE_SOURCE/include/reeve/$1" && fail "$1: nothing matches $2"
  expect_status "$3" "$REEVE_SOURCE/scripts/abi" check --include include
}

# What a later version may do.
with client.h 's/^} reeve_client_options;/int64_t later; &/' 0
with inspect.h 's/^} reeve_task_info;/int64_t later; &/' 0
with client.h 's/^REEVE_API void reeve_client_close.*/&\nREEVE_API void reeve_later(int number);/' 0
with inspect.h 's/^    REEVE_STATE_CANCELLED /    REEVE_STATE_CANCELLED, REEVE_STATE_LATER /' 0
# What it must not.
with client.h 's/^    const char \*redis; .*/int64_t inserted; &/' 1
expect_has "$ERR" "reeve_client_options"
with size_limits.h 's/^} reeve_size_limits;/int64_t later; &/' 1
with queue.h 's/^} reeve_rate;/int64_t later; &/' 1
with inspect.h 's/^    REEVE_STATE_CANCELLED /    REEVE_STATE_LATER, REEVE_STATE_CANCELLED /' 1
with client.h '/^REEVE_API void reeve_client_close/d' 1
with client.h 's/^REEVE_API void reeve_client_close(/&int how, /' 1

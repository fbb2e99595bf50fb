# st_instructions.sh - the hot paths, a worker's thread and the scripts in Redis, take no more than a tenth more
# instructions than bench/instructions has noted. (Counted by valgrind: how busy the machine is does not matter. Where a
# rise is worth it, bench/count > bench/instructions notes it.)
. "$(dirname "$0")/lib.sh"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"

if ! grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release 2>/dev/null; then
    echo "skipped: what is noted was counted with the compiler, C library and Redis of Debian 12"
    exit 77
fi
TMPDIR=$TEST_DIR "$REEVE_SOURCE/bench/count" --build "$REEVE_BUILD" --check || fail "more instructions than noted"

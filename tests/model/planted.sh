#!/usr/bin/env bash
# planted.sh [NAME...] | --list | --check
#
# Shows that the randomised test of the protocol (ct_model) finds faults. Each fault of planted.lua, or each that is named,
# is put into a copy of the scripts, and ct_model must fail twice: in one of 400 rounds from seed 1, and in one of 400 from
# seed 1001. The lists of operations that ct_model always carries out do not count. Prints the rounds for each fault; fails
# where a fault is not found, or where its text does not occur in the scripts any more: then planted.lua is to be mended.
# It takes some minutes.
#
#     --list   prints the names of the faults
#     --check  only looks whether each fault can be put into the scripts; takes a second
set -u
# shellcheck source=../../scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
PLANTED=$ROOT/tests/model/planted.lua
ROUNDS=400
SEEDS=(1 1001)

check=
case ${1:-} in
-h | --help)
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
  exit 0
  ;;
--list)
  lua5.1 "$PLANTED"
  exit
  ;;
--check)
  check=1
  shift
  ;;
-*) die "unknown option $1" ;;
esac
mapfile -t NAMES < <(if [ $# -gt 0 ]; then printf '%s\n' "$@"; else lua5.1 "$PLANTED" | cut -d ' ' -f 1; fi)

DIR=$(mktemp -d) || exit 1
trap 'rm -rf "$DIR"' EXIT
trap 'exit 130' INT
COPY=$DIR/source
mkdir "$COPY" && cp -r "$ROOT"/{CMakeLists.txt,cmake,include,packaging,src,tests} "$COPY" && cp -r "$COPY/src/lua" "$DIR/lua" || die "cannot copy $ROOT"

# unplant: the scripts of the copy are those of the project again.
unplant() { rm -rf "$COPY/src/lua" && cp -r "$DIR/lua" "$COPY/src/lua"; }

# run SEED: runs ct_model in the copy. Returns whether its random rounds passed; the output goes to $DIR/output.
run() {
  REEVE_TEST_SEED=$1 REEVE_TEST_ROUNDS=$ROUNDS REEVE_TEST_SHRINK_MS=0 "$DIR/build/tests/ct_model" >"$DIR/output" 2>&1 && return 0
  ! grep -q '^REEVE_TEST_SEED=[0-9]* REEVE_TEST_ROUNDS=1 fails' "$DIR/output"
}

# round_found SEED: prints in which round it failed.
round_found() {
  local at
  at=$(sed -n 's/^REEVE_TEST_SEED=\([0-9]*\) REEVE_TEST_ROUNDS=1 fails$/\1/p' "$DIR/output" | head -n 1)
  printf '%d' $((at - $1 + 1))
}

STATUS=0
# look_for NAME: builds ct_model with the fault, and runs it.
look_for() {
  local seed rounds=()
  quietly "$DIR/build.log" cmake --build "$DIR/build" --target ct_model --parallel "$(jobs_here)" || die "cannot build with $1"
  for seed in "${SEEDS[@]}"; do
    if run "$seed"; then
      printf '%-16s NOT FOUND from seed %d in %d rounds\n' "$1" "$seed" "$ROUNDS"
      STATUS=1
      return
    fi
    rounds+=("$(round_found "$seed")")
  done
  printf '%-16s found in rounds %s: %.100s\n' "$1" "${rounds[*]}" "$(sed -n 's/^after [0-9]* operations: //p' "$DIR/output" | head -n 1)"
}

if [ -z "$check" ]; then
  need_packages $BUILD_PACKAGES $TEST_PACKAGES
  quietly "$DIR/configure.log" cmake -S "$COPY" -B "$DIR/build" -DCMAKE_BUILD_TYPE=Release -DREEVE_TESTS=ON -DREEVE_PLUGINS=OFF \
    -DREEVE_EXAMPLES=OFF -DREEVE_BENCH=OFF || die "cannot configure"
fi
for name in "${NAMES[@]}"; do
  unplant || die "cannot copy the scripts"
  lua5.1 "$PLANTED" "$COPY" "$name" || {
    STATUS=1
    continue
  }
  [ -n "$check" ] || look_for "$name"
done
exit $STATUS

#!/usr/bin/env bash
# What is installed can be used: headers by C and C++, the library by pkg-config alone, the README's examples as they
# stand there; the shared library exports nothing but the public functions.
. "$(dirname "$0")/lib.sh"
cd "$TEST_DIR" || exit 1

PREFIX=$TEST_DIR/prefix
expect_status 0 cmake --install "$REEVE_BUILD" --prefix "$PREFIX"
PC=$(find "$PREFIX" -name reeve.pc)
[ -n "$PC" ] || fail "no reeve.pc is installed"
export PKG_CONFIG_PATH=${PC%/*}
LIB=$(pkg-config --variable=libdir reeve)
export LD_LIBRARY_PATH=$LIB
unset REEVE_PLUGIN_DIR # (plugins are found from where the tree stands)
# (A library built with sanitizers needs programs that are, too.)
SANITIZE=$(sed -n 's/^REEVE_SANITIZE:STRING=\(..*\)$/-fsanitize=\1/p' "$REEVE_BUILD/CMakeCache.txt")
FLAGS=(-Wall -Wextra -Werror)
[ -z "$SANITIZE" ] || FLAGS+=("$SANITIZE")

# ---- what is there ------------------------------------------------------------------------------------------------------

for file in bin/reeve bin/reeve-worker include/reeve/reeve.h include/reeve/version.h share/reeve/lua/turn.lua \
  share/doc/reeve/README.md share/doc/reeve/LICENSE share/doc/reeve/docs/configuration.md \
  share/doc/reeve/examples/reeve-worker.conf lib/systemd/system/reeve-worker@.service; do
  [ -s "$PREFIX/$file" ] || fail "$file is not installed"
done
for file in libreeve.a libreeve.so reeve/plugins/checksum.so reeve/plugins/sample.so reeve/plugins/timing.so \
  reeve/plugins/faults.so cmake/reeve/reeveConfig.cmake; do
  [ -s "$LIB/$file" ] || fail "$file is not installed"
done
expect_eq "$(cd "$PREFIX/share/reeve/lua" && ls)" "$(cd "$REEVE_SOURCE/src/lua" && ls -- *.lua)" "scripts"
expect_status 1 grep -rl '^-- require:' "$PREFIX/share/reeve/lua"
expect_status 1 grep -rlE '@[A-Z_]+@' "$PREFIX/lib/systemd" "$PC"
expect_status 0 "$PREFIX/bin/reeve-worker" --check -c "$PREFIX/share/doc/reeve/examples/reeve-worker.conf"
version=$("$PREFIX/bin/reeve" --version | sed 's/.* //')
expect_eq "$(pkg-config --modversion reeve)" "$version"
expect_eq "$(objdump -p "$LIB/libreeve.so" | awk '$1 == "SONAME" {print $2}')" libreeve.so.0 "soname"

grep -q "^ExecStart=$PREFIX/bin/reeve-worker -c" "$PREFIX/lib/systemd/system/reeve-worker@.service" ||
  fail "the unit starts another program"
for moved in "$PREFIX" "$TEST_DIR/moved"; do
  [ -e "$moved" ] || cp -a "$PREFIX" "$moved"
  expect_status 0 "$moved/bin/reeve-worker" --dump-plugin checksum
  expect_has "$OUT" "$moved"
done

# Nothing is exported but what the headers declare (and what sanitizers add).
nm -D --defined-only "$LIB/libreeve.so" | awk '$2 != "A" {sub("@.*", "", $3); print $3}' | grep -vE '^(__odr_asan|__asan|__ubsan|__tsan)' | sort >exported
expect_status 1 grep -v '^reeve_' exported
grep -ohE '\breeve_[a-z_]+\(' "$PREFIX"/include/reeve/*.h | tr -d '(' | sort -u >declared
while read -r name; do
  grep -qx "$name" declared || fail "$name is exported and not declared"
done <exported
grep -oqx reeve_enqueue exported || fail "reeve_enqueue is not exported"

# ---- C ------------------------------------------------------------------------------------------------------------------

# compile COMPILER-AND-FLAGS... with what pkg-config says, and nothing else.
compile() {
  # shellcheck disable=SC2046
  expect_status 0 "$@" "${FLAGS[@]}" $(pkg-config --cflags --libs reeve)
}
for header in "$PREFIX"/include/reeve/*.h; do
  echo "#include <reeve/${header##*/}>" >header.c
  compile cc -std=c11 -pedantic -c -o header.o header.c
done
compile cc -std=gnu11 -o produce "$REEVE_SOURCE/examples/produce.c"
compile cc -std=gnu11 -pthread -o embed "$REEVE_SOURCE/examples/embed.c"

# ---- the README's examples, as they stand there ---------------------------------------------------------------------------

# block LANGUAGE N: the Nth block of that language.
block() {
  awk -v begin="\`\`\`$1" -v n="$2" '/^```$/ { on = 0 } on { print } $0 == begin && ++seen == n { on = 1 }' \
    "$REEVE_SOURCE/README.md"
}
block c 1 >greeter.c
block c 2 >hello.c
block libconfig 1 >worker.conf
compile cc -std=c11 -shared -fPIC -o greeter.so greeter.c
compile cc -std=c11 -o hello hello.c
start_redis
# (From elsewhere: the plugin's path is relative to the configuration.)
(cd / && exec "$PREFIX/bin/reeve-worker" -c "$TEST_DIR/worker.conf") 2>log &
own $!
expect_status 0 ./hello
expect_status 0 "$PREFIX/bin/reeve" --json wait "$OUT"
expect_has "$OUT" "Hello, world!"
expect_status 0 "$PREFIX/bin/reeve" enqueue default greet reader --wait
expect_has "$OUT" "Hello, reader!"
expect_status 0 ./produce "$REDIS_URL"
expect_eq "$(wc -l <<<"$OUT")" 12 "handles that the producer prints"

# ---- C++ ------------------------------------------------------------------------------------------------------------------

if command -v g++ >/dev/null; then
  for header in "$PREFIX"/include/reeve/*.h; do
    echo "#include <reeve/${header##*/}>" >header.cc
    compile g++ -std=c++11 -pedantic -c -o header.o header.cc
  done
  cat >shy.cc <<'END'
#include <reeve/plugin.hpp>

static reeve_outcome whisper(reeve_task *task, void *)
{
    return reeve_task_done(task, "psst", 4);
}

static reeve_outcome pass(reeve_task *task, reeve_next *next, void *)
{
    return reeve_next_run(next, task);
}

static const reeve_handler handlers[] = {reeve::handler<whisper>("whisper")};
static const reeve_layer layers[] = {reeve::layer<pass>("pass")};

REEVE_PLUGIN(.name = "shy", .handlers = handlers, .handler_count = 1, .layers = layers, .layer_count = 1)
END
  compile g++ -std=c++20 -pedantic -shared -fPIC -o shy.so shy.cc
  expect_status 0 "$PREFIX/bin/reeve" run ./shy.so whisper
  expect_has "$OUT" "psst"
  cat >plus.cc <<'END'
#include <reeve/reeve.h>

#include <iostream>
#include <string>

static reeve_outcome shout(reeve_task *task, void *)
{
    reeve_bytes in = reeve_task_payload(task);
    std::string words(static_cast<const char *>(in.data), in.length);
    for (char &c : words) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return reeve_task_done(task, words.data(), words.size());
}

int main()
{
    reeve_worker *worker = nullptr;
    reeve_client *client = nullptr;
    reeve_task_info *info = nullptr;
    const char *queues[] = {"plus"};
    reeve_pool_options pool = {};
    reeve_task_spec task = {};
    char id[REEVE_ID_MAX];

    pool.queues = queues;
    pool.queue_count = 1;
    task.queue = "plus";
    task.type = "shout";
    task.payload = {"quietly", 7};
    bool fine = reeve_worker_create(&worker, nullptr, nullptr, 0) == REEVE_OK &&
                reeve_worker_handle(worker, "shout", shout, nullptr) == REEVE_OK &&
                reeve_worker_add_pool(worker, &pool) == REEVE_OK && reeve_worker_start(worker) == REEVE_OK &&
                reeve_client_open(&client, nullptr) == REEVE_OK && reeve_enqueue(client, &task, id) == REEVE_OK &&
                reeve_wait(client, "plus", id, 20000, &info) == REEVE_OK;
    if (fine) std::cout << std::string(static_cast<const char *>(info->result.data), info->result.length) << "\n";
    reeve_task_info_free(info);
    reeve_client_close(client);
    reeve_worker_destroy(worker);
    return fine ? 0 : 1;
}
END
  compile g++ -std=c++17 -o plus plus.cc
  expect_status 0 ./plus
  expect_eq "$OUT" QUIETLY
fi

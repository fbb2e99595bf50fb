#!/usr/bin/env bash
# Plugins in C++: no compiler warns, and what a handler or a layer throws becomes an outcome with a kind and a message, in a
# worker that goes on.
. "$(dirname "$0")/lib.sh"
cd "$TEST_DIR" || exit 1

cat >thrower.cc <<'END'
#include <pthread.h>

#include <reeve/plugin.hpp>

static reeve_outcome echo(reeve_task *task, void *)
{
    reeve_bytes in = reeve_task_payload(task);
    std::string words(static_cast<const char *>(in.data), in.length);
    if (words == "throw") throw std::runtime_error("as asked");
    if (words == "fail") throw reeve::fail("hopeless", "for good");
    if (words == "retry") throw reeve::retry("busy", "later", 3600000);
    if (words == "odd") throw 42;
    return reeve_task_done(task, words.data(), words.size());
}

static void many(reeve_task *const *tasks, size_t count, void *)
{
    for (size_t i = 0; i < count; i++) {
        if (reeve_task_payload(tasks[i]).length == 0) throw std::logic_error("in the middle");
        reeve_task_done(tasks[i], nullptr, 0);
    }
    reeve_bytes in = reeve_task_payload(tasks[count - 1]);
    if (std::string(static_cast<const char *>(in.data), in.length) == "exit") pthread_exit(nullptr);
}

static reeve_outcome around(reeve_task *task, reeve_next *next, void *)
{
    if (reeve_task_payload(task).length == 5 && reeve_task_attempt(task) == 1 &&
        std::string(static_cast<const char *>(reeve_task_payload(task).data)) == "layer")
        throw std::out_of_range("in a layer");
    return reeve_next_run(next, task);
}

static const reeve_handler handlers[] = {
    reeve::handler<echo>("echo", [](reeve_handler &h) { h.attempts = 1; }),
    reeve::batch_handler<many>("many", [](reeve_handler &h) { h.attempts = 1; }),
};
static const reeve_layer layers[] = {reeve::layer<around>("around", "echo")};

REEVE_CXX_PLUGIN([](reeve_plugin &p) {
    p.name = "thrower";
    reeve::set_handlers(p, handlers);
    reeve::set_layers(p, layers);
})
END
cat >plain.cc <<'END'
#include <reeve/plugin.h>

static reeve_outcome whisper(reeve_task *task, void *)
{
    return reeve_task_done(task, "psst", 4);
}

static const reeve_handler *handlers()
{
    static reeve_handler handler = {};
    handler.type = "whisper";
    handler.run = whisper;
    return &handler;
}

REEVE_PLUGIN(.name = "plain", .handlers = handlers(), .handler_count = 1)
END
cat >embedded.cc <<'END'
#include <reeve/plugin.hpp>

int main()
{
    reeve_worker *worker = nullptr;
    int limit = 3;
    if (reeve_worker_create(&worker, nullptr, nullptr, 0) != REEVE_OK) return 1;
    auto handler = [limit](reeve_task *task) { return reeve_task_snooze(task, limit); };
    bool good = reeve::handle(worker, "lambda", handler) == REEVE_OK &&
                reeve::handle(worker, "lambda", handler) == REEVE_EDUPLICATE;
    reeve_worker_destroy(worker);
    return good ? 0 : 1;
}
END
for compiler in g++ clang++; do
  command -v $compiler >/dev/null || continue
  for standard in 17 20; do
    for source in thrower plain; do
      expect_status 0 $compiler -std=c++$standard -Wall -Wextra -pedantic -Wconversion -Wshadow -Werror \
        -I"$REEVE_SOURCE/include" -fPIC -fvisibility=hidden -shared -o $source.so $source.cc
    done
    expect_status 0 $compiler -std=c++$standard -Wall -Wextra -pedantic -Werror -I"$REEVE_SOURCE/include" -c -o embedded.o embedded.cc
  done
done
[ -s thrower.so ] || fail "there is no C++ compiler"
expect_status 0 "$REEVE" run ./plain.so whisper
expect_has "$OUT" psst
if [ -z "$SANITIZED" ]; then
  expect_status 0 g++ -std=c++17 -I"$REEVE_SOURCE/include" -o embedded embedded.cc -L"$REEVE_BUILD/src" -lreeve
  expect_status 0 env LD_LIBRARY_PATH="$REEVE_BUILD/src" REEVE_REDIS="unix://$TEST_DIR/none.sock" ./embedded
fi

# ---- in a worker ----------------------------------------------------------------------------------------------------------

start_redis
cat >worker.conf <<END
plugins = [ "$TEST_DIR/thrower.so" ];
pools = ( { name = "cxx"; queues = [ "cxx" ]; threads = 2; } );
END
"$REEVE_WORKER" -c worker.conf 2>worker.log &
worker=$!
own "$worker"

# dies TYPE PAYLOAD KIND MESSAGE: a task that ends dead, so.
dies() {
  expect_status 5 "$REEVE" --json enqueue cxx "$1" "$2" --wait
  expect_has "$OUT$ERR" "\"$3\""
  expect_has "$OUT$ERR" "$4"
}
dies echo throw std::runtime_error "as asked"
dies echo fail hopeless "for good"
dies echo odd exception "no std::exception"
dies echo layer std::out_of_range "in a layer"
dies many "" std::logic_error "in the middle"
expect_status 0 "$REEVE" enqueue cxx many x --wait
# The address sanitizer takes what a plugin that it has not compiled unwinds for an overflow.
[ -n "$SANITIZED" ] || expect_status 0 "$REEVE" enqueue cxx many exit --wait
expect_status 0 "$REEVE" enqueue cxx echo fine --wait
expect_has "$OUT" fine
kill -0 "$worker" || fail "the worker has ended"
end "$worker"
expect_eq "$ENDED" 0 "the worker's exit status"
expect_eq "$(grep -c crashed worker.log)" 0 "crashes in the log"

#include "support/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

atomic_uint test_begun, test_announced;
atomic_uchar test_runs[TEST_RUNS];
atomic_ulong test_ran;
char test_reason[REEVE_REASON_MAX + 1];

/* ---- the gate -------------------------------------------------------------------------------------------------- */

static atomic_bool is_open;

void test_open_gate(void)
{
    atomic_store(&is_open, true);
}

void test_close_gate(void)
{
    atomic_store(&is_open, false);
    atomic_store(&test_begun, 0);
    atomic_store(&test_announced, 0);
    atomic_store(&test_ran, 0);
    for (size_t i = 0; i < TEST_RUNS; i++) atomic_store_explicit(&test_runs[i], 0, memory_order_relaxed);
}

/* ---- handlers -------------------------------------------------------------------------------------------------- */

static void count_run(reeve_task *task)
{
    const char *id = reeve_task_id(task);
    unsigned long number = id[0] == 'n' ? strtoul(id + 1, NULL, 10) : TEST_RUNS;
    atomic_fetch_add(&test_ran, 1);
    if (number < TEST_RUNS) atomic_fetch_add(&test_runs[number], 1);
}

static reeve_outcome run_done(reeve_task *task, void *user)
{
    (void)user;
    count_run(task);
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome run_act(reeve_task *task, void *user)
{
    const char *words = reeve_task_payload(task).data, *rest = strchr(words, ' ');
    (void)user;
    count_run(task);
    rest = rest ? rest + 1 : "";
    if (strncmp(words, "result", 6) == 0) return reeve_task_done(task, rest, strlen(rest));
    if (strncmp(words, "retry", 5) == 0) return reeve_task_retry(task, atoll(rest), "again", "said \"%s\"", words);
    if (strncmp(words, "backoff", 7) == 0) return reeve_task_retry(task, -1, "later", "as usual");
    if (strncmp(words, "fail", 4) == 0) return reeve_task_fail(task, "bad", "for good");
    if (strncmp(words, "snooze", 6) == 0) return reeve_task_snooze(task, atoll(rest));
    if (strncmp(words, "none", 4) == 0) return REEVE_OUTCOME_DONE;
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome run_slot(reeve_task *task, void *user)
{
    char slot[24];
    (void)user;
    int length = snprintf(slot, sizeof(slot), "%lld", (long long)reeve_task_slot_ms(task));
    return reeve_task_done(task, slot, (size_t)length);
}

static reeve_outcome run_nap(reeve_task *task, void *user)
{
    (void)user;
    count_run(task);
    usleep(1000 * (unsigned)atoi(reeve_task_payload(task).data));
    return reeve_task_done(task, NULL, 0);
}

static pthread_mutex_t reason_lock = PTHREAD_MUTEX_INITIALIZER; /* of test_reason: many handlers may end at once */

static reeve_outcome run_hold(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add(&test_begun, 1);
    while (!atomic_load(&is_open)) {
        if (reeve_task_should_stop(task)) {
            const char *reason = reeve_task_cancel_reason(task);
            (void)pthread_mutex_lock(&reason_lock);
            (void)snprintf(test_reason, sizeof(test_reason), "%s", reason != NULL ? reason : "");
            (void)pthread_mutex_unlock(&reason_lock);
            atomic_fetch_add(&test_announced, 1);
            return reeve_task_retry(task, 0, "told", "told to stop");
        }
        test_pause();
    }
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome run_stubborn(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add(&test_begun, 1);
    while (!atomic_load(&is_open)) test_pause();
    return reeve_task_done(task, "late", 4);
}

/* ---- workers --------------------------------------------------------------------------------------------------- */

reeve_worker *test_worker_new(const reeve_worker_options *options)
{
    static const struct {
        const char *type;
        reeve_handler_fn run;
    } handlers[] = {{"t", run_done},    {"act", run_act},           {"nap", run_nap},
                    {"hold", run_hold}, {"stubborn", run_stubborn}, {"slot", run_slot}};
    reeve_worker *worker;
    reeve_worker_options all = {0};
    char words[512] = "";
    if (options) all = *options;
    if (!all.redis) all.redis = test_redis_url(test_redis);
    if (reeve_worker_create(&worker, &all, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
        assert_int_equal(reeve_worker_handle(worker, handlers[i].type, handlers[i].run, NULL), REEVE_OK);
    return worker;
}

void test_worker_pool(reeve_worker *worker, const char *queues, unsigned threads, unsigned batch)
{
    char copy[256], *rest = NULL;
    const char *names[8];
    reeve_pool_options options = {.queues = names, .threads = threads, .batch = batch};
    rv_copy_text(copy, sizeof(copy), queues);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        assert_true(options.queue_count < 8);
        names[options.queue_count++] = name;
    }
    if (reeve_worker_add_pool(worker, &options) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
}

void test_worker_start(reeve_worker *worker)
{
    if (reeve_worker_start(worker) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
}

reeve_worker *test_worker_run(unsigned threads, unsigned batch)
{
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "q", threads, batch);
    test_worker_start(worker);
    return worker;
}

void test_worker_end(reeve_worker *worker)
{
    if (reeve_worker_stop(worker, 10000) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    reeve_worker_destroy(worker);
}

void test_worker_end_after(reeve_worker *worker, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (test_runs[i] != 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    assert_int_equal(test_worker_stats(worker).completed, count);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    reeve_worker_destroy(worker);
}

bool test_threads_are_idle(long long threads)
{
    if (test_number("LLEN reeve:{q}:idle") == threads) return true;
    if (test_number("ZCARD reeve:{q}:sessions") > 0) (void)test_cmd(test_conn, "LPUSH reeve:{q}:wake 1");
    return false;
}

reeve_worker_stats test_worker_stats(reeve_worker *worker)
{
    reeve_worker_stats stats;
    reeve_worker_get_stats(worker, &stats);
    return stats;
}

/* ---- the way to the server ------------------------------------------------------------------------------------- */

static const char *link_path(void)
{
    static char path[256];
    (void)snprintf(path, sizeof(path), "%s/link.sock", test_redis_dir(test_redis));
    return path;
}

const char *test_link_url(void)
{
    static char url[300];
    (void)snprintf(url, sizeof(url), "unix://%s", link_path());
    return url;
}

void test_link_make(void)
{
    test_link_remove();
    assert_int_equal(symlink("redis.sock", link_path()), 0);
}

void test_link_remove(void)
{
    (void)unlink(link_path());
}

void test_kill_connections(void)
{
    (void)test_cmd(test_conn, "CLIENT KILL TYPE normal SKIPME yes");
    (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
}

void test_link_cut(void)
{
    test_link_remove();
    test_kill_connections();
}

void test_remember_calls(void)
{
    (void)test_cmd(test_conn, "CONFIG SET slowlog-max-len 5000 slowlog-log-slower-than 0");
    (void)test_cmd(test_conn, "SLOWLOG RESET");
}

long long test_shared_calls(void)
{
    static const char script[] =
        "local shared = 0 "
        "for _, entry in ipairs(redis.call('SLOWLOG', 'GET', -1)) do "
        "  for _, word in ipairs(entry[4]) do if word == 'several' then shared = shared + 1 end end "
        "end "
        "return shared";
    const rv_reply *reply;
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "EVAL");
    rv_args(test_conn, script);
    rv_args(test_conn, "0");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_true(rv_reply_is(reply, RV_INT));
    return rv_reply_int(reply, 0);
}

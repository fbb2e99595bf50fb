/* qless, command by command, with the calls of reeve; then its weaknesses, which reeve does not have. Its worker is a
 * consumer here, its jid an id, its klass a type, and its failure group a kind. docs/designs.md has the table. */
#include <pthread.h>
#include <string.h>

#include "reeve/change.h"
#include "reeve/cron.h"
#include "reeve/dead.h"
#include "reeve/stats.h"
#include "reeve/tags.h"
#include "reeve/watch.h"
#include "support/depend.h"
#include "support/design.h"
#include "support/limits.h"
#include "support/worker.h"

#define HOUR_MS 3600000

/* ---- put -------------------------------------------------------------------------------------------------------- */

/* put(queue, jid, klass, data, delay, priority, tags, retries, depends) */
static void put(void **state)
{
    (void)state;
    const char *const tags[] = {"invoice"};
    const reeve_parent parent = {.handle = "q/parent"};
    test_put("q", "parent");
    test_put_spec((reeve_task_spec){.queue = "q",
                                    .type = "klass",
                                    .id = "jid",
                                    .payload = {"{}", 2},
                                    .in_ms = HOUR_MS,
                                    .priority = -5,
                                    .tags = tags,
                                    .tag_count = 1,
                                    .attempts = 6,
                                    .after = &parent,
                                    .after_count = 1});
    reeve_task_info *job = test_show("q", "jid");
    assert_int_equal(job->state, REEVE_STATE_BLOCKED);
    assert_string_equal(job->type, "klass");
    assert_int_equal(job->priority, -5);
    assert_int_equal(job->attempts, 6);
    assert_true(job->due_ms > job->enqueued_ms);
    assert_string_equal(job->tags, "[\"invoice\"]");
    assert_non_null(strstr(job->parents, "q/parent"));
    reeve_task_info_free(job);
}

/* put of a job that is in another queue, and of one that runs: its worker is told, and its outcome is refused. */
static void put_elsewhere(void **state)
{
    (void)state;
    test_put("q", "a");
    reeve_task *a = test_take(test_one, "a");
    test_ok(test_client, reeve_move_running(test_client, "q", "a", "other"));
    TEST_AWAIT(reeve_task_should_stop(a));
    assert_string_equal(test_state("other", "a"), "ready");
    assert_int_equal(reeve_consumer_settle(test_one, a, reeve_task_done(a, NULL, 0)), REEVE_EREFUSED);
    test_put("q", "b");
    reeve_task *b = test_take(test_one, "b");
    const reeve_task_edit edit = {.fields = REEVE_EDIT_PAYLOAD, .payload = {"new", 3}, .expire = true};
    test_ok(test_client, reeve_edit(test_client, "q", "b", &edit));
    TEST_AWAIT(reeve_task_should_stop(b));
    assert_int_equal(reeve_consumer_settle(test_one, b, reeve_task_done(b, NULL, 0)), REEVE_EREFUSED);
    TEST_AWAIT_STATE("b", "ready");
    reeve_task_info *info = test_show("q", "b");
    assert_string_equal(info->payload.data, "new");
    assert_int_equal(info->failures, 0);
    reeve_task_info_free(info);
}

/* requeue: only of a job that there is, whatever became of it. */
static void requeue(void **state)
{
    (void)state;
    test_refused(test_client, reeve_retry_completed(test_client, "q", "a"), REEVE_ENOTFOUND, "q/a");
    test_put("q", "a");
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
    test_ok(test_client, reeve_retry_completed(test_client, "q", "a"));
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
}

/* ---- pop -------------------------------------------------------------------------------------------------------- */

/* pop(count): by priority, then in the order in which they came. */
static void pop(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "urgent", .priority = -1});
    assert_string_equal(test_pull(test_one, 2, true), "urgent a");
    test_good(test_one, test_settle_done(test_one, 0, NULL));
    test_good(test_one, test_settle_done(test_one, 1, NULL));
}

/* pause, unpause: pop gives nothing meanwhile. */
static void pause_and_unpause(void **state)
{
    (void)state;
    test_put("q", "a");
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_take_nothing(test_one);
    test_ok(test_client, reeve_resume(test_client, "q"));
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
}

/* max-concurrency of a queue */
static void max_concurrency(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_limit_queue(1, NULL);
    reeve_task *a = test_take(test_one, "a");
    test_take_nothing(test_two);
    test_complete_task(test_one, a, NULL);
    test_complete_task(test_two, test_take(test_two, "b"), NULL);
}

/* ---- while a job runs ------------------------------------------------------------------------------------------- */

/* heartbeat(data): the lock is held, and the data are there for the next attempt. */
static void heartbeat(void **state)
{
    (void)state;
    reeve_bytes data;
    test_put("q", "a");
    reeve_task *a = test_take(test_one, "a");
    assert_int_equal(reeve_task_heartbeat(a), REEVE_OK);
    assert_int_equal(reeve_task_checkpoint(a, "data", 4), REEVE_OK);
    test_retry_task(test_one, a, 0);
    a = test_take(test_two, "a");
    assert_int_equal(reeve_task_last_checkpoint(a, &data), REEVE_OK);
    assert_string_equal(data.data, "data");
    test_complete_task(test_two, a, NULL);
}

/* timeout(jid): the lock is taken away, whoever has it; another worker may pop the job at once. */
static void timeout_job(void **state)
{
    (void)state;
    test_put("q", "a");
    reeve_task *a = test_take(test_one, "a");
    test_ok(test_client, reeve_expire(test_client, "q", "a"));
    test_complete_task(test_two, test_take(test_two, "a"), NULL);
    TEST_AWAIT(reeve_task_should_stop(a));
    assert_int_equal(reeve_consumer_settle(test_one, a, reeve_task_done(a, NULL, 0)), REEVE_EREFUSED);
}

/* ---- how it ends ------------------------------------------------------------------------------------------------ */

/* complete(next, delay, depends): the job is in the next queue in the same step. */
static void complete_with_next(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "next/parent"};
    test_put("next", "parent");
    test_put("q", "a b");
    reeve_task *a = test_take(test_one, "a");
    const reeve_task_spec delayed = {.queue = "next", .type = "t", .id = "a", .in_ms = HOUR_MS};
    assert_int_equal(reeve_task_chain(a, &delayed, NULL), REEVE_OK);
    test_complete_task(test_one, a, NULL);
    TEST_AWAIT(strcmp(test_state("next", "a"), "scheduled") == 0);
    reeve_task *b = test_take(test_one, "b");
    const reeve_task_spec blocked = {.queue = "next", .type = "t", .id = "b", .after = &parent, .after_count = 1};
    assert_int_equal(reeve_task_chain(b, &blocked, NULL), REEVE_OK);
    test_complete_task(test_one, b, NULL);
    TEST_AWAIT(strcmp(test_state("next", "b"), "blocked") == 0);
}

/* retry(delay): the attempt counts. */
static void retry(void **state)
{
    (void)state;
    test_put("q", "a");
    test_retry_task(test_one, test_take(test_one, "a"), HOUR_MS);
    assert_string_equal(test_state("q", "a"), "scheduled");
    assert_int_equal(test_failures("a"), 1);
}

static void fail_three(void)
{
    test_put("q", "a b c");
    test_fail_task(test_one, test_take(test_one, "a"), "group", "message");
    test_fail_task(test_one, test_take(test_one, "b"), "group", "message");
    test_fail_task(test_one, test_take(test_one, "c"), "another", "message");
}

/* fail(group, message, data), failed(), failed(group, start, limit) */
static void fail_and_failed(void **state)
{
    (void)state;
    reeve_failure *groups = NULL;
    reeve_task_info **jobs = NULL;
    size_t count = 0;
    uint64_t total = 0;
    fail_three();
    test_ok(test_client, reeve_failures(test_client, "q", 0, 10, &groups, &count, &total));
    assert_int_equal(total, 2);
    for (size_t i = 0; i < 2; i++) assert_int_equal(groups[i].count, strcmp(groups[i].kind, "group") == 0 ? 2 : 1);
    reeve_failures_free(groups);
    test_ok(test_client, reeve_list_kind(test_client, "q", "group", 0, 1, &jobs, &count, &total));
    assert_int_equal(count, 1);
    assert_int_equal(total, 2);
    assert_string_equal(jobs[0]->error_message, "message");
    reeve_task_list_free(jobs, count);
}

/* unfail(queue, group, count) */
static void unfail(void **state)
{
    (void)state;
    reeve_bulk_result result;
    fail_three();
    const reeve_filter filter = {.state = REEVE_STATE_DEAD, .kind = "group", .limit = 1};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_RETRY, &filter, NULL, NULL, &result));
    assert_int_equal(result.done, 1);
    assert_int_equal(test_count("q", "ready"), 1);
    assert_int_equal(test_count("q", "dead"), 2);
}

/* cancel: refused while others depend on the job, unless they are cancelled with it. */
static void cancel(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_refused(test_client, reeve_cancel(test_client, "q", "a"), REEVE_ESTATE, "others wait for it");
    test_ok(test_client, reeve_cancel_cascade(test_client, "q", "a"));
    assert_string_equal(test_state("q", "a"), "cancelled");
    TEST_AWAIT_STATE("b", "cancelled");
}

/* cancel of a job that runs: its worker is told. */
static void cancel_running(void **state)
{
    (void)state;
    test_put("q", "a");
    reeve_task *a = test_take(test_one, "a");
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    TEST_AWAIT(reeve_task_is_cancelled(a));
    test_good(test_one, reeve_consumer_cancel(test_one, a));
    assert_string_equal(test_state("q", "a"), "cancelled");
}

/* ---- changes of a job ------------------------------------------------------------------------------------------- */

/* depends(jid, on, ...), depends(jid, off, ...); the end of the last parent releases a job. */
static void depends_on_and_off(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "q/parent"};
    const char *const handles[] = {"q/parent"};
    test_put("q", "parent a");
    test_ok(test_client, reeve_add_dependency(test_client, "q", "a", &parent, 1));
    assert_string_equal(test_state("q", "a"), "blocked");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "a", handles, 1));
    assert_string_equal(test_state("q", "a"), "ready");
    test_ok(test_client, reeve_add_dependency(test_client, "q", "a", &parent, 1));
    test_complete_task(test_one, test_take(test_one, "parent"), NULL);
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
}

/* priority(jid, n). There, the job loses its time and overtakes all others of its new priority; here it comes behind
 * them. */
static void priority_keeps_order(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "first", .priority = 9});
    test_put("q", "a b");
    test_ok(test_client, reeve_set_priority(test_client, "q", "first", 0));
    assert_string_equal(test_pull(test_one, 3, true), "a b first");
    for (unsigned i = 0; i < 3; i++) test_good(test_one, test_settle_done(test_one, i, NULL));
}

/* tag add, tag remove, tag get, tag top */
static void tags(void **state)
{
    (void)state;
    const char *const both[] = {"x", "y"};
    reeve_tag *top = NULL;
    reeve_task_info **jobs = NULL;
    size_t count = 0;
    uint64_t total = 0;
    int64_t next = 0;
    test_put("q", "a b");
    const reeve_task_edit add = {.tags = both, .tag_count = 2}, remove = {.removed_tags = both, .removed_tag_count = 1};
    test_ok(test_client, reeve_edit(test_client, "q", "a", &add));
    test_ok(test_client, reeve_edit(test_client, "q", "b", &add));
    test_ok(test_client, reeve_edit(test_client, "q", "b", &remove));
    test_ok(test_client, reeve_list_tag(test_client, "q", "x", NULL, 0, 10, &jobs, &count, &next));
    assert_int_equal(count, 1);
    assert_string_equal(jobs[0]->id, "a");
    reeve_task_list_free(jobs, count);
    test_ok(test_client, reeve_tags(test_client, "q", 0, 10, &top, &count, &total));
    assert_int_equal(total, 2);
    assert_int_equal(top[0].count + top[1].count, 3);
    reeve_tags_free(top);
}

/* log(jid, message): a line in the history of a job. */
static void log_line(void **state)
{
    (void)state;
    test_put("q", "a");
    test_ok(test_client, reeve_add_log(test_client, "q", "a", "asked the customer"));
    reeve_task *a = test_take(test_one, "a");
    assert_int_equal(reeve_task_log(a, "step %d", 1), REEVE_OK);
    test_complete_task(test_one, a, NULL);
    reeve_task_info *job = test_show("q", "a");
    assert_int_equal(job->log_count, 2);
    assert_string_equal(job->log[0].text, "asked the customer");
    assert_string_equal(job->log[1].text, "step 1");
    reeve_task_info_free(job);
}

/* ---- what can be seen ------------------------------------------------------------------------------------------- */

static uint64_t jobs_in(reeve_state job_state)
{
    reeve_task_info **jobs = NULL;
    size_t count = 0;
    uint64_t total = 0;
    test_ok(test_client, reeve_list(test_client, "q", job_state, 0, 1, &jobs, &count, &total));
    reeve_task_list_free(jobs, count);
    return total;
}

/* multiget(jid, ...) */
static void multiget(void **state)
{
    (void)state;
    const char *const handles[] = {"q/a", "q/unknown", "other/b"};
    reeve_task_info *jobs[3];
    test_put("q", "a");
    test_put("other", "b");
    test_ok(test_client, reeve_show_many(test_client, handles, 3, jobs));
    assert_string_equal(jobs[0]->id, "a");
    assert_null(jobs[1]);
    assert_string_equal(jobs[2]->queue, "other");
    for (size_t i = 0; i < 3; i++) reeve_task_info_free(jobs[i]);
}

/* get, jobs(state, start, limit), length */
static void get_and_jobs(void **state)
{
    (void)state;
    char cursor[REEVE_CURSOR_MAX] = "";
    reeve_task_info **jobs = NULL;
    size_t count = 0;
    test_put("q", "job-1 job-2");
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "later", .in_ms = HOUR_MS});
    test_put_after("q", "after", "f:q/later");
    reeve_task *running = test_take(test_one, "job-1");
    assert_int_equal(jobs_in(REEVE_STATE_RUNNING), 1);
    assert_int_equal(jobs_in(REEVE_STATE_SCHEDULED), 1);
    assert_int_equal(jobs_in(REEVE_STATE_BLOCKED), 1);
    assert_int_equal(jobs_in(REEVE_STATE_READY), 1);
    test_complete_task(test_one, running, NULL);
    assert_int_equal(jobs_in(REEVE_STATE_COMPLETED), 1);
    const reeve_filter filter = {.state = REEVE_STATE_READY, .id_prefix = "job-"};
    test_ok(test_client, reeve_find(test_client, "q", &filter, cursor, 10, &jobs, &count, NULL));
    assert_int_equal(count, 1);
    reeve_task_list_free(jobs, count);
}

/* peek, queues. There, these move jobs that are due; here they change nothing. */
static void peek_and_queues(void **state)
{
    (void)state;
    reeve_task_info **jobs = NULL;
    reeve_queue_info *queues = NULL;
    size_t count = 0;
    uint64_t total = 0;
    test_put_spec((reeve_task_spec){.queue = "unserved", .type = "t", .id = "due", .in_ms = 1});
    test_put("unserved", "a b");
    test_ok(test_client, reeve_list(test_client, "unserved", REEVE_STATE_READY, 0, 1, &jobs, &count, &total));
    assert_string_equal(jobs[0]->id, "a");
    reeve_task_list_free(jobs, count);
    test_ok(test_client, reeve_queues(test_client, &queues, &count));
    reeve_queues_free(queues);
    assert_string_equal(test_state("unserved", "due"), "scheduled");
}

/* workers(), workers(one): also the jobs of one; worker.deregister: a worker that closes is gone. */
static void workers(void **state)
{
    (void)state;
    char cursor[REEVE_CURSOR_MAX] = "";
    reeve_task_info **jobs = NULL;
    size_t count = 0;
    test_put("q", "a b");
    reeve_task *a = test_take(test_one, "a"), *b = test_take(test_two, "b");
    const reeve_filter filter = {.state = REEVE_STATE_RUNNING, .worker = reeve_consumer_id(test_two)};
    test_ok(test_client, reeve_find(test_client, "q", &filter, cursor, 10, &jobs, &count, NULL));
    assert_int_equal(count, 1);
    assert_string_equal(jobs[0]->id, "b");
    reeve_task_list_free(jobs, count);
    test_complete_task(test_one, a, NULL);
    test_complete_task(test_two, b, NULL);
}

static size_t worker_count(void)
{
    reeve_worker_info *list = NULL;
    size_t count = 0;
    test_ok(test_client, reeve_workers(test_client, &list, &count));
    reeve_workers_free(list, count);
    return count;
}

static void deregister(void **state)
{
    (void)state;
    TEST_AWAIT(worker_count() == 2); /* each enters the list by its first heartbeat */
    reeve_consumer *closes = test_consumer_open("q", NULL);
    TEST_AWAIT(worker_count() == 3);
    test_good(closes, reeve_consumer_close(closes));
    assert_int_equal(worker_count(), 2);
}

/* stats(queue, date): wait and run times of a day with mean, variance and histogram; failures. */
static void stats(void **state)
{
    (void)state;
    reeve_day *day = NULL;
    const reeve_consumer_options options = {.session_ms = 60000, .manual_heartbeat = true};
    reeve_consumer *consumer = test_consumer_open("q", &options);
    test_put("q", "a b");
    test_complete_task(consumer, test_take(consumer, "a"), NULL);
    test_retry_task(consumer, test_take(consumer, "b"), HOUR_MS);
    test_good(consumer, reeve_consumer_heartbeat(consumer));
    test_good(consumer, reeve_consumer_close(consumer));
    test_ok(test_client, reeve_stats(test_client, "q", 0, 1, &day));
    assert_int_equal(day->completed, 1);
    assert_int_equal(day->retried, 1);
    assert_int_equal(day->wait.count, 2);
    assert_int_equal(day->run.count, 2);
    reeve_stats_free(day, 1);
}

/* track, untrack, and the list of what is tracked: a tag, and the events of the job. */
static void track(void **state)
{
    (void)state;
    const char *const tracked[] = {"tracked"};
    reeve_watch *watch;
    const reeve_event *event;
    test_put("q", "a b");
    const reeve_task_edit add = {.tags = tracked, .tag_count = 1};
    const reeve_task_edit remove = {.removed_tags = tracked, .removed_tag_count = 1};
    const reeve_watch_options options = {.queue = "q", .id = "a"};
    test_ok(test_client, reeve_edit(test_client, "q", "a", &add));
    test_ok(test_client, reeve_watch_open(&watch, test_client, &options));
    test_fail_task(test_one, test_take(test_one, "a"), "group", "message");
    test_ok(test_client, reeve_watch_next(watch, 60000, &event));
    assert_string_equal(event->what, "leased");
    test_ok(test_client, reeve_watch_next(watch, 60000, &event));
    assert_string_equal(event->what, "dead");
    assert_string_equal(event->kind, "group");
    reeve_watch_close(watch);
    test_ok(test_client, reeve_edit(test_client, "q", "a", &remove));
}

/* The log of all transitions, which is published. */
static void event_log(void **state)
{
    (void)state;
    static const char *const all[] = {"enqueued", "leased", "completed"};
    reeve_watch *watch;
    const reeve_watch_options options = {.queue = "q"};
    test_ok(test_client, reeve_watch_open(&watch, test_client, &options));
    test_put("q", "a");
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
    for (size_t i = 0; i < 3; i++) {
        const reeve_event *event;
        test_ok(test_client, reeve_watch_next(watch, 60000, &event));
        assert_string_equal(event->what, all[i]);
    }
    reeve_watch_close(watch);
}

/* ---- queues ----------------------------------------------------------------------------------------------------- */

/* config.set, config.get, config.unset, for a queue. */
static void config(void **state)
{
    (void)state;
    reeve_queue_settings *found = NULL;
    const reeve_keep keep = {.age_ms = HOUR_MS, .count = 50000};
    const reeve_queue_policy policy = {.attempts = 7}, none = {0};
    const reeve_queue_settings set = {.completed = &keep, .policy = &policy}, unset = {.policy = &none};
    test_ok(test_client, reeve_queue_set(test_client, "q", &set));
    test_ok(test_client, reeve_queue_settings_get(test_client, "q", &found));
    assert_int_equal(found->policy->attempts, 7);
    assert_int_equal(found->completed->count, 50000);
    reeve_queue_settings_free(found);
    test_ok(test_client, reeve_queue_set(test_client, "q", &unset));
    test_ok(test_client, reeve_queue_settings_get(test_client, "q", &found));
    assert_int_equal(found->policy->attempts, 0);
    reeve_queue_settings_free(found);
}

/* queue.forget */
static void forget(void **state)
{
    (void)state;
    uint64_t deleted = 0;
    test_put("old", "a b");
    test_refused(test_client, reeve_queue_forget(test_client, "old", 0, NULL), REEVE_ESTATE, "old");
    test_ok(test_client, reeve_queue_forget(test_client, "old", REEVE_FORGET_TASKS, &deleted));
    assert_int_equal(deleted, 2);
}

/* ---- recurring jobs --------------------------------------------------------------------------------------------- */

/* recur: a child for each interval, with priority, tags and retries; here one of them. */
static void recur(void **state)
{
    (void)state;
    const char *const tagged[] = {"recurring"};
    const reeve_task_spec job = {
        .queue = "q", .type = "t", .priority = -1, .tags = tagged, .tag_count = 1, .attempts = 3};
    const reeve_cron_entry entry = {
        .name = "r", .spec = "every 100ms", .task = &job, .runs = 1, .catch_up = REEVE_CATCH_UP_ALL, .catch_up_max = 5};
    test_ok(test_client, reeve_cron_set(test_client, &entry, NULL));
    (void)test_pull(test_one, 1, true);
    assert_memory_equal(reeve_task_id(test_pulled[0]), "cron:r:", 7);
    test_good(test_one, test_settle_done(test_one, 0, NULL));
}

/* recur.get, recur.update, recur.tag, the list of recurring jobs, unrecur */
static void recur_update(void **state)
{
    (void)state;
    const char *const tagged[] = {"recurring"};
    reeve_cron_entry *found = NULL;
    reeve_cron_info *list = NULL;
    size_t count = 0;
    const reeve_task_spec job = {.queue = "q", .type = "t"};
    const reeve_cron_entry entry = {.name = "r", .spec = "@yearly", .task = &job};
    test_ok(test_client, reeve_cron_set(test_client, &entry, NULL));
    test_ok(test_client, reeve_cron_get(test_client, NULL, "r", &found));
    reeve_task_spec changed_job = *found->task;
    changed_job.tags = tagged;
    changed_job.tag_count = 1;
    reeve_cron_entry changed = *found;
    changed.spec = "every 30d";
    changed.task = &changed_job;
    test_ok(test_client, reeve_cron_set(test_client, &changed, NULL));
    reeve_cron_entry_free(found);
    test_ok(test_client, reeve_cron_list(test_client, "q", &list, &count));
    assert_int_equal(count, 1);
    assert_string_equal(list[0].spec, "every 30d");
    assert_string_equal(list[0].entry->task->tags[0], "recurring");
    reeve_cron_free(list, count);
    test_ok(test_client, reeve_cron_remove(test_client, "q", "r"));
}

/* ---- what goes wrong there -------------------------------------------------------------------------------------- */

static void *put_when_blocked(void *client)
{
    while (!test_is_blocked()) test_pause();
    const reeve_task_spec job = {.queue = "q", .type = "t", .id = "a"};
    TEST_MUST(reeve_enqueue(client, &job, NULL) == REEVE_OK);
    return NULL;
}

/* There, pop never blocks, so that workers poll. */
static void pop_blocks(void **state)
{
    (void)state;
    pthread_t thread;
    reeve_client *client = test_client_open(60000);
    test_take_nothing(test_one);
    assert_int_equal(pthread_create(&thread, NULL, put_when_blocked, client), 0);
    reeve_task *a = test_take(test_one, "a");
    assert_int_equal(pthread_join(thread, NULL), 0);
    reeve_client_close(client);
    test_complete_task(test_one, a, NULL);
}

/* There, the caller's clock says which locks have expired. Here no call names the time: a lease ends by the clock of
 * Redis, when no heartbeat has come for long enough. */
static void clocks_of_clients(void **state)
{
    (void)state;
    test_put("q", "a");
    reeve_task *a = test_take(test_one, "a");
    test_maintain_all("q");
    assert_string_equal(test_state("q", "a"), "running");
    reeve_task_info *job = test_show("q", "a");
    const long long now_s = test_number("EVAL return(tonumber(redis.call('TIME')[1])) 0");
    assert_true(job->lease_expires_ms > now_s * 1000);
    reeve_task_info_free(job);
    test_complete_task(test_one, a, NULL);
}

/* There, a completion deletes all old jobs at once, however many they are. Here it deletes some, and maintenance others. */
static void bounded_purge(void **state)
{
    (void)state;
    const reeve_keep keep = {.age_ms = -1, .count = 3};
    const reeve_queue_settings settings = {.completed = &keep};
    test_put_many("q", 200, "a%03zu");
    for (int i = 0; i < 2; i++) {
        (void)test_pull(test_one, 100, true);
        for (unsigned j = 0; j < test_pulled_count; j++)
            test_good(test_one,
                      reeve_consumer_settle_later(test_one, test_pulled[j], reeve_task_done(test_pulled[j], NULL, 0)));
        test_good(test_one, reeve_consumer_flush(test_one));
    }
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
    assert_true(test_maintain_only("q", 10).trimmed <= 10);
    test_maintain_all("q");
    assert_int_equal(test_count("q", "completed"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OPERATION(put),
        TEST_OPERATION(put_elsewhere),
        TEST_OPERATION(requeue),
        TEST_OPERATION(pop),
        TEST_OPERATION(pause_and_unpause),
        TEST_OPERATION(max_concurrency),
        TEST_OPERATION(heartbeat),
        TEST_OPERATION(timeout_job),
        TEST_OPERATION(complete_with_next),
        TEST_OPERATION(retry),
        TEST_OPERATION(fail_and_failed),
        TEST_OPERATION(unfail),
        TEST_OPERATION(cancel),
        TEST_OPERATION(cancel_running),
        TEST_OPERATION(depends_on_and_off),
        TEST_OPERATION(priority_keeps_order),
        TEST_OPERATION(tags),
        TEST_OPERATION(log_line),
        TEST_OPERATION(multiget),
        TEST_OPERATION(get_and_jobs),
        TEST_OPERATION(peek_and_queues),
        TEST_OPERATION(workers),
        TEST_OPERATION(deregister),
        TEST_OPERATION(stats),
        TEST_OPERATION(track),
        TEST_OPERATION(event_log),
        TEST_OPERATION(config),
        TEST_OPERATION(forget),
        TEST_OPERATION(recur),
        TEST_OPERATION(recur_update),
        TEST_OPERATION(pop_blocks),
        TEST_OPERATION(clocks_of_clients),
        TEST_OPERATION(bounded_purge),
    };
    return cmocka_run_group_tests_name("ct_design_qless", tests, test_place_start, test_place_stop);
}

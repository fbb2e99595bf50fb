/* ut_task.c - a task in its handler's hands: what it reads, what its verbs keep. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "handlers/task.h"
#include "support/cmocka.h"

#define HEADER                                                                       \
    "{\"type\":\"resize\",\"at\":1700000000123,\"group\":\"acme\",\"tags\":[\"x\"]," \
    "\"meta\":{\"k\":\"v\",\"trace\":\"00-ab\",\"number\":7}}"

static int set_up(void **state)
{
    reeve_task *task = malloc(sizeof(*task));

    if (task == NULL) return -1;
    rv_task_init(task);
    rv_task_begin(task);
    task->queue = "media";
    task->id = "0190-a";
    task->type = "resize";
    task->payload = (reeve_bytes){"in\0put", 6};
    task->options = task->kept_options = cJSON_Parse(HEADER);
    task->attempt = 2;
    task->crashes = 1;
    task->enqueued_ms = 1700000000123;
    *state = task;
    return 0;
}

static int tear_down(void **state)
{
    rv_task_fini(*state);
    free(*state);
    return 0;
}

static void it_reads_what_it_was_leased_with(void **state)
{
    reeve_task *task = *state;
    reeve_bytes payload = reeve_task_payload(task);
    int mine;

    assert_memory_equal(payload.data, "in\0put", 7);
    assert_int_equal(payload.length, 6);
    assert_string_equal(reeve_task_id(task), "0190-a");
    assert_string_equal(reeve_task_queue(task), "media");
    assert_string_equal(reeve_task_type(task), "resize");
    assert_string_equal(reeve_task_handle(task), "media/0190-a");
    assert_int_equal(reeve_task_attempt(task), 2);
    assert_int_equal(reeve_task_crashes(task), 1);
    assert_int_equal(reeve_task_enqueued_ms(task), 1700000000123);
    assert_null(reeve_task_thread_state(task));
    task->thread_state = &mine;
    assert_ptr_equal(reeve_task_thread_state(task), &mine);
}

static void a_slot_is_read_from_the_id(void **state)
{
    reeve_task *task = *state;
    static const struct {
        const char *id;
        int64_t slot;
    } cases[] = {{"cron:nightly:1700049660000", 1700049660000},
                 {"cron:n:0", 0},
                 {"cron:n:now:1700049660000", -1},
                 {"cron:n:", -1},
                 {"cron:n:12x", -1},
                 {"cron:n:-5", -1},
                 {"cron:5", -1},
                 {"cron:n:99999999999999999999", -1},
                 {"acron:n:5", -1},
                 {"0190-a", -1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        task->id = cases[i].id;
        assert_int_equal(reeve_task_slot_ms(task), cases[i].slot);
    }
}

static void the_longest_handle_fits(void **state)
{
    reeve_task *task = *state;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];

    memset(queue, 'q', REEVE_QUEUE_MAX);
    queue[REEVE_QUEUE_MAX] = '\0';
    memset(id, 'i', REEVE_ID_LENGTH_MAX);
    id[REEVE_ID_LENGTH_MAX] = '\0';
    task->queue = queue;
    task->id = id;
    assert_int_equal(strlen(reeve_task_handle(task)), REEVE_QUEUE_MAX + 1 + REEVE_ID_LENGTH_MAX);
    assert_string_equal(reeve_task_handle(task) + REEVE_QUEUE_MAX + 1, id);
}

static void options_are_read_from_the_header(void **state)
{
    reeve_task *task = *state;

    assert_string_equal(reeve_task_group(task), "acme");
    assert_string_equal(reeve_task_meta(task, "k"), "v");
    assert_string_equal(reeve_task_meta(task, "trace"), "00-ab");
    assert_null(reeve_task_meta(task, "K"));
    assert_null(reeve_task_meta(task, "number"));
    assert_null(reeve_task_meta(task, "none"));
}

static void a_header_without_members_or_sense_has_nothing_to_tell(void **state)
{
    static const char *const headers[] = {"", "{}", "no json", "[1]", "{\"meta\":[\"k\"],\"group\":3}", "7"};
    reeve_task *task = *state;

    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        rv_task_begin(task);
        task->options = task->kept_options = cJSON_Parse(headers[i]);
        assert_null(reeve_task_group(task));
        assert_null(reeve_task_meta(task, "k"));
    }
}

static void done_keeps_a_copy_of_the_result(void **state)
{
    reeve_task *task = *state;
    char result[] = "a\0b";

    assert_int_equal(reeve_task_done(task, result, 3), REEVE_OUTCOME_DONE);
    result[0] = 'x';
    assert_int_equal(task->outcome, REEVE_OUTCOME_DONE);
    assert_int_equal(task->result.length, 3);
    assert_memory_equal(task->result.data, "a\0b", 3);
    assert_int_equal(reeve_task_done(task, NULL, 0), REEVE_OUTCOME_DONE);
    assert_int_equal(task->result.length, 0);
}

static void the_largest_result_is_kept_and_a_larger_one_fails(void **state)
{
    reeve_task *task = *state;
    char *large = malloc(REEVE_RESULT_MAX + 1);

    assert_non_null(large);
    memset(large, 'r', REEVE_RESULT_MAX + 1);
    assert_int_equal(reeve_task_done(task, large, REEVE_RESULT_MAX), REEVE_OUTCOME_DONE);
    assert_int_equal(task->result.length, REEVE_RESULT_MAX);
    assert_int_equal(reeve_task_done(task, large, REEVE_RESULT_MAX + 1), REEVE_OUTCOME_FAIL);
    assert_int_equal(task->outcome, REEVE_OUTCOME_FAIL);
    assert_string_equal(task->kind, "result");
    assert_non_null(strstr(task->message, "16777217"));
    assert_int_equal(task->result.length, 0);
    free(large);
}

static void a_result_without_memory_is_tried_again(void **state)
{
    reeve_task *task = *state;
    reeve_outcome outcome;

    rv_mem_fail_at(1);
    outcome = reeve_task_done(task, "result", 6);
    rv_mem_fail_at(0);
    assert_int_equal(outcome, REEVE_OUTCOME_RETRY);
    assert_string_equal(task->kind, "resources");
    assert_int_equal(task->delay_ms, -1);
    assert_int_equal(task->result.length, 0);
    assert_int_equal(reeve_task_done(task, "result", 6), REEVE_OUTCOME_DONE);
}

static void a_failure_keeps_kind_words_and_delay(void **state)
{
    reeve_task *task = *state;

    assert_int_equal(reeve_task_fail(task, "decode", "no JPEG: %s", "short"), REEVE_OUTCOME_FAIL);
    assert_string_equal(task->kind, "decode");
    assert_string_equal(task->message, "no JPEG: short");
    assert_int_equal(reeve_task_retry(task, 5000, "io", "disk %d busy", 3), REEVE_OUTCOME_RETRY);
    assert_int_equal(task->delay_ms, 5000);
    assert_string_equal(task->kind, "io");
    assert_string_equal(task->message, "disk 3 busy");
    assert_int_equal(reeve_task_retry(task, -1234, NULL, NULL), REEVE_OUTCOME_RETRY);
    assert_int_equal(task->delay_ms, -1);
    assert_string_equal(task->kind, "error");
    assert_string_equal(task->message, "");
    assert_int_equal(reeve_task_fail(task, "", "%s", ""), REEVE_OUTCOME_FAIL);
    assert_string_equal(task->kind, "error");
}

/* "é" has two bytes: at every even distance from the limit one of them would be left behind. */
static void long_words_are_cut_on_a_character(void **state)
{
    reeve_task *task = *state;
    char words[3 * REEVE_MESSAGE_MAX];

    for (size_t lead = 0; lead < 5; lead++) {
        memset(words, 'a', lead);
        for (size_t i = lead; i + 2 < sizeof(words); i += 2) memcpy(words + i, "é", 3);
        reeve_task_fail(task, words, "%s", words);
        assert_int_equal(strlen(task->message), REEVE_MESSAGE_MAX - lead % 2);
        assert_memory_equal(task->message, words, strlen(task->message));
        assert_int_equal(strlen(task->kind), REEVE_KIND_MAX - lead % 2);
        assert_memory_equal(task->kind, words, strlen(task->kind));
    }
}

static void words_at_the_limit_stay_whole(void **state)
{
    reeve_task *task = *state;
    char words[REEVE_MESSAGE_MAX + 1];

    memset(words, 'w', sizeof(words));
    memcpy(words + REEVE_MESSAGE_MAX - 3, "€", 4);
    reeve_task_fail(task, "k", "%s", words);
    assert_string_equal(task->message, words);
}

static void what_is_no_utf8_is_cleaned(void **state)
{
    reeve_task *task = *state;

    reeve_task_fail(task, "k\xff", "a\xc3(b\x80 %s", "é\xed\xa0\x80");
    assert_string_equal(task->kind, "k?");
    assert_string_equal(task->message, "a?(b? é???");
}

static void snooze_keeps_its_delay(void **state)
{
    reeve_task *task = *state;

    reeve_task_fail(task, "k", "m");
    assert_int_equal(reeve_task_snooze(task, 70), REEVE_OUTCOME_SNOOZE);
    assert_int_equal(task->outcome, REEVE_OUTCOME_SNOOZE);
    assert_int_equal(task->delay_ms, 70);
    assert_string_equal(task->kind, "");
    assert_string_equal(task->message, "");
    reeve_task_snooze(task, -5);
    assert_int_equal(task->delay_ms, 0);
}

static void giving_back_is_a_snooze_of_nothing(void **state)
{
    reeve_task *task = *state;

    reeve_task_snooze(task, 70);
    reeve_task_done(task, "half", 4);
    assert_int_equal(reeve_task_give_back(task), REEVE_OUTCOME_SNOOZE);
    assert_int_equal(task->outcome, REEVE_OUTCOME_SNOOZE);
    assert_int_equal(task->delay_ms, 0);
    assert_int_equal(task->result.length, 0);
}

static void begin_forgets_the_task_before(void **state)
{
    static const char large[256 * 1024];
    reeve_task *task = *state;

    assert_string_equal(reeve_task_group(task), "acme");
    assert_string_equal(reeve_task_handle(task), "media/0190-a");
    reeve_task_done(task, large, sizeof(large));
    rv_task_begin(task);
    assert_null(task->queue);
    assert_null(reeve_task_group(task));
    assert_int_equal(task->outcome, REEVE_OUTCOME_NONE);
    assert_int_equal(task->delay_ms, -1);
    assert_int_equal(task->result.length, 0);
    assert_int_equal(task->result.max, REEVE_RESULT_MAX);
    assert_in_range(task->result.capacity, 1, 64 * 1024);
    task->queue = "q";
    task->id = "i";
    assert_string_equal(reeve_task_handle(task), "q/i");
}

static void what_the_worker_found_is_a_failure(void **state)
{
    reeve_task *task = *state;

    reeve_task_done(task, "half", 4);
    assert_int_equal(rv_task_failed(task, REEVE_OUTCOME_FAIL, "no-handler", "no handler for %s", "x"),
                     REEVE_OUTCOME_FAIL);
    assert_int_equal(task->outcome, REEVE_OUTCOME_FAIL);
    assert_string_equal(task->kind, "no-handler");
    assert_string_equal(task->message, "no handler for x");
    assert_int_equal(task->delay_ms, -1);
    assert_int_equal(task->result.length, 0);
}

/* ---- running a handler ----------------------------------------------------------------------------------------- */

static reeve_outcome honest(reeve_task *task, void *user)
{
    (void)reeve_task_fail(task, "k", "thought better of it");
    return reeve_task_done(task, user, 3);
}

static reeve_outcome silent(reeve_task *task, void *user)
{
    (void)task;
    return *(reeve_outcome *)user;
}

static reeve_outcome liar(reeve_task *task, void *user)
{
    (void)user;
    (void)reeve_task_done(task, "abc", 3);
    return REEVE_OUTCOME_FAIL;
}

static void run_hands_over_user_and_takes_the_verb(void **state)
{
    char result[] = "abc";
    reeve_handler handler = {REEVE_HANDLER, .type = "resize", .run = honest, .user = result};
    reeve_task *task = *state;

    assert_int_equal(rv_task_run(task, &handler), REEVE_OUTCOME_DONE);
    assert_memory_equal(task->result.data, "abc", 3);
    assert_string_equal(task->kind, "");
}

static void an_outcome_without_a_verb_is_a_failure(void **state)
{
    reeve_outcome said;
    reeve_handler handler = {REEVE_HANDLER, .type = "resize", .run = silent, .user = &said};
    reeve_task *task = *state;

    for (int i = -1; i < 7; i++) {
        said = (reeve_outcome)i;
        rv_task_begin(task);
        assert_int_equal(rv_task_run(task, &handler), REEVE_OUTCOME_RETRY);
        assert_int_equal(task->outcome, REEVE_OUTCOME_RETRY);
        assert_int_equal(task->delay_ms, -1);
        assert_string_equal(task->kind, "handler");
        assert_non_null(strstr(task->message, "resize"));
    }
}

static void an_outcome_of_another_verb_is_a_failure(void **state)
{
    reeve_handler handler = {REEVE_HANDLER, .type = "resize", .run = liar};
    reeve_task *task = *state;

    assert_int_equal(rv_task_run(task, &handler), REEVE_OUTCOME_RETRY);
    assert_string_equal(task->kind, "handler");
    assert_int_equal(task->result.length, 0);
}

/* ---- its host -------------------------------------------------------------------------------------------------- */

struct heard {
    int percent;
    char words[2 * REEVE_MESSAGE_MAX];
    bool had_words;
};

static reeve_status hear(reeve_task *task, int percent, const char *words, void *context)
{
    struct heard *heard = context;

    (void)task;
    heard->percent = percent;
    heard->had_words = words != NULL;
    heard->words[0] = '\0';
    if (words != NULL) memcpy(heard->words, words, strlen(words) + 1);
    return REEVE_EREFUSED;
}

static void progress_reaches_the_host(void **state)
{
    struct heard heard = {-1, "", false};
    rv_task_host host = {.progress = hear, .context = &heard};
    reeve_task *task = *state;
    char words[2 * REEVE_MESSAGE_MAX];

    assert_int_equal(reeve_task_progress(task, 10, "nobody listens"), REEVE_OK);
    task->host = &host;
    assert_int_equal(reeve_task_progress(task, 0, "half\xff way"), REEVE_EREFUSED);
    assert_int_equal(heard.percent, 0);
    assert_string_equal(heard.words, "half? way");
    assert_int_equal(reeve_task_progress(task, 100, NULL), REEVE_EREFUSED);
    assert_int_equal(heard.percent, 100);
    assert_false(heard.had_words);
    assert_int_equal(reeve_task_progress(task, -1, "w"), REEVE_EINVAL);
    assert_int_equal(reeve_task_progress(task, 101, "w"), REEVE_EINVAL);
    assert_int_equal(heard.percent, 100);

    memset(words, 'w', sizeof(words));
    words[sizeof(words) - 1] = '\0';
    memcpy(words + REEVE_MESSAGE_MAX - 1, "é", 2);
    reeve_task_progress(task, 5, words);
    assert_int_equal(strlen(heard.words), REEVE_MESSAGE_MAX - 1);
}

static reeve_status on_pause_for(reeve_task *task, const char *group, int64_t delay_ms, void *context)
{
    char *heard = context;

    (void)task;
    (void)snprintf(heard, 40, "%s %lld", group != NULL ? group : "-", (long long)delay_ms);
    return REEVE_ELOST;
}

/* Where there is nobody to keep it, it stays in the task; and nothing is said to nobody. */
static void a_checkpoint_without_a_host(void **state)
{
    reeve_task *task = *state;
    reeve_bytes last = {"?", 1};

    task->host = NULL;
    assert_int_equal(reeve_task_last_checkpoint(task, &last), REEVE_OK);
    assert_null(last.data);
    assert_int_equal(last.length, 0);
    assert_int_equal(reeve_task_checkpoint(task, "a\0b", 3), REEVE_OK);
    assert_int_equal(reeve_task_last_checkpoint(task, &last), REEVE_OK);
    assert_int_equal(last.length, 3);
    assert_memory_equal(last.data, "a\0b", 4);
    assert_int_equal(reeve_task_checkpoint(task, NULL, 1), REEVE_EINVAL);
    assert_int_equal(reeve_task_checkpoint(task, "", REEVE_CHECKPOINT_MAX + 1), REEVE_ETOOBIG);
    assert_int_equal(reeve_task_log(task, "line %d", 1), REEVE_OK);
    assert_int_equal(reeve_task_heartbeat(task), REEVE_OK);
    assert_false(reeve_task_is_cancelled(task));
    rv_task_begin(task);
    assert_int_equal(reeve_task_last_checkpoint(task, &last), REEVE_OK);
    assert_int_equal(last.length, 0); /* the next task has none */
}

static void a_hold_reaches_the_host(void **state)
{
    char heard[40] = "";
    rv_task_host host = {.pause_for = on_pause_for, .context = heard};
    reeve_task *task = *state;
    char name[REEVE_GROUP_MAX + 2];

    memset(name, 'g', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(reeve_task_pause_for(task, NULL, 10), REEVE_OK); /* there is nothing to hold */
    assert_int_equal(reeve_task_pause_for(task, "", 10), REEVE_EINVAL);
    task->host = &host;
    assert_int_equal(reeve_task_pause_for(task, NULL, 0), REEVE_ELOST);
    assert_string_equal(heard, "- 0");
    assert_int_equal(reeve_task_pause_for(task, "a group", INT64_MAX), REEVE_ELOST);
    assert_string_equal(heard, "a group 9223372036854775807");
    assert_int_equal(reeve_task_pause_for(task, name, 1), REEVE_EINVAL);
    assert_int_equal(reeve_task_pause_for(task, "\xff", 1), REEVE_EINVAL);
    assert_int_equal(reeve_task_pause_for(task, "g", -1), REEVE_EINVAL);
    assert_string_equal(heard, "a group 9223372036854775807");
}

static void it_stops_when_the_host_says(void **state)
{
    atomic_bool stop = false;
    rv_task_host host = {.stop = &stop};
    rv_task_host never = {.stop = NULL};
    reeve_task *task = *state;

    assert_false(reeve_task_should_stop(task));
    task->host = &never;
    assert_false(reeve_task_should_stop(task));
    task->host = &host;
    assert_false(reeve_task_should_stop(task));
    atomic_store(&stop, true);
    assert_true(reeve_task_should_stop(task));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_reads_what_it_was_leased_with),
        TEST(a_slot_is_read_from_the_id),
        TEST(the_longest_handle_fits),
        TEST(options_are_read_from_the_header),
        TEST(a_header_without_members_or_sense_has_nothing_to_tell),
        TEST(done_keeps_a_copy_of_the_result),
        TEST(the_largest_result_is_kept_and_a_larger_one_fails),
        TEST(a_result_without_memory_is_tried_again),
        TEST(a_failure_keeps_kind_words_and_delay),
        TEST(long_words_are_cut_on_a_character),
        TEST(words_at_the_limit_stay_whole),
        TEST(what_is_no_utf8_is_cleaned),
        TEST(snooze_keeps_its_delay),
        TEST(giving_back_is_a_snooze_of_nothing),
        TEST(begin_forgets_the_task_before),
        TEST(what_the_worker_found_is_a_failure),
        TEST(run_hands_over_user_and_takes_the_verb),
        TEST(an_outcome_without_a_verb_is_a_failure),
        TEST(an_outcome_of_another_verb_is_a_failure),
        TEST(progress_reaches_the_host),
        TEST(a_checkpoint_without_a_host),
        TEST(a_hold_reaches_the_host),
        TEST(it_stops_when_the_host_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A client's buffer (reeve/buffer.h): tasks that are enqueued while Redis is away, and their delivery. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "reeve/buffer.h"
#include "reeve/depend.h"
#include "reeve/partition.h"
#include "support/proxy.h"
#include "support/worker.h"

static char path[256], told[4096];
static reeve_client *client;

static int set_up(void **state)
{
    int failed = test_place_empty(state);
    told[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s/buffer", test_redis_dir(test_redis));
    (void)unlink(path);
    return failed;
}

static int tear_down(void **state)
{
    (void)state;
    reeve_client_close(client);
    client = NULL;
    return 0;
}

static void note_refused(const char *handle, reeve_status status, const char *message, void *user)
{
    size_t length = strlen(told);
    (void)message;
    (void)snprintf(told + length, sizeof(told) - length, "%s%s=%d ", (const char *)user, handle, (int)status);
}

static reeve_status open_with(reeve_client **ret, const char *url, const char *file, int64_t bytes, char words[512])
{
    const reeve_client_options options = {.redis = url,
                                          .timeout_ms = 20000,
                                          .buffer_path = file,
                                          .buffer_bytes = bytes,
                                          .buffer_wait_ms = 300,
                                          .buffer_refused = note_refused,
                                          .buffer_user = (void *)"!"};
    return reeve_client_open_with_error(ret, &options, words, 512);
}

static void open_client(const char *file, int64_t bytes)
{
    char words[512] = "";
    if (open_with(&client, test_redis_url(test_redis), file, bytes, words) != REEVE_OK) fail_msg("%s", words);
}

static reeve_status put(const char *queue, const char *id)
{
    const reeve_task_spec spec = {.queue = queue, .type = "t", .id = id, .payload = {"a\0b", 3}};
    return reeve_enqueue(client, &spec, NULL);
}

static void expect_buffered(uint64_t tasks, uint64_t delivered, uint64_t refused)
{
    reeve_buffer_info info;
    assert_int_equal(reeve_client_buffer(client, &info), REEVE_OK);
    assert_int_equal(info.tasks, tasks);
    assert_int_equal(info.delivered, delivered);
    assert_int_equal(info.refused, refused);
    assert_true((info.oldest_ms > 0) == (tasks > 0));
}

/* ---- while Redis is away ----------------------------------------------------------------------------------------- */

static void tasks_wait_for_redis_in_order(void **state)
{
    char id[REEVE_ID_MAX] = "";
    (void)state;
    open_client(path, 0);
    assert_int_equal(put("q", "a"), REEVE_OK);
    test_redis_kill(test_redis);
    assert_int_equal(put("q", "b"), REEVE_BUFFERED);
    assert_non_null(strstr(reeve_client_error(client), "b is in the buffer"));
    assert_int_equal(reeve_enqueue(client, &(reeve_task_spec){.queue = "r", .type = "t"}, id), REEVE_BUFFERED);
    assert_int_equal(strlen(id), 36);
    assert_int_equal(put("q", "c"), REEVE_BUFFERED);
    expect_buffered(3, 0, 0);
    assert_int_equal(reeve_client_flush(client, 100), REEVE_ECONNECT);
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(put("q", "d"), REEVE_BUFFERED); /* behind the others: Redis is tried again in a second */
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    expect_buffered(0, 4, 0);
    assert_int_equal(put("q", "e"), REEVE_OK);
    assert_string_equal(test_state("r", id), "ready");
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:ready 0 -1"), "[b c d e]");
    reeve_task_info *info = test_show("q", "c");
    assert_int_equal(info->payload.length, 3);
    reeve_task_info_free(info);
}

static reeve_status put_unique(const char *key, char id[REEVE_ID_MAX])
{
    const reeve_task_spec spec = {.queue = "mail", .type = "t", .unique = key};
    return reeve_enqueue(client, &spec, id);
}

/* A task goes to the partition of its key, whether it was kept or not; nobody sees another name than that of the queue. */
static void tasks_of_a_divided_queue_are_spread(void **state)
{
    char id[REEVE_ID_MAX], key[16];
    (void)state;
    open_client(path, 0);
    assert_int_equal(reeve_partition_set(client, "mail", 4), REEVE_OK);
    assert_int_equal(put_unique("k0", id), REEVE_OK);
    assert_string_equal(test_cmd(test_conn, "SAVE"), "OK");
    test_redis_kill(test_redis);
    for (int i = 0; i < 30; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(put_unique(key, id), REEVE_BUFFERED);
    }
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    expect_buffered(0, 29, 1);
    assert_non_null(strstr(told, "!mail/"));
    for (int i = 0; i < 30; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(put_unique(key, id), REEVE_EUNIQUE);
    }
    const char *const names[] = {"mail", "mail~1", "mail~2", "mail~3"};
    for (size_t i = 0; i < 4; i++) assert_true(test_count(names[i], "ready") > 1);
    char dump[300];
    (void)snprintf(dump, sizeof(dump), "%s/dump.rdb", test_redis_dir(test_redis));
    (void)unlink(dump);
}

static void an_enqueue_delivers_what_waits(void **state)
{
    (void)state;
    open_client(NULL, 100000);
    test_redis_kill(test_redis);
    assert_int_equal(put("q", "a"), REEVE_BUFFERED);
    test_redis_launch(test_redis);
    test_conn_again();
    TEST_AWAIT(reeve_enqueue(client, &(reeve_task_spec){.queue = "q", .type = "t"}, NULL) == REEVE_OK);
    expect_buffered(0, (uint64_t)test_count("q", "ready") - 1, 0);
    assert_string_equal(test_state("q", "a"), "ready");
}

static void a_client_opens_without_redis(void **state)
{
    char words[512] = "";
    (void)state;
    test_redis_kill(test_redis);
    assert_int_equal(open_with(&client, test_redis_url(test_redis), NULL, 0, words), REEVE_ECONNECT);
    open_client(path, 0);
    assert_int_equal(put("q", "a"), REEVE_BUFFERED);
    assert_int_equal(
        reeve_batch_open(client, &(reeve_batch){{0}, {0}, {0}},
                         &(reeve_batch_callbacks){.complete = &(reeve_task_spec){.queue = "q", .type = "t"}}),
        REEVE_ECONNECT);
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    assert_string_equal(test_state("q", "a"), "ready");
}

static void times_count_from_the_call(void **state)
{
    (void)state;
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "a", .in_ms = 3600000, .expires_in_ms = 7200000};
    open_client(path, 0);
    test_redis_kill(test_redis);
    int64_t now = rv_wall_ms();
    assert_int_equal(reeve_enqueue(client, &spec, NULL), REEVE_BUFFERED);
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    reeve_task_info *info = test_show("q", "a");
    assert_in_range(info->due_ms, now + 3600000, rv_wall_ms() + 3600000);
    assert_in_range(info->deadline_ms, now + 7200000, rv_wall_ms() + 7200000);
    reeve_task_info_free(info);
}

static void a_full_buffer_says_so(void **state)
{
    (void)state;
    reeve_task_spec specs[2] = {{.queue = "q", .type = "t"}, {.queue = "q", .type = "t", .payload = {path, 255}}};
    reeve_enqueued results[2];
    open_client(NULL, 300);
    test_redis_kill(test_redis);
    assert_int_equal(put("q", "z"), REEVE_BUFFERED);
    assert_int_equal(reeve_enqueue_many(client, specs, 2, results), REEVE_EFULL);
    assert_non_null(strstr(reeve_client_error(client), "the buffer is full"));
    assert_int_equal(results[0].status, REEVE_BUFFERED);
    assert_int_equal(results[1].status, REEVE_EFULL);
    specs[1].queue = "";
    assert_int_equal(reeve_enqueue_many(client, specs, 2, results), REEVE_EINVAL);
    assert_int_equal(results[0].status, REEVE_BUFFERED);
    assert_int_equal(results[1].status, REEVE_EINVAL);
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    expect_buffered(0, 3, 0);
}

static void what_redis_refuses_later_is_reported(void **state)
{
    (void)state;
    const reeve_parent none = {.handle = "q/none"};
    const reeve_task_spec specs[] = {{.queue = "q", .type = "u", .id = "a"},
                                     {.queue = "q", .type = "t", .id = "b", .unique = "u"},
                                     {.queue = "q", .type = "t", .id = "c", .unique = "u"},
                                     {.queue = "q", .type = "t", .id = "d", .after = &none, .after_count = 1},
                                     {.queue = "q", .type = "t", .id = "e"}};
    reeve_enqueued results[5];
    open_client(path, 0);
    test_redis_kill(test_redis);
    assert_int_equal(reeve_enqueue_many(client, specs, 5, results), REEVE_BUFFERED);
    test_redis_launch(test_redis);
    test_conn_again();
    test_put("q", "a");
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    assert_string_equal(told, "!q/a=9 !q/c=21 !q/d=10 ");
    expect_buffered(0, 2, 3);
    assert_string_equal(test_state("q", "e"), "ready");
}

/* ---- each once --------------------------------------------------------------------------------------------------- */

/* Redis carries the calls out, and their replies do not come. */
static void lost_replies_enqueue_nothing_twice(void **state)
{
    char words[512] = "";
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    assert_int_equal(open_with(&client, test_proxy_url(proxy), path, 0, words), REEVE_OK);
    assert_int_equal(put("q", "a"), REEVE_OK);
    test_proxy_mute(proxy, "EVALSHA", false);
    assert_int_equal(put("q", "b"), REEVE_BUFFERED);
    TEST_AWAIT_STATE("b", "ready"); /* it came */
    assert_int_equal(reeve_enqueue(client, &(reeve_task_spec){.queue = "q", .type = "t"}, NULL), REEVE_BUFFERED);
    test_proxy_mute(proxy, "EVALSHA", false);
    assert_int_equal(reeve_client_flush(client, 300), REEVE_ETIMEOUT);
    expect_buffered(2, 0, 0);
    test_proxy_mute(proxy, "\"type\":\"t\"}", false);
    assert_int_equal(reeve_client_flush(client, 300), REEVE_ETIMEOUT);
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    expect_buffered(0, 2, 0);
    assert_int_equal(test_count("q", "ready"), 3);
    tear_down(NULL);
    test_proxy_stop(proxy);
}

/* The program is killed between sending and hearing; the next one continues with its file. */
static void a_file_survives_its_program(void **state)
{
    int status;
    (void)state;
    test_redis_kill(test_redis);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        open_client(path, 0);
        for (int i = 0; i < 300; i++) {
            char id[16];
            (void)snprintf(id, sizeof(id), "n%03d", i);
            if (put("q", id) != REEVE_BUFFERED) _exit(1);
        }
        _exit(0); /* without closing */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    test_redis_launch(test_redis);
    test_conn_again();
    open_client(path, 0);
    expect_buffered(300, 0, 0);
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    assert_int_equal(test_count("q", "ready"), 300);
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:ready 0 1"), "[n000 n001]");
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:ready -1 -1"), "[n299]");
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, strlen("reeve buffer 1 reeve\n"));
}

static void copy_file(const char *from, const char *to)
{
    char command[700];
    (void)snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* The file of a program that died after it had sent its tasks: these are sent as a repeat, and are no others. */
static void a_delivery_that_was_cut_off_is_repeated(void **state)
{
    char copy[300];
    (void)state;
    (void)snprintf(copy, sizeof(copy), "%s.copy", path);
    test_proxy *proxy = test_proxy_start(test_redis);
    char words[512];
    assert_int_equal(open_with(&client, test_proxy_url(proxy), path, 0, words), REEVE_OK);
    test_proxy_slam(proxy, "EVALSHA");
    assert_int_equal(put("q", "a"), REEVE_BUFFERED);
    test_proxy_slam(proxy, "");
    test_proxy_mute(proxy, "\"type\":\"t\"}", false);
    assert_int_equal(reeve_client_flush(client, 300), REEVE_ETIMEOUT);
    TEST_AWAIT_STATE("a", "ready");
    copy_file(path, copy);
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    tear_down(NULL);
    open_client(copy, 0);
    expect_buffered(1, 0, 0);
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    expect_buffered(0, 1, 0);
    assert_string_equal(told, "");
    assert_int_equal(test_count("q", "ready"), 1);
    test_proxy_stop(proxy);
}

/* Where no records are kept, nobody knows whether such a task has run: it does not run again. */
static void a_task_that_may_have_run_is_not_run_again(void **state)
{
    char words[512];
    reeve_buffer_info info;
    (void)state;
    (void)test_cmd(test_conn, "HSET reeve:{q}:settings completed_count 0");
    test_proxy *proxy = test_proxy_start(test_redis);
    assert_int_equal(open_with(&client, test_proxy_url(proxy), path, 0, words), REEVE_OK);
    test_proxy_mute(proxy, "EVALSHA", false);
    assert_int_equal(put("q", "a"), REEVE_BUFFERED);
    TEST_AWAIT_STATE("a", "ready");
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    assert_int_equal(reeve_client_buffer(client, &info), REEVE_OK);
    assert_int_equal(info.unknown, 1);
    assert_string_equal(told, "!q/a=5 ");
    assert_string_equal(test_state("q", "a"), "");
    tear_down(NULL);
    test_proxy_stop(proxy);
}

static void another_client_does_not_get_the_file(void **state)
{
    char words[512] = "";
    reeve_client *other = NULL;
    (void)state;
    open_client(path, 0);
    assert_int_equal(open_with(&other, test_redis_url(test_redis), path, 0, words), REEVE_ESTATE);
    assert_non_null(strstr(words, "another client"));
    tear_down(NULL);
    const reeve_client_options options = {
        .redis = test_redis_url(test_redis), .ns = "other", .buffer_path = path, .buffer_bytes = 0};
    assert_int_equal(reeve_client_open_with_error(&other, &options, words, sizeof(words)), REEVE_ESTATE);
    assert_non_null(strstr(words, "namespace"));
    open_client(path, 0);
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

static void make_file(void)
{
    open_client(path, 0);
    test_redis_kill(test_redis);
    assert_int_equal(put("q", "a"), REEVE_BUFFERED);
    assert_int_equal(put("q", "b"), REEVE_BUFFERED);
    assert_int_equal(put("q", "c"), REEVE_BUFFERED);
    tear_down(NULL);
    test_redis_launch(test_redis);
    test_conn_again();
}

static void a_torn_record_at_the_end_is_dropped(void **state)
{
    struct stat about;
    (void)state;
    make_file();
    assert_int_equal(stat(path, &about), 0);
    for (int i = 1; i < 20; i += 6) {
        char zeroes[32] = {0};
        assert_int_equal(truncate(path, about.st_size - i), 0);
        open_client(path, 0);
        expect_buffered(2, 0, 0);
        tear_down(NULL);
        assert_int_equal(stat(path, &about), 0);
        /* As a file system may leave it. */
        int fd = open(path, O_WRONLY | O_APPEND);
        assert_int_equal(write(fd, zeroes, sizeof(zeroes)), (ssize_t)sizeof(zeroes));
        (void)close(fd);
        open_client(path, 0);
        expect_buffered(2, 0, 0);
        tear_down(NULL);
        if (i == 1) break;
    }
    open_client(path, 0);
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    assert_int_equal(test_count("q", "ready"), 2);
}

static void damage_in_the_middle_is_refused(void **state)
{
    char words[512] = "";
    struct stat about;
    (void)state;
    make_file();
    assert_int_equal(stat(path, &about), 0);
    int fd = open(path, O_RDWR);
    assert_int_equal(pwrite(fd, "X", 1, 60), 1);
    (void)close(fd);
    assert_int_equal(open_with(&client, test_redis_url(test_redis), path, 0, words), REEVE_ESYSTEM);
    assert_non_null(strstr(words, "damaged at byte 21"));
    off_t size = about.st_size;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, size);
    assert_int_equal(open_with(&client, test_redis_url(test_redis), "/nonexistent/x", 0, words), REEVE_ESYSTEM);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A task was delivered while the file could not be written: what is written later is about the tasks behind it. */
static void a_file_that_was_full_forgets_what_was_delivered(void **state)
{
    struct stat about;
    (void)state;
    open_client(path, 0);
    test_redis_kill(test_redis);
    assert_int_equal(put("q", "a"), REEVE_BUFFERED);
    assert_int_equal(put("r", "b"), REEVE_BUFFERED);
    assert_int_equal(put("s", "c"), REEVE_BUFFERED);
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(stat(path, &about), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    limit_files((rlim_t)about.st_size);
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_ESYSTEM);
    limit_files(RLIM_INFINITY);
    expect_buffered(2, 1, 0);
    (void)test_cmd(test_conn, "SET reeve:{s}:tasks x"); /* c is refused, and stays */
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_EREDIS);
    expect_buffered(1, 2, 0);
    tear_down(NULL);
    open_client(path, 0);
    expect_buffered(1, 0, 0);
    (void)test_cmd(test_conn, "DEL reeve:{s}:tasks");
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    assert_string_equal(test_state("s", "c"), "ready");
}

static void each_allocation_may_fail(void **state)
{
    unsigned long nth = 0;
    reeve_status status = REEVE_ENOMEM;
    (void)state;
    test_redis_kill(test_redis);
    while (status != REEVE_BUFFERED) {
        char words[512];
        (void)rv_mem_fail_at(++nth);
        status = open_with(&client, test_redis_url(test_redis), path, 0, words);
        if (status == REEVE_OK) status = put("q", NULL);
        (void)rv_mem_fail_at(0);
        if (status != REEVE_BUFFERED && status != REEVE_ECONNECT) assert_int_equal(status, REEVE_ENOMEM);
        tear_down(NULL);
        assert_true(nth < 1000);
    }
    assert_true(nth > 5);
    test_redis_launch(test_redis);
    test_conn_again();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tasks_wait_for_redis_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tasks_of_a_divided_queue_are_spread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_enqueue_delivers_what_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_client_opens_without_redis, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_count_from_the_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_buffer_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_redis_refuses_later_is_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_replies_enqueue_nothing_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_survives_its_program, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_delivery_that_was_cut_off_is_repeated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_task_that_may_have_run_is_not_run_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_client_does_not_get_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_torn_record_at_the_end_is_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_in_the_middle_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_was_full_forgets_what_was_delivered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("ct_buffer", tests, test_place_start, test_place_stop);
}

/* The file of a client's buffer (reeve/buffer.h): what is left of it after a crash, damage, or on a full disk. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/buffer_file.h"
#include "support/buffered.h"
#include "support/proxy.h"
#include "support/worker.h"

/* Enqueues tasks, "queue/id queue/id", while Redis is away; then Redis is back. */
static void keep_while_away(const char *handles)
{
    char list[256], *rest = list;
    (void)snprintf(list, sizeof(list), "%s", handles);
    test_redis_kill(test_redis);
    for (char *queue; (queue = strsep(&rest, " ")) != NULL;) {
        char *id = queue;
        (void)strsep(&id, "/");
        assert_int_equal(test_buffer_put(queue, id), REEVE_BUFFERED);
    }
    test_redis_launch(test_redis);
    test_conn_again();
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
        test_buffer_open(test_buffer_path, 0);
        for (int i = 0; i < 300; i++) {
            char id[16];
            (void)snprintf(id, sizeof(id), "n%03d", i);
            if (test_buffer_put("q", id) != REEVE_BUFFERED) _exit(1);
        }
        _exit(0); /* without closing */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    test_redis_launch(test_redis);
    test_conn_again();
    test_buffer_open(test_buffer_path, 0);
    test_buffer_expect(300, 0, 0);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_int_equal(test_count("q", "ready"), 300);
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:ready 0 1"), "[n000 n001]");
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:ready -1 -1"), "[n299]");
    struct stat about;
    assert_int_equal(stat(test_buffer_path, &about), 0);
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
    (void)snprintf(copy, sizeof(copy), "%s.copy", test_buffer_path);
    test_proxy *proxy = test_proxy_start(test_redis);
    char words[512];
    assert_int_equal(test_buffer_open_with(&test_buffered, test_proxy_url(proxy), test_buffer_path, 0, words),
                     REEVE_OK);
    test_proxy_slam(proxy, "EVALSHA");
    assert_int_equal(test_buffer_put("q", "a"), REEVE_BUFFERED);
    test_proxy_slam(proxy, "");
    test_proxy_mute(proxy, "\"type\":\"t\"}", false);
    assert_int_equal(reeve_client_flush(test_buffered, 300), REEVE_ETIMEOUT);
    TEST_AWAIT_STATE("a", "ready");
    copy_file(test_buffer_path, copy);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    test_buffer_tear_down(NULL);
    test_buffer_open(copy, 0);
    test_buffer_expect(1, 0, 0);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    test_buffer_expect(0, 1, 0);
    assert_string_equal(test_buffer_told, "");
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
    assert_int_equal(test_buffer_open_with(&test_buffered, test_proxy_url(proxy), test_buffer_path, 0, words),
                     REEVE_OK);
    test_proxy_mute(proxy, "EVALSHA", false);
    assert_int_equal(test_buffer_put("q", "a"), REEVE_BUFFERED);
    TEST_AWAIT_STATE("a", "ready");
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_int_equal(reeve_client_buffer(test_buffered, &info), REEVE_OK);
    assert_int_equal(info.unknown, 1);
    assert_string_equal(test_buffer_told, "!q/a=5 ");
    assert_string_equal(test_state("q", "a"), "");
    test_buffer_tear_down(NULL);
    test_proxy_stop(proxy);
}

static void another_client_does_not_get_the_file(void **state)
{
    char words[512] = "";
    reeve_client *other = NULL;
    (void)state;
    test_buffer_open(test_buffer_path, 0);
    assert_int_equal(test_buffer_open_with(&other, test_redis_url(test_redis), test_buffer_path, 0, words),
                     REEVE_ESTATE);
    assert_non_null(strstr(words, "another client"));
    test_buffer_tear_down(NULL);
    const reeve_client_options options = {
        .redis = test_redis_url(test_redis), .ns = "other", .buffer_path = test_buffer_path, .buffer_bytes = 0};
    assert_int_equal(reeve_client_open_with_error(&other, &options, words, sizeof(words)), REEVE_ESTATE);
    assert_non_null(strstr(words, "namespace"));
    test_buffer_open(test_buffer_path, 0);
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

static void make_file(void)
{
    test_buffer_open(test_buffer_path, 0);
    test_redis_kill(test_redis);
    assert_int_equal(test_buffer_put("q", "a"), REEVE_BUFFERED);
    assert_int_equal(test_buffer_put("q", "b"), REEVE_BUFFERED);
    assert_int_equal(test_buffer_put("q", "c"), REEVE_BUFFERED);
    test_buffer_tear_down(NULL);
    test_redis_launch(test_redis);
    test_conn_again();
}

static void a_torn_record_at_the_end_is_dropped(void **state)
{
    struct stat about;
    (void)state;
    make_file();
    assert_int_equal(stat(test_buffer_path, &about), 0);
    for (int i = 1; i < 20; i += 6) {
        char zeroes[32] = {0};
        assert_int_equal(truncate(test_buffer_path, about.st_size - i), 0);
        test_buffer_open(test_buffer_path, 0);
        test_buffer_expect(2, 0, 0);
        test_buffer_tear_down(NULL);
        assert_int_equal(stat(test_buffer_path, &about), 0);
        /* As a file system may leave it. */
        int fd = open(test_buffer_path, O_WRONLY | O_APPEND);
        assert_int_equal(write(fd, zeroes, sizeof(zeroes)), (ssize_t)sizeof(zeroes));
        (void)close(fd);
        test_buffer_open(test_buffer_path, 0);
        test_buffer_expect(2, 0, 0);
        test_buffer_tear_down(NULL);
        if (i == 1) break;
    }
    test_buffer_open(test_buffer_path, 0);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_int_equal(test_count("q", "ready"), 2);
}

static void overwrite(off_t at, const void *bytes, size_t length)
{
    int fd = open(test_buffer_path, O_RDWR);
    assert_int_equal(pwrite(fd, bytes, length, at), (ssize_t)length);
    (void)close(fd);
}

/* The blocks of one append of several tasks, of which the first did not reach the disk, and the last did. */
static void an_append_that_lacks_a_block_is_dropped(void **state)
{
    const reeve_task_spec specs[] = {{.queue = "q", .type = "t", .id = "d"},
                                     {.queue = "q", .type = "t", .id = "e"},
                                     {.queue = "q", .type = "t", .id = "f"}};
    reeve_enqueued results[3];
    struct stat before, after;
    const char zeroes[30] = "";
    (void)state;
    for (int damage = 0; damage < 2; damage++) {
        make_file();
        assert_int_equal(stat(test_buffer_path, &before), 0);
        test_redis_kill(test_redis);
        test_buffer_open(test_buffer_path, 0);
        assert_int_equal(reeve_enqueue_many(test_buffered, specs, 3, results), REEVE_BUFFERED);
        test_buffer_tear_down(NULL);
        test_redis_launch(test_redis);
        test_conn_again();
        overwrite(before.st_size + (damage == 0 ? 0 : 25), zeroes, sizeof(zeroes));
        test_buffer_open(test_buffer_path, 0);
        test_buffer_expect(3, 0, 0);
        assert_int_equal(stat(test_buffer_path, &after), 0);
        assert_true(after.st_size >= before.st_size && after.st_size < before.st_size + 60);
        assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
        assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:ready 0 -1"), "[a b c]");
        test_buffer_tear_down(NULL);
        (void)test_cmd(test_conn, "FLUSHALL");
        (void)unlink(test_buffer_path);
    }
}

static void damage_in_the_middle_is_refused(void **state)
{
    char words[512] = "";
    struct stat about;
    (void)state;
    make_file();
    assert_int_equal(stat(test_buffer_path, &about), 0);
    overwrite(60, "X", 1);
    assert_int_equal(test_buffer_open_with(&test_buffered, test_redis_url(test_redis), test_buffer_path, 0, words),
                     REEVE_ESYSTEM);
    assert_non_null(strstr(words, "damaged at byte 38"));
    off_t size = about.st_size;
    assert_int_equal(stat(test_buffer_path, &about), 0);
    assert_int_equal(about.st_size, size);
    assert_int_equal(test_buffer_open_with(&test_buffered, test_redis_url(test_redis), "/nonexistent/x", 0, words),
                     REEVE_ESYSTEM);
}

static bool take_any(const char *record, size_t length, bool flag, void *context)
{
    (void)record;
    (void)flag;
    *(size_t *)context += length;
    return true;
}

/* A file that was written anew, as when most of it was delivered, has no append that was written in part. */
static void damage_of_a_file_that_was_written_anew_is_refused(void **state)
{
    rv_buffer_file *file;
    rv_error error = {0};
    rv_buf records;
    struct stat before, after;
    size_t taken = 0;
    (void)state;
    assert_int_equal(rv_buffer_file_open(&file, test_buffer_path, "reeve", take_any, &taken, &error), REEVE_OK);
    rv_buf_init(&records, 1000);
    rv_buffer_file_add(&records, "Tone", 4);
    rv_buffer_file_add(&records, "Ttwo", 4);
    assert_int_equal(rv_buffer_file_replace(file, &records, &error), REEVE_OK);
    rv_buf_fini(&records);
    rv_buffer_file_close(file);
    assert_int_equal(stat(test_buffer_path, &before), 0);
    assert_int_equal(rv_buffer_file_open(&file, test_buffer_path, "reeve", take_any, &taken, &error), REEVE_OK);
    rv_buffer_file_close(file);
    assert_int_equal(taken, 8);
    overwrite((off_t)strlen("reeve buffer 1 reeve\n") + 8 + 1, "X", 1);
    assert_int_equal(rv_buffer_file_open(&file, test_buffer_path, "reeve", take_any, &taken, &error), REEVE_ESYSTEM);
    assert_int_equal(stat(test_buffer_path, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A task was delivered while the file could not be written: what is written later is about the tasks behind it. */
static void a_file_that_was_full_forgets_what_was_delivered(void **state)
{
    struct stat about;
    (void)state;
    test_buffer_open(test_buffer_path, 0);
    keep_while_away("q/a r/b s/c");
    assert_int_equal(stat(test_buffer_path, &about), 0);
    limit_files((rlim_t)about.st_size);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_ESYSTEM);
    limit_files(RLIM_INFINITY);
    test_buffer_expect(2, 1, 0);
    (void)test_cmd(test_conn, "SET reeve:{s}:tasks x"); /* c is refused, and stays */
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_EREDIS);
    test_buffer_expect(1, 2, 0);
    test_buffer_tear_down(NULL);
    test_buffer_open(test_buffer_path, 0);
    test_buffer_expect(1, 0, 0);
    (void)test_cmd(test_conn, "DEL reeve:{s}:tasks");
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_string_equal(test_state("s", "c"), "ready");
}

/* A task was delivered while the disk was full: it is not in the file any more when the next one is. */
static void a_task_that_is_kept_later_stands_alone(void **state)
{
    struct stat about;
    (void)state;
    test_buffer_open(test_buffer_path, 0);
    keep_while_away("q/a");
    assert_int_equal(stat(test_buffer_path, &about), 0);
    limit_files((rlim_t)about.st_size);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    limit_files(RLIM_INFINITY);
    test_buffer_expect(0, 1, 0);
    assert_int_equal(stat(test_buffer_path, &about), 0);
    assert_int_equal(about.st_size, strlen("reeve buffer 1 reeve\n"));
    test_redis_kill(test_redis);
    assert_int_equal(test_buffer_put("q", "b"), REEVE_BUFFERED);
    test_buffer_tear_down(NULL);
    test_redis_launch(test_redis);
    test_conn_again();
    test_buffer_open(test_buffer_path, 0);
    test_buffer_expect(1, 0, 0);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_string_equal(test_state("q", "b"), "ready");
}

/* No mark can be written: a task that is sent without one could run twice. */
static void a_file_that_cannot_change_sends_nothing(void **state)
{
    (void)state;
    test_buffer_open(test_buffer_path, 0);
    keep_while_away("q/a");
    limit_files(0);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_ESYSTEM);
    assert_non_null(strstr(reeve_client_error(test_buffered), "cannot be written"));
    test_buffer_expect(1, 0, 0);
    assert_string_equal(test_state("q", "a"), "");
    limit_files(RLIM_INFINITY);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    test_buffer_expect(0, 1, 0);
    assert_string_equal(test_state("q", "a"), "ready");
}

/* The disk is full at the delivery. A program that is killed then leaves the flag; one that closes leaves no task. */
static void a_task_that_was_sent_on_a_full_disk_is_marked(void **state)
{
    char copy[300];
    struct stat about;
    (void)state;
    (void)snprintf(copy, sizeof(copy), "%s.copy", test_buffer_path);
    test_buffer_open(test_buffer_path, 0);
    keep_while_away("q/a r/b");
    assert_int_equal(stat(test_buffer_path, &about), 0);
    limit_files((rlim_t)about.st_size);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_ESYSTEM);
    limit_files(RLIM_INFINITY);
    test_buffer_expect(1, 1, 0);
    copy_file(test_buffer_path, copy);
    test_buffer_tear_down(NULL);
    test_buffer_open(test_buffer_path, 0);
    test_buffer_expect(1, 0, 0);
    test_buffer_tear_down(NULL);

    (void)test_cmd(test_conn, "HSET reeve:{q}:settings completed_count 0");
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_buffer_open(copy, 0);
    test_buffer_expect(2, 0, 0);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_string_equal(test_buffer_told, "!q/a=5 ");
    assert_string_equal(test_state("q", "a"), "");
    assert_string_equal(test_state("r", "b"), "ready");
}

/* Whoever has the rights to some queues only delivers to these. */
static void a_refused_queue_delays_no_other(void **state)
{
    (void)state;
    test_buffer_open(test_buffer_path, 0);
    keep_while_away("bad/a q/b bad/c q/d");
    (void)test_cmd(test_conn, "SET reeve:{bad}:tasks x");
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_EREDIS);
    assert_non_null(strstr(reeve_client_error(test_buffered), "the queue bad: Redis answered: "));
    test_buffer_expect(2, 2, 0);
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:ready 0 -1"), "[b d]");

    assert_int_equal(test_buffer_put("q", "e"), REEVE_OK);
    assert_int_equal(test_buffer_put("bad", "f"), REEVE_BUFFERED);
    assert_non_null(strstr(reeve_client_error(test_buffered), "the queue bad: Redis answered: "));
    test_buffer_expect(3, 2, 0);
    assert_int_equal(test_buffer_put(NULL, "g"), REEVE_EINVAL);

    test_buffer_tear_down(NULL);
    test_buffer_open(test_buffer_path, 0);
    test_buffer_expect(3, 0, 0);
    (void)test_cmd(test_conn, "DEL reeve:{bad}:tasks");
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{bad}:ready 0 -1"), "[a c f]");
}

/* Two refused queues, and others between them. */
static void what_is_refused_stays_in_order(void **state)
{
    (void)state;
    test_buffer_open(NULL, 1 << 20);
    keep_while_away("x/1 y/1 q/1 x/2 y/2");
    (void)test_cmd(test_conn, "SET reeve:{x}:tasks x");
    (void)test_cmd(test_conn, "SET reeve:{y}:tasks x");
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_EREDIS);
    test_buffer_expect(4, 1, 0);
    (void)test_cmd(test_conn, "DEL reeve:{y}:tasks");
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_EREDIS);
    test_buffer_expect(2, 3, 0);
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{y}:ready 0 -1"), "[1 2]");
    (void)test_cmd(test_conn, "DEL reeve:{x}:tasks");
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{x}:ready 0 -1"), "[1 2]");
}

/* A call of which nobody awaits the reply would make it unknown whether the tasks were enqueued. */
static void a_flush_without_time_sends_nothing(void **state)
{
    (void)state;
    test_buffer_open(test_buffer_path, 0);
    keep_while_away("q/a");
    assert_int_equal(reeve_client_flush(test_buffered, 0), REEVE_ETIMEOUT);
    test_buffer_expect(1, 0, 0);
    assert_string_equal(test_cmd(test_conn, "EXISTS reeve:{q}:tasks"), "0");
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_int_equal(reeve_client_flush(test_buffered, 0), REEVE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_survives_its_program, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_delivery_that_was_cut_off_is_repeated, test_buffer_set_up,
                                        test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_task_that_may_have_run_is_not_run_again, test_buffer_set_up,
                                        test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(another_client_does_not_get_the_file, test_buffer_set_up,
                                        test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_torn_record_at_the_end_is_dropped, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(damage_in_the_middle_is_refused, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(damage_of_a_file_that_was_written_anew_is_refused, test_buffer_set_up,
                                        test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_was_full_forgets_what_was_delivered, test_buffer_set_up,
                                        test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_task_that_is_kept_later_stands_alone, test_buffer_set_up,
                                        test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(an_append_that_lacks_a_block_is_dropped, test_buffer_set_up,
                                        test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_change_sends_nothing, test_buffer_set_up,
                                        test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_task_that_was_sent_on_a_full_disk_is_marked, test_buffer_set_up,
                                        test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_refused_queue_delays_no_other, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(what_is_refused_stays_in_order, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_flush_without_time_sends_nothing, test_buffer_set_up, test_buffer_tear_down),
    };
    return cmocka_run_group_tests_name("ct_buffer_file", tests, test_place_start, test_place_stop);
}

/* ut_checksum.c - the checksum plugin: known digests, and a kind for everything that is no readable file. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "handlers/plugin.h"
#include "handlers/task.h"
#include "support/cmocka.h"
#include "support/dirs.h"

static reeve_plugin_handle *plugin;

static int open_plugin(void)
{
    const char *build = getenv("REEVE_BUILD");
    char plugins[4000], said[1024];

    snprintf(plugins, sizeof(plugins), "%s/plugins", build != NULL ? build : ".");
    if (access(plugins, R_OK) == 0 && reeve_plugin_open(&plugin, "checksum", plugins, said, sizeof(said)) != REEVE_OK) {
        fprintf(stderr, "%s\n", said);
        return -1;
    }
    return 0;
}

static int set_up_group(void **state)
{
    const char *place;

    (void)state;
    if (open_plugin() != 0) return -1;
    place = test_dir();
    return chmod(place, 0711) == 0 ? chdir(place) : -1; /* the paths of the tests are relative */
}

static int tear_down_group(void **state)
{
    (void)state;
    reeve_plugin_close(plugin);
    return chdir("/");
}

static void write_file(const char *path, const void *data, size_t length)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static reeve_run_report run(const char *payload, size_t length)
{
    reeve_run_options options = {.size = sizeof(options), .payload = {payload, length}};
    reeve_run_report report;

    if (plugin == NULL) skip();
    assert_int_equal(reeve_plugin_run(plugin, "checksum", &options, &report), REEVE_OK);
    return report;
}

static reeve_run_report run_path(const char *path)
{
    reeve_run_report report;
    rv_buf payload;

    rv_buf_init(&payload, 100000);
    rv_buf_adds(&payload, "{\"path\":");
    rv_buf_add_json(&payload, path, strlen(path));
    rv_buf_adds(&payload, "}");
    assert_false(payload.failed);
    report = run(payload.data, payload.length);
    rv_buf_fini(&payload);
    return report;
}

static void expect_digest(const char *path, const char *sha256, unsigned long bytes)
{
    reeve_run_report report = run_path(path);
    char expected[128];
    int length = snprintf(expected, sizeof(expected), "{\"sha256\":\"%s\",\"bytes\":%lu}", sha256, bytes);

    if (report.outcome != REEVE_OUTCOME_DONE) fail_msg("%s: %s: %s", path, report.kind, report.message);
    assert_int_equal(report.result.length, length);
    assert_memory_equal(report.result.data, expected, (size_t)length);
    reeve_run_report_fini(&report);
}

static void check_failure(const reeve_run_report *report, reeve_outcome outcome, const char *kind, const char *words)
{
    if (report->outcome != outcome || strcmp(report->kind, kind) != 0 || strstr(report->message, words) == NULL) {
        fail_msg("expected %d, %s, \"%s\"; got %d, %s: %s", (int)outcome, kind, words, (int)report->outcome,
                 report->kind, report->message);
    }
    assert_null(report->result.data);
}

static void expect_failure(const char *path, reeve_outcome outcome, const char *kind, const char *words)
{
    reeve_run_report report = run_path(path);

    check_failure(&report, outcome, kind, words);
    reeve_run_report_fini(&report);
}

static void expect_payload_failure(const char *payload, size_t length)
{
    reeve_run_report report = run(payload, length);

    check_failure(&report, REEVE_OUTCOME_FAIL, "payload", "payload");
    reeve_run_report_fini(&report);
}

/* ---- what can be read ------------------------------------------------------------------------------------------ */

#define SHA_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SHA_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define SHA_MILLION_A "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

/* FIPS 180-4's examples. */
static void known_digests(void **state)
{
    char *million = malloc(1000000);

    (void)state;
    assert_non_null(million);
    memset(million, 'a', 1000000);
    write_file("empty", "", 0);
    write_file("abc", "abc", 3);
    write_file("million", million, 1000000);
    free(million);
    expect_digest("empty", SHA_EMPTY, 0);
    expect_digest("abc", SHA_ABC, 3);
    expect_digest("million", SHA_MILLION_A, 1000000);
    expect_digest("./abc", SHA_ABC, 3);
}

static void names_of_any_bytes(void **state)
{
    static const char *const names[] = {"a b",
                                        "a\nb",
                                        "a\rb\t\x01\x7f",
                                        "quo\"te",
                                        "back\\slash",
                                        "back\\u0000slash",
                                        "\xc3\xa9t\xc3\xa9",
                                        "\xff\xfe\x80 no UTF-8 \xc3",
                                        "\xed\xa0\x80",
                                        " ",
                                        "-",
                                        "%s%n"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        write_file(names[i], "abc", 3);
        expect_digest(names[i], SHA_ABC, 3);
    }
}

static void a_link_is_followed(void **state)
{
    (void)state;
    write_file("target", "abc", 3);
    assert_int_equal(symlink("target", "link"), 0);
    expect_digest("link", SHA_ABC, 3);
}

static void escapes_and_other_members_are_read(void **state)
{
    static const char payload[] = " { \"x\" : [1,{}], \"path\" : \"\\u0061b\\u0063\" , \"y\":null } \n";
    reeve_run_report report;

    (void)state;
    write_file("abc", "abc", 3);
    report = run(payload, sizeof(payload) - 1);
    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    reeve_run_report_fini(&report);
}

/* ---- what cannot ----------------------------------------------------------------------------------------------- */

static void what_is_not_there(void **state)
{
    (void)state;
    write_file("file", "x", 1);
    expect_failure("nothing", REEVE_OUTCOME_FAIL, "missing", "no such file: nothing");
    expect_failure("file/below", REEVE_OUTCOME_FAIL, "missing", "file/below");
    assert_int_equal(symlink("no\nwhere", "dangling"), 0);
    expect_failure("dangling", REEVE_OUTCOME_FAIL, "missing", "dangling link: dangling -> no\\nwhere");
    assert_int_equal(symlink("loop", "loop"), 0);
    expect_failure("loop", REEVE_OUTCOME_FAIL, "link-loop", "loop");
}

static void what_is_no_file(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    assert_int_equal(mkdir("directory", 0700), 0);
    expect_failure("directory", REEVE_OUTCOME_FAIL, "not-a-file", "is a directory: directory");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    expect_failure("fifo", REEVE_OUTCOME_FAIL, "not-a-file", "FIFO");
    expect_failure("/dev/null", REEVE_OUTCOME_FAIL, "not-a-file", "character device");
    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    expect_failure("socket", REEVE_OUTCOME_FAIL, "not-a-file", "socket");
    close(listener);
}

/* As nobody, when the test runs as root, whom no permission stops. */
static void what_must_not_be_read(void **state)
{
    bool root = geteuid() == 0;

    (void)state;
    write_file("secret", "x", 1);
    assert_int_equal(chmod("secret", 0), 0);
    if (root && seteuid(65534) != 0) skip();
    expect_failure("secret", REEVE_OUTCOME_FAIL, "permission", "permission denied: secret");
    if (root) assert_int_equal(seteuid(0), 0);
}

static void what_cannot_be_read_now_is_tried_again(void **state)
{
    struct rlimit before, none;

    (void)state;
    expect_failure("/proc/self/mem", REEVE_OUTCOME_RETRY, "io", "/proc/self/mem");
    write_file("abc", "abc", 3);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    expect_failure("abc", REEVE_OUTCOME_RETRY, "resources", "too many open files in this process: abc");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static atomic_bool has_begun, has_ended;

static void *append(void *unused)
{
    (void)unused;
    while (!atomic_load(&has_ended)) {
        int file = open("grows", O_WRONLY | O_APPEND | O_CLOEXEC);
        if (file < 0 || write(file, "x", 1) != 1) abort();
        close(file);
        atomic_store(&has_begun, true);
        usleep(100);
    }
    return NULL;
}

static void what_changes_meanwhile_is_tried_again(void **state)
{
    pthread_t writer;
    reeve_run_report report;

    (void)state;
    write_file("grows", "", 0);
    assert_int_equal(truncate("grows", 128 * 1024 * 1024), 0);
    assert_int_equal(pthread_create(&writer, NULL, append, NULL), 0);
    while (!atomic_load(&has_begun)) sched_yield();
    report = run_path("grows");
    atomic_store(&has_ended, true);
    (void)pthread_join(writer, NULL);
    check_failure(&report, REEVE_OUTCOME_RETRY, "changed", "the file changed while it was read: grows");
    reeve_run_report_fini(&report);
}

static void expect_outside(const char *path)
{
    expect_failure(path, REEVE_OUTCOME_FAIL, "outside", "outside of the directory of the plugin: ");
}

static reeve_status open_below(const char *base)
{
    const reeve_option_value value = {"directory", base};
    char directory[4000], said[1024];

    snprintf(directory, sizeof(directory), "%s/plugins", getenv("REEVE_BUILD") ? getenv("REEVE_BUILD") : ".");
    return reeve_plugin_open_with_options(&plugin, "checksum", directory, &value, 1, said, sizeof(said));
}

static void only_below_the_directory(void **state)
{
    char absolute[4096];

    (void)state;
    if (plugin == NULL) skip();
    assert_int_equal(mkdir("base", 0700), 0);
    assert_int_equal(mkdir("base/in", 0700), 0);
    write_file("base/in/abc", "abc", 3);
    write_file("beside", "abc", 3);
    assert_int_equal(symlink("in/abc", "base/good"), 0);
    assert_int_equal(symlink("../beside", "base/bad"), 0);
    reeve_plugin_close(plugin);
    plugin = NULL;
    assert_int_equal(open_below("base/none"), REEVE_EPLUGIN);
    assert_int_equal(open_below("base"), REEVE_OK);
    expect_digest("in/abc", SHA_ABC, 3);
    expect_digest("in/../good", SHA_ABC, 3);
    assert_non_null(realpath("base/in/abc", absolute));
    expect_digest(absolute, SHA_ABC, 3);
    assert_non_null(realpath("beside", absolute));
    expect_outside(absolute);
    expect_outside("/dev/null");
    expect_outside("../beside");
    expect_outside("bad");
    expect_failure("nothing", REEVE_OUTCOME_FAIL, "missing", "no such file: nothing");
    reeve_plugin_close(plugin);
    plugin = NULL;
    assert_int_equal(open_plugin(), 0);
}

static void payloads_that_make_no_sense(void **state)
{
    static const char *const payloads[] = {"",
                                           " ",
                                           "nonsense",
                                           "{}",
                                           "[]",
                                           "\"abc\"",
                                           "{\"path\":3}",
                                           "{\"path\":null}",
                                           "{\"path\":\"\"}",
                                           "{\"Path\":\"abc\"}",
                                           "{\"path\":\"abc\"",
                                           "{\"path\":\"abc\"} x",
                                           "{\"path\":\"abc\\u0000\"}",
                                           "{\"path\":\"\\u0000abc\"}",
                                           "{\"path\\u0000\":\"abc\"}",
                                           "{\"path\":\"\\\\\\u0000\"}",
                                           "{\"path\":\"\\"};

    (void)state;
    write_file("abc", "abc", 3);
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        expect_payload_failure(payloads[i], strlen(payloads[i]));
    }
    expect_payload_failure("{\"path\":\"abc\"}\0", 15);
    expect_payload_failure("{\"path\":\"abc\0\"}", 15);
    expect_payload_failure("\0", 1);
}

static void paths_that_are_too_long(void **state)
{
    char path[5000];

    (void)state;
    memset(path, 'n', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    expect_failure(path, REEVE_OUTCOME_FAIL, "payload", "file name too long: nnn");
    path[300] = '\0';
    expect_failure(path, REEVE_OUTCOME_FAIL, "payload", "file name too long: nnn");
}

static void messages_steer_no_terminal(void **state)
{
    reeve_run_report report = run_path("a\nb\rc\td\x1b[31me\x7f\xc2\x9b\xff\xc3\xa9\xf0\x9f\x98\x80");

    (void)state;
    check_failure(&report, REEVE_OUTCOME_FAIL, "missing",
                  "no such file: a\\nb\\rc\\td\\x1b[31me\\x7f\\xc2\\x9b\\xff\xc3\xa9\xf0\x9f\x98\x80");
    reeve_run_report_fini(&report);
}

static void a_stop_gives_a_large_file_back(void **state)
{
    static const char payload[] = "{\"path\":\"large\"}";
    const reeve_handler *handler;
    atomic_bool stop = true;
    rv_task_host host = {.stop = &stop};
    reeve_task task;

    (void)state;
    if (plugin == NULL) skip();
    write_file("large", "", 0);
    assert_int_equal(truncate("large", (off_t)1 << 40), 0);
    handler = &reeve_plugin_get(plugin)->handlers[0];
    rv_task_init(&task);
    assert_int_equal(handler->thread_start(NULL, &task.thread_state), 0);
    task.payload = (reeve_bytes){payload, sizeof(payload) - 1};
    task.host = &host;
    assert_int_equal(rv_task_run(&task, handler), REEVE_OUTCOME_SNOOZE);
    assert_int_equal(task.delay_ms, 0);
    handler->thread_stop(NULL, task.thread_state);
    rv_task_fini(&task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_digests),
        cmocka_unit_test(names_of_any_bytes),
        cmocka_unit_test(a_link_is_followed),
        cmocka_unit_test(escapes_and_other_members_are_read),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(what_is_no_file),
        cmocka_unit_test(what_must_not_be_read),
        cmocka_unit_test(what_cannot_be_read_now_is_tried_again),
        cmocka_unit_test(what_changes_meanwhile_is_tried_again),
        cmocka_unit_test(only_below_the_directory),
        cmocka_unit_test(payloads_that_make_no_sense),
        cmocka_unit_test(paths_that_are_too_long),
        cmocka_unit_test(messages_steer_no_terminal),
        cmocka_unit_test(a_stop_gives_a_large_file_back),
    };
    return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

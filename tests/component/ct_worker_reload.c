/* reeve_worker_reload: plugins replaced under an embedded worker, settings read again by its program, by a call and by a
 * request through Redis. The plugin is tests/plugins/hot.c in two versions. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/worker.h"

static char directory[300]; /* of the plugin that is replaced */
static unsigned wanted;     /* threads that the program's settings have */
static unsigned freed, own_layers;
static reeve_status verdict;

/* ---- the program ----------------------------------------------------------------------------------------------- */

static reeve_status on_reload(void *user, reeve_worker *worker, char *ret_text, size_t size)
{
    assert_ptr_equal(user, &wanted);
    (void)snprintf(ret_text, size, "%s", verdict == REEVE_OK ? "threads: set" : "line 7: what is this?");
    return verdict == REEVE_OK ? reeve_worker_set_threads(worker, "pool-1", wanted, wanted) : verdict;
}

static void count_freed(void *user)
{
    (void)user;
    freed++;
}

static reeve_outcome own(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, "own", 3);
}

static reeve_outcome count_layer(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    __atomic_add_fetch(&own_layers, 1, __ATOMIC_SEQ_CST);
    return reeve_next_run(next, task);
}

/* Puts a version of the plugin in place as rename(2) does. */
static void put_version(const char *version)
{
    const char *build = getenv("REEVE_BUILD");
    char command[2000];
    (void)snprintf(command, sizeof(command), "cp '%s/tests/plugins/hot_%s.so' '%s/new' && mv '%s/new' '%s/hot.so'",
                   build != NULL ? build : ".", version, directory, directory, directory);
    assert_int_equal(system(command), 0);
}

static void break_plugin(void)
{
    char command[1000];
    (void)snprintf(command, sizeof(command), "echo text >'%s/new' && mv '%s/new' '%s/hot.so'", directory, directory,
                   directory);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
    verdict = REEVE_OK;
    wanted = 2;
    freed = own_layers = 0;
    (void)snprintf(directory, sizeof(directory), "/tmp/ct_worker_reload.XXXXXX");
    assert_non_null(mkdtemp(directory));
    put_version("1");
    return test_place_empty(state);
}

static int tear_down(void **state)
{
    char path[400];
    (void)state;
    (void)snprintf(path, sizeof(path), "%s/hot.so", directory);
    (void)unlink(path);
    (void)rmdir(directory);
    return 0;
}

static reeve_worker *start(reeve_worker_options options)
{
    char words[512] = "";
    reeve_worker *worker;
    options.plugin_dir = directory;
    options.redis = test_redis_url(test_redis);
    if (reeve_worker_create(&worker, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    const reeve_handler handler = {REEVE_HANDLER, .type = "own", .run = own, .free_user = count_freed};
    const reeve_layer layer = {REEVE_LAYER, .name = "count", .run = count_layer, .free_user = count_freed};
    const reeve_handler_policy policy = {.type = "hold", .attempts = 1};
    test_ok(test_client, reeve_worker_register(worker, &handler));
    if (reeve_worker_load_plugin(worker, "hot") != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    test_ok(test_client, reeve_worker_add_layer(worker, &layer));
    test_ok(test_client, reeve_worker_set_policy(worker, &policy));
    test_worker_pool(worker, "q", 1, 1);
    test_worker_start(worker);
    return worker;
}

/* The result of a new task. */
static const char *result(const char *type)
{
    static char text[32];
    char id[REEVE_ID_MAX];
    reeve_task_info *info;
    const reeve_task_spec spec = {.queue = "q", .type = type};
    test_ok(test_client, reeve_enqueue(test_client, &spec, id));
    test_ok(test_client, reeve_wait(test_client, "q", id, 20000, &info));
    (void)snprintf(text, sizeof(text), "%.*s", (int)info->result.length, (const char *)info->result.data);
    reeve_task_info_free(info);
    return text;
}

/* A thread that retires just now may still take a task. */
static bool runs(const char *type, const char *version)
{
    return strcmp(result(type), version) == 0;
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

static void a_replaced_plugin_is_loaded_again(void **state)
{
    char text[200];
    (void)state;
    reeve_worker *worker = start((reeve_worker_options){0});
    TEST_AWAIT(runs("hot", "\"1\""));
    test_ok(test_client, reeve_worker_reload(worker, text, sizeof(text)));
    assert_string_equal(text, "nothing has changed");
    put_version("2");
    test_ok(test_client, reeve_worker_reload(worker, text, sizeof(text)));
    assert_string_equal(text, "plugins.hot.version: 1 -> 2");
    TEST_AWAIT(runs("hot", "\"2\""));
    TEST_AWAIT(runs("more", "\"2\""));
    assert_string_equal(result("own"), "own");
    assert_true(own_layers >= 4);
    test_ok(test_client, reeve_worker_reload(worker, NULL, 0));
    put_version("1");
    test_ok(test_client, reeve_worker_reload(worker, NULL, 0));
    TEST_AWAIT(runs("hot", "\"1\""));
    assert_int_equal(freed, 0);
    test_worker_end(worker);
    assert_int_equal(freed, 2);
}

/* The program has opened the plugin with options: a new version has them, too. */
static void a_reload_keeps_options(void **state)
{
    char path[400], words[512] = "";
    reeve_plugin_handle *plugin;
    const reeve_option_value value = {.name = "suffix", .value = "!"};
    (void)state;
    (void)snprintf(path, sizeof(path), "%s/hot.so", directory);
    if (reeve_plugin_open_with_options(&plugin, path, NULL, &value, 1, words, sizeof(words)) != REEVE_OK)
        fail_msg("%s", words);
    reeve_worker *worker = start((reeve_worker_options){0});
    reeve_plugin_close(plugin);
    assert_string_equal(result("hot"), "\"1!\"");
    put_version("2");
    test_ok(test_client, reeve_worker_reload(worker, NULL, 0));
    TEST_AWAIT(runs("hot", "\"2!\""));
    test_worker_end(worker);
}

static void what_is_wrong_changes_nothing(void **state)
{
    (void)state;
    reeve_worker *worker = start((reeve_worker_options){.on_reload = on_reload, .on_reload_user = &wanted});
    break_plugin();
    assert_int_equal(reeve_worker_reload(worker, NULL, 0), REEVE_EPLUGIN);
    if (strstr(reeve_worker_error(worker), "cannot open it") == NULL) fail_msg("%s", reeve_worker_error(worker));
    put_version("2");
    verdict = REEVE_EINVAL;
    assert_int_equal(reeve_worker_reload(worker, NULL, 0), REEVE_EINVAL);
    assert_string_equal(reeve_worker_error(worker), "line 7: what is this?");
    assert_string_equal(result("hot"), "\"1\"");
    assert_int_equal(test_worker_stats(worker).threads, 1);
    verdict = REEVE_OK;
    test_ok(test_client, reeve_worker_reload(worker, NULL, 0));
    TEST_AWAIT(runs("hot", "\"2\""));
    assert_int_equal(test_worker_stats(worker).threads, 2);
    test_ok(test_client, reeve_worker_stop(worker, 10000));
    assert_int_equal(reeve_worker_reload(worker, NULL, 0), REEVE_ESTATE);
    reeve_worker_destroy(worker);
    assert_int_equal(freed, 2);
}

static void a_request_reloads(void **state)
{
    (void)state;
    reeve_worker *worker = start((reeve_worker_options){.on_reload = on_reload, .on_reload_user = &wanted});
    const char *id = reeve_worker_id(worker);
    reeve_answer answer = {0};
    TEST_AWAIT((reeve_ask_workers(test_client, &id, 1, "resume", 10000, &answer), answer.answered));
    put_version("2");
    test_ok(test_client, reeve_ask_workers(test_client, &id, 1, "reload", 20000, &answer));
    assert_true(answer.answered && answer.done);
    assert_string_equal(answer.text, "plugins.hot.version: 1 -> 2; threads: set");
    TEST_AWAIT(runs("hot", "\"2\""));
    verdict = REEVE_EINVAL;
    test_ok(test_client, reeve_ask_workers(test_client, &id, 1, "reload", 20000, &answer));
    assert_true(answer.answered && !answer.done);
    assert_string_equal(answer.text, "line 7: what is this?");
    test_worker_end(worker);
}

/* Handlers of the old version run to their ends, and policies are those of the new one, too. */
static void a_running_task_ends_in_its_version(void **state)
{
    char path[400], id[REEVE_ID_MAX];
    reeve_task_info *info;
    (void)state;
    (void)snprintf(path, sizeof(path), "%s/go", directory);
    reeve_worker *worker = start((reeve_worker_options){.on_reload = on_reload, .on_reload_user = &wanted});
    const reeve_task_spec spec = {.queue = "q", .type = "hold", .payload = {path, strlen(path)}};
    test_ok(test_client, reeve_enqueue(test_client, &spec, id));
    TEST_AWAIT(test_count("q", "running") == 1);
    for (int round = 0; round < 10; round++) {
        put_version(round % 2 == 0 ? "2" : "1");
        test_ok(test_client, reeve_worker_reload(worker, NULL, 0));
        TEST_AWAIT(runs("hot", round % 2 == 0 ? "\"2\"" : "\"1\""));
    }
    FILE *go = fopen(path, "w");
    assert_non_null(go);
    assert_int_equal(fclose(go), 0);
    test_ok(test_client, reeve_wait(test_client, "q", id, 20000, &info));
    assert_memory_equal(info->result.data, "\"1\"", 3);
    reeve_task_info_free(info);
    test_worker_end(worker);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(freed, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_replaced_plugin_is_loaded_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reload_keeps_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_wrong_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_request_reloads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_running_task_ends_in_its_version, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("ct_worker_reload", tests, test_place_start, test_place_stop);
}

/* ut_plugin.c - the loader: finding a plugin, what it copies, every way to be wrong, hooks that run once. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "handlers/plugin.h"
#include "support/cmocka.h"
#include "support/dirs.h"

static char directory[4000]; /* of the test plugins */
static char said[1024];      /* the loader's words */

/* Called by the test plugins' hooks, under the loader's lock. */
REEVE_API void test_plugin_saw(const char *event);
static char seen[256];
static bool hooks_open; /* they open a plugin, and close one that is open */
static reeve_plugin_handle *for_hooks;
static reeve_status hook_was_told;

static void open_in_a_hook(void)
{
    reeve_plugin_handle *plugin;
    hook_was_told = reeve_plugin_open(&plugin, "narrow", directory, said, sizeof(said));
    reeve_plugin_close(for_hooks);
    for_hooks = NULL;
}

void test_plugin_saw(const char *event)
{
    size_t used = strlen(seen);

    snprintf(seen + used, sizeof(seen) - used, "%s ", event);
    if (hooks_open) open_in_a_hook();
}

static int set_up_group(void **state)
{
    const char *build = getenv("REEVE_BUILD");

    (void)state;
    snprintf(directory, sizeof(directory), "%s/tests/plugins", build != NULL ? build : ".");
    if (access(directory, R_OK) != 0) fprintf(stderr, "no %s: set REEVE_BUILD to the build directory\n", directory);
    unsetenv("REEVE_PLUGIN_DIR");
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    seen[0] = '\0';
    said[0] = '\0';
    return 0;
}

static reeve_plugin_handle *opened(const char *name)
{
    reeve_plugin_handle *plugin = NULL;
    reeve_status status = reeve_plugin_open(&plugin, name, directory, said, sizeof(said));

    if (status != REEVE_OK) fail_msg("%s: %s: %s", name, reeve_status_text(status), said);
    return plugin;
}

static void refused_in(const char *in, const char *name, reeve_status expected, const char *words)
{
    reeve_plugin_handle *plugin = (reeve_plugin_handle *)said;
    reeve_status status;

    said[0] = '\0';
    status = reeve_plugin_open(&plugin, name, in, said, sizeof(said));
    if (status != expected) fail_msg("%s: %s: %s", name, reeve_status_text(status), said);
    assert_null(plugin);
    if (strstr(said, words) == NULL) fail_msg("%s: \"%s\" is not in: %s", name, words, said);
}

static void refused(const char *name, reeve_status expected, const char *words)
{
    refused_in(directory, name, expected, words);
    if (strstr(said, name) == NULL) fail_msg("the file is not named: %s", said);
}

/* ---- a good one ------------------------------------------------------------------------------------------------ */

static void a_good_plugin_is_described(void **state)
{
    reeve_plugin_handle *handle = opened("good");
    const reeve_plugin *plugin = reeve_plugin_get(handle);
    const reeve_handler *one = &plugin->handlers[0];

    (void)state;
    assert_int_equal(plugin->size, sizeof(reeve_plugin));
    assert_int_equal(plugin->abi, REEVE_PLUGIN_ABI);
    assert_int_equal(plugin->handler_size, sizeof(reeve_handler));
    assert_string_equal(plugin->name, "good");
    assert_string_equal(plugin->version, "1.2");
    assert_string_equal(plugin->summary, "all is well");
    assert_int_equal(plugin->handler_count, 3);
    assert_int_equal(plugin->concurrency, 4);
    assert_string_equal(one->type, "good:one");
    assert_string_equal(one->summary, "the first");
    assert_int_equal(one->size, sizeof(reeve_handler));
    assert_int_equal(one->attempts, 7);
    assert_int_equal(one->max_crashes, 2);
    assert_int_equal(one->timeout_ms, 1500);
    assert_int_equal(one->backoff.shape, REEVE_BACKOFF_FIXED);
    assert_int_equal(one->backoff.base_ms, 250);
    assert_int_equal(one->backoff.cap_ms, 9000);
    assert_true(one->backoff.jitter < 0);
    assert_non_null(one->thread_start);
    assert_non_null(one->thread_stop);
    assert_string_equal(plugin->handlers[1].type, "good/silent");
    assert_null(plugin->handlers[1].thread_start);
    reeve_plugin_close(handle);
}

static void hooks_run_once_whoever_opens_it_again(void **state)
{
    char path[sizeof(directory) + 32];
    reeve_plugin_handle *first = opened("good");
    reeve_plugin_handle *second;

    (void)state;
    snprintf(path, sizeof(path), "%s/../plugins/good.so", directory);
    second = opened(path);
    assert_ptr_equal(first, second);
    assert_string_equal(seen, "load ");
    reeve_plugin_close(first);
    assert_string_equal(seen, "load ");
    assert_string_equal(reeve_plugin_get(second)->name, "good");
    reeve_plugin_close(second);
    assert_string_equal(seen, "load unload ");
    reeve_plugin_close(opened("good"));
    assert_string_equal(seen, "load unload load unload ");
    reeve_plugin_close(NULL);
}

static void two_plugins_can_be_open(void **state)
{
    reeve_plugin_handle *good = opened("good"), *old = opened("old_abi1"), *later = opened("new_abi1");

    (void)state;
    assert_ptr_not_equal(good, old);
    reeve_plugin_close(old);
    assert_string_equal(reeve_plugin_get(good)->name, "good");
    assert_string_equal(reeve_plugin_get(later)->name, "new");
    reeve_plugin_close(good);
    reeve_plugin_close(later);
}

static void run_and_expect(reeve_plugin_handle *handle, const char *type, const char *result)
{
    reeve_run_report report;

    assert_int_equal(reeve_plugin_run(handle, type, NULL, &report), REEVE_OK);
    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    assert_int_equal(report.result.length, strlen(result));
    assert_memory_equal(report.result.data, result, strlen(result));
    reeve_run_report_fini(&report);
}

static void an_old_plugin_loads_and_runs(void **state)
{
    reeve_plugin_handle *handle = opened("old_abi1");
    const reeve_plugin *plugin = reeve_plugin_get(handle);
    const reeve_handler *first = &plugin->handlers[0], *second = &plugin->handlers[1];

    (void)state;
    assert_string_equal(plugin->name, "old");
    assert_int_equal(plugin->handler_count, 2);
    assert_int_equal(plugin->concurrency, 0);
    assert_null(plugin->load);
    assert_null(plugin->unload);
    assert_int_equal(first->attempts, 3);
    assert_int_equal(first->timeout_ms, 2000);
    assert_int_equal(first->backoff.cap_ms, 200);
    assert_string_equal(second->type, "old:second");
    assert_string_equal(second->summary, "two");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(plugin->handlers[i].size, sizeof(reeve_handler));
        assert_null(plugin->handlers[i].thread_start);
        assert_null(plugin->handlers[i].thread_stop);
        assert_null(plugin->handlers[i].free_user);
        assert_null(plugin->handlers[i].run_batch);
        assert_int_equal(plugin->handlers[i].batch_size, 0);
    }
    run_and_expect(handle, "old:first", "first");
    run_and_expect(handle, "old:second", "second");
    reeve_plugin_close(handle);
}

static void a_plugin_of_before_layers_loads_and_runs(void **state)
{
    reeve_plugin_handle *handle = opened("old_abi1_hooks");
    const reeve_plugin *plugin = reeve_plugin_get(handle);

    (void)state;
    assert_int_equal(plugin->concurrency, 2);
    assert_non_null(plugin->unload);
    assert_int_equal(plugin->layer_count, 0);
    run_and_expect(handle, "old:hooks", "state");
    reeve_plugin_close(handle);
}

static void a_plugins_layers_are_described_and_run(void **state)
{
    reeve_plugin_handle *handle = opened("layered");
    const reeve_plugin *plugin = reeve_plugin_get(handle);

    (void)state;
    assert_int_equal(plugin->layer_count, 2);
    assert_int_equal(plugin->layer_size, sizeof(reeve_layer));
    assert_string_equal(plugin->layers[0].name, "outer");
    assert_string_equal(plugin->layers[0].summary, "around all");
    assert_null(plugin->layers[0].type);
    assert_string_equal(plugin->layers[1].type, "layered:in");
    run_and_expect(handle, "layered:in", "<(in)>");
    run_and_expect(handle, "layered:out", "<in>");
    reeve_plugin_close(handle);
}

static void a_later_plugin_loads_and_runs(void **state)
{
    reeve_plugin_handle *handle = opened("new_abi1");

    (void)state;
    assert_int_equal(reeve_plugin_get(handle)->handler_count, 2);
    assert_string_equal(reeve_plugin_get(handle)->handlers[1].type, "new:b");
    assert_int_equal(reeve_plugin_get(handle)->layers[1].size, sizeof(reeve_layer));
    run_and_expect(handle, "new:a", "aa");
    run_and_expect(handle, "new:b", "bba");
    reeve_plugin_close(handle);
}

static void a_later_plugin_that_sets_unknown_fields_is_refused(void **state)
{
    (void)state;
    refused("later_handler", REEVE_EPLUGIN, "handler 1 has");
    refused("later_layer", REEVE_EPLUGIN, "layer 1 has");
    refused("later_plugin", REEVE_EPLUGIN, "its description has");
    assert_non_null(strstr(said, "it was built for a later version"));
}

/* ---- where it is sought ---------------------------------------------------------------------------------------- */

static void a_bare_name_is_sought_in_the_directory(void **state)
{
    reeve_plugin_handle *handle = opened("good");
    char path[sizeof(directory) + 32];

    (void)state;
    snprintf(path, sizeof(path), "%s/good.so", directory);
    assert_string_equal(reeve_plugin_path(handle), path);
    reeve_plugin_close(handle);
    refused("nowhere", REEVE_EPLUGIN, "No such file");
    assert_non_null(strstr(said, directory));
}

static void the_environment_names_the_directory(void **state)
{
    reeve_plugin_handle *handle = NULL;

    (void)state;
    refused_in(NULL, "good", REEVE_EPLUGIN, "reeve/plugins/good.so");
    assert_int_equal(setenv("REEVE_PLUGIN_DIR", directory, 1), 0);
    assert_int_equal(reeve_plugin_open(&handle, "good", NULL, said, sizeof(said)), REEVE_OK);
    reeve_plugin_close(handle);
    refused_in("/nowhere", "good", REEVE_EPLUGIN, "/nowhere/good.so");
    assert_int_equal(setenv("REEVE_PLUGIN_DIR", "", 1), 0);
    refused_in(NULL, "good", REEVE_EPLUGIN, "reeve/plugins/good.so");
    unsetenv("REEVE_PLUGIN_DIR");
}

static void a_name_that_is_none_is_refused(void **state)
{
    static const char *const names[] = {"", "a b", "n\xc3\xa4me", "a\n", "a;b"};
    reeve_plugin_handle *handle = NULL;
    char path[6000];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) refused(names[i], REEVE_EINVAL, "bare name");
    memset(path, 'p', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    refused_in(directory, path, REEVE_EINVAL, "too long");
    path[0] = '/';
    refused_in(directory, path, REEVE_EINVAL, "too long");
    assert_int_equal(reeve_plugin_open(&handle, NULL, directory, said, sizeof(said)), REEVE_EINVAL);
    assert_int_equal(reeve_plugin_open(&handle, "a b", directory, NULL, 0), REEVE_EINVAL);
    assert_int_equal(reeve_plugin_open(&handle, "a b", directory, said, 8), REEVE_EINVAL);
    assert_int_equal(strlen(said), 7);
}

static void what_is_no_library_is_refused(void **state)
{
    char path[4096];
    FILE *file;

    (void)state;
    refused("/nowhere/x.so", REEVE_EPLUGIN, "No such file");
    refused(directory, REEVE_EPLUGIN, "not a regular file");
    snprintf(path, sizeof(path), "%s/fifo.so", test_dir());
    assert_int_equal(mkfifo(path, 0600), 0);
    refused(path, REEVE_EPLUGIN, "not a regular file");
    unlink(path);
    snprintf(path, sizeof(path), "%s/text.so", test_dir());
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("this is no library\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    refused(path, REEVE_EPLUGIN, "cannot open it: ");
    assert_ptr_equal(strstr(strstr(said, path) + 1, path), NULL);
    unlink(path);
}

/* ---- wrong ones ------------------------------------------------------------------------------------------------ */

static void wrong_descriptions_are_refused(void **state)
{
    (void)state;
    refused("bad_no_entry", REEVE_EPLUGIN, "reeve_plugin_entry");
    refused("bad_undefined", REEVE_EPLUGIN, "a_symbol_that_nobody_has");
    refused("bad_null", REEVE_EPLUGIN, "NULL");
    refused("bad_abi", REEVE_EPLUGIN, "ABI 77");
    assert_non_null(strstr(said, "this reeve has ABI 1"));
    refused("bad_tiny", REEVE_EPLUGIN, "4 bytes");
    refused("bad_small", REEVE_EPLUGIN, "mandatory");
    refused("bad_huge", REEVE_EPLUGIN, "1099511627776 bytes");
    refused("bad_stride_zero", REEVE_EPLUGIN, "a handler has 0 bytes");
    refused("bad_stride_odd", REEVE_EPLUGIN, "a handler has");
    refused("bad_stride_huge", REEVE_EPLUGIN, "1099511627776 bytes");
    refused("bad_count", REEVE_EPLUGIN, "1099511627776 handlers");
    refused("bad_empty", REEVE_EPLUGIN, "no handlers");
    refused("bad_no_table", REEVE_EPLUGIN, "no handlers");
    refused("bad_no_name", REEVE_EPLUGIN, "no name");
    assert_string_equal(seen, "");
}

static void wrong_handlers_are_refused(void **state)
{
    (void)state;
    refused("bad_type", REEVE_EINVAL, "\"not fine\"");
    refused("bad_no_type", REEVE_EINVAL, "handler 1 has no type");
    refused("bad_duplicate", REEVE_EDUPLICATE, "\"twin\"");
    refused("bad_no_run", REEVE_EINVAL, "\"idle\"");
    refused("bad_backoff", REEVE_EINVAL, "\"listless\": backoff: a list needs at least one delay");
    refused("bad_handler_small", REEVE_EPLUGIN, "handler 1");
    refused("bad_handler_large", REEVE_EPLUGIN, "handler 1");
    assert_string_equal(seen, "");
}

static void wrong_layers_are_refused(void **state)
{
    (void)state;
    refused("bad_layer_count", REEVE_EPLUGIN, "65 layers; at most 64");
    refused("bad_layer_stride", REEVE_EPLUGIN, "a layer has 8 bytes");
    refused("bad_layer_no_table", REEVE_EPLUGIN, "no layers");
    refused("bad_layer_no_name", REEVE_EINVAL, "a layer has no name");
    refused("bad_layer_no_run", REEVE_EINVAL, "the layer \"idle\" has no function");
    refused("bad_layer_type", REEVE_EINVAL, "the layer \"odd\": \"not fine\" is no task type");
    refused("bad_layer_small", REEVE_EPLUGIN, "layer 2 says that it has 8 bytes");
    assert_string_equal(seen, "");
    refused("bad_option_count", REEVE_EPLUGIN, "257 options; at most 256");
    refused("bad_option_stride", REEVE_EPLUGIN, "option has 8 bytes");
    refused("bad_option_name", REEVE_EINVAL, "option 1: \"No Name\" is no name");
    refused("bad_option_twice", REEVE_EINVAL, "declares option \"one\" twice");
    refused("bad_option_default", REEVE_EINVAL, "option \"one\": its default \"6\" is no valid value");
    refused("bad_option_range", REEVE_EINVAL, "option \"one\": its range is empty");
    refused("bad_option_type", REEVE_EINVAL, "option \"one\": type 9 is unknown");
}

static void a_failed_load_hook_is_not_followed_by_unload(void **state)
{
    (void)state;
    refused("bad_load", REEVE_EPLUGIN, "load hook failed (it returned 3)");
    assert_string_equal(seen, "load ");
    refused("bad_load", REEVE_EPLUGIN, "load hook failed");
    assert_string_equal(seen, "load load ");
}

static void memory_that_runs_out_leaves_nothing_behind(void **state)
{
    reeve_plugin_handle *handle = NULL;
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth;

    (void)state;
    for (nth = 1; nth < 100 && status == REEVE_ENOMEM; nth++) {
        assert_string_equal(seen, "");
        rv_mem_fail_at(nth);
        status = reeve_plugin_open(&handle, "good", directory, said, sizeof(said));
        rv_mem_fail_at(0);
        if (status != REEVE_OK) assert_null(handle);
    }
    assert_int_equal(status, REEVE_OK);
    assert_in_range(nth, 4, 20);
    reeve_plugin_close(handle);
    assert_string_equal(seen, "load unload ");
}

/* ---- many at once ---------------------------------------------------------------------------------------------- */

static void *open_and_close(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++) {
        reeve_plugin_handle *handle = NULL;

        if (reeve_plugin_open(&handle, "new_abi1", directory, NULL, 0) != REEVE_OK) return (void *)"cannot open";
        if (strcmp(reeve_plugin_get(handle)->handlers[1].type, "new:b") != 0) return (void *)"not itself";
        reeve_plugin_close(handle);
    }
    return NULL;
}

static void any_thread_may_open_and_close(void **state)
{
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
    for (size_t i = 0; i < 4; i++) {
        void *trouble = NULL;

        assert_int_equal(pthread_join(threads[i], &trouble), 0);
        if (trouble != NULL) fail_msg("%s", (const char *)trouble);
    }
}

static void a_hook_that_opens_plugins_is_refused(void **state)
{
    (void)state;
    for_hooks = opened("teller");
    hooks_open = true;
    reeve_plugin_handle *plugin = opened("good");
    assert_int_equal(hook_was_told, REEVE_ESTATE);
    assert_non_null(strstr(said, "hook"));
    assert_null(for_hooks);
    hook_was_told = REEVE_OK;
    reeve_plugin_close(plugin);
    hooks_open = false;
    assert_int_equal(hook_was_told, REEVE_ESTATE);
    reeve_plugin_close(opened("good"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_good_plugin_is_described, set_up),
        cmocka_unit_test_setup(hooks_run_once_whoever_opens_it_again, set_up),
        cmocka_unit_test_setup(two_plugins_can_be_open, set_up),
        cmocka_unit_test_setup(an_old_plugin_loads_and_runs, set_up),
        cmocka_unit_test_setup(a_plugin_of_before_layers_loads_and_runs, set_up),
        cmocka_unit_test_setup(a_plugins_layers_are_described_and_run, set_up),
        cmocka_unit_test_setup(a_later_plugin_loads_and_runs, set_up),
        cmocka_unit_test_setup(a_later_plugin_that_sets_unknown_fields_is_refused, set_up),
        cmocka_unit_test_setup(a_bare_name_is_sought_in_the_directory, set_up),
        cmocka_unit_test_setup(the_environment_names_the_directory, set_up),
        cmocka_unit_test_setup(a_name_that_is_none_is_refused, set_up),
        cmocka_unit_test_setup(what_is_no_library_is_refused, set_up),
        cmocka_unit_test_setup(wrong_descriptions_are_refused, set_up),
        cmocka_unit_test_setup(wrong_handlers_are_refused, set_up),
        cmocka_unit_test_setup(wrong_layers_are_refused, set_up),
        cmocka_unit_test_setup(a_failed_load_hook_is_not_followed_by_unload, set_up),
        cmocka_unit_test_setup(memory_that_runs_out_leaves_nothing_behind, set_up),
        cmocka_unit_test_setup(any_thread_may_open_and_close, set_up),
        cmocka_unit_test_setup(a_hook_that_opens_plugins_is_refused, set_up),
    };
    return cmocka_run_group_tests(tests, set_up_group, NULL);
}

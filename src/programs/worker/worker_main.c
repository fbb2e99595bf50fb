/*
 * reeve-worker - runs the tasks of queues on Redis with the handlers of plugins.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/hide.h"
#include "base/streams.h"
#include "config/config.h"
#include "difference.h"
#include "dump.h"
#include "exit_guard.h"
#include "health.h"
#include "interrupt.h"
#include "log/log_flood.h"
#include "log/log_writer.h"
#include "log_file.h"
#include "options.h"
#include "plugins.h"
#include "redis_choice.h"
#include "reload.h"
#include "running/processors.h"
#include "signals.h"
#include "stacks.h"
#include "supervise.h"
#include "supervised.h"
#include "worker_run.h"

enum { EXIT_USAGE = 2 };

static int print(const char *text)
{
    return fputs(text, stdout) >= 0 && fflush(stdout) == 0 ? 0 : 1;
}

static int help_config(void (*describe)(rv_buf *out))
{
    rv_buf out;

    rv_buf_init(&out, 1024 * 1024);
    describe(&out);
    int exit_status = out.failed ? 1 : print(rv_buf_text(&out));
    rv_buf_fini(&out);
    return exit_status;
}

static void print_errors(const char *file, const rv_config_errors *errors)
{
    host_log_flush(HOST_LOG_END_MS); /* (what was logged before stands before it) */
    (void)host_log_file_set(NULL, NULL);
    (void)fputs(rv_buf_text(&errors->text), stderr);
    if (errors->count > RV_CONFIG_ERRORS_MAX)
        (void)fprintf(stderr, "%s: and %zu more errors\n", file, errors->count - RV_CONFIG_ERRORS_MAX);
    if (errors->count == 0) (void)fprintf(stderr, "reeve-worker: out of memory\n");
}

/* "10", or "4-40" where the number follows the work. */
static void count_threads(const rv_config *config, char *text, size_t size)
{
    unsigned min = 0, max = 0, processors;
    rv_error error = {0};

    for (size_t i = 0; i < config->pool_count; i++) {
        const rv_config_pool *pool = &config->pools[i];
        if (rv_processors_of(pool->cpus, &processors, &error) != REEVE_OK) processors = 1;
        unsigned most = pool->threads.max > 0 ? (unsigned)pool->threads.max : processors;
        min += pool->threads.min > 0 ? (unsigned)pool->threads.min : most;
        max += most;
    }
    if (min == max) (void)snprintf(text, size, "%u", max);
    if (min != max) (void)snprintf(text, size, "%u-%u", min, max);
}

#define PLURAL(count) ((count) == 1 ? "" : "s")

static int print_ok(const rv_config *config, const host_plugins *plugins)
{
    char threads[32];

    count_threads(config, threads, sizeof(threads));
    int length = printf("%s: ok: %zu pool%s, %s thread%s, %zu plugin%s, %zu handler%s\n", config->file,
                        config->pool_count, PLURAL(config->pool_count), threads, strcmp(threads, "1") == 0 ? "" : "s",
                        plugins->count, PLURAL(plugins->count), plugins->handler_count, PLURAL(plugins->handler_count));
    return length > 0 && fflush(stdout) == 0 ? 0 : 1;
}

static int print_check(const host_options *options, const rv_config *config, const host_plugins *plugins,
                       const char *redis)
{
    int exit_status = print_ok(config, plugins);

    return exit_status == 0 && options->diff ? host_difference_print(config, plugins, redis) : exit_status;
}

/*
 * Plugins are opened here to see all that is wrong with them at once; the worker then finds them open. (Their hooks may
 * have something to log.)
 */
static int open_and_run(const host_options *options, rv_config *config, rv_config_errors *errors)
{
    host_plugins plugins;
    host_redis redis = {0};
    int exit_status = EXIT_USAGE;
    reeve_log_level level = config->worker.log_level;
    bool runs = options->action != HOST_CHECK;

    if (!runs && level < REEVE_LOG_WARN) level = REEVE_LOG_WARN;
    host_log_flood_set(config->worker.log_flood);
    host_log_open(config->worker.log_format, level);
    host_exit_guard_begin();
    if (runs) host_interrupt_begin("plugins are loaded");
    bool opened = host_plugins_open(&plugins, config, errors);
    host_interrupt_end();
    if (!opened || errors->count > 0)
        print_errors(config->file, errors);
    else if (host_redis_choose(&redis, options, config))
        exit_status = runs ? host_run(config, redis.url, &plugins) : print_check(options, config, &plugins, redis.url);
    host_redis_fini(&redis);
    if (runs) host_interrupt_begin("plugins are unloaded");
    host_plugins_close(&plugins);
    host_interrupt_end();
    host_exit_guard_end();
    host_log_close(HOST_LOG_END_MS);
    return exit_status;
}

static bool open_log_file(const rv_config *config)
{
    rv_error error = {0};

    if (host_log_file_set(config->worker.log_file, &error) == REEVE_OK) return true;
    (void)fprintf(stderr, "reeve-worker: cannot start: worker.log.file: %s\n", error.text);
    return false;
}

/*
 * Signals that the worker takes are blocked before the log's thread starts and plugins are loaded: a thread of a plugin
 * inherits that, and cannot be what a signal ends the process in.
 */
static int check_and_run(const host_options *options, rv_config *config, rv_config_errors *errors)
{
    if (options->action != HOST_CHECK && !host_signals_open()) {
        (void)fprintf(stderr, "reeve-worker: cannot start: signals: %s\n", strerror(errno));
        return 1;
    }
    if (options->action != HOST_CHECK && !open_log_file(config)) return 1;
    if (options->action != HOST_CHECK) host_stacks_begin(host_supervised_stacks());
    return open_and_run(options, config, errors);
}

typedef struct start {
    const host_options *options;
    rv_config *config;
    rv_config_errors *errors;
} start;

/* again: after a crash. The file may have been reloaded since the supervisor has read it. */
static int run_child(void *context, bool again)
{
    const start *of = context;

    if (again) {
        reeve_log_set(of->config->worker.log_format == RV_LOG_JSON ? reeve_log_to_json : reeve_log_to_logfmt, stderr,
                      of->config->worker.log_level);
        host_reload_before_start(of->config);
    }

    int exit_status = check_and_run(of->options, of->config, of->errors);
    host_supervised_end_group();
    return exit_status;
}

static int run_supervised(start *of)
{
    host_redis redis = {0};
    int exit_status = EXIT_USAGE;

    if (host_redis_choose(&redis, of->options, of->config))
        exit_status = host_supervise(of->config, redis.url, run_child, of);
    host_redis_fini(&redis);
    return exit_status;
}

static bool is_supervised(const host_options *options, const rv_config *config)
{
    if (options->action == HOST_CHECK) return false;
    return options->supervise != 0 ? options->supervise > 0 : config->worker.supervise;
}

static int with_config(const host_options *options)
{
    rv_config_errors errors;
    rv_config *config;
    int exit_status = EXIT_USAGE;

    rv_config_errors_init(&errors);
    if (rv_config_load(options->config, &config, &errors) != REEVE_OK)
        print_errors(options->config, &errors);
    else
        exit_status = is_supervised(options, config)
                          ? run_supervised(&(start){.options = options, .config = config, .errors = &errors})
                          : check_and_run(options, config, &errors);
    rv_config_free(config);
    rv_config_errors_fini(&errors);
    return exit_status;
}

/* After the first large block that is freed, glibc keeps as much as that for each thread. Naming its own default of a
 * threshold makes it stay there, so that what a large payload took goes back to the system. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_TRIM_THRESHOLD, 128 * 1024);
#endif
}

int main(int argc, char **argv)
{
    host_options options;

    rv_hide_passwords(argc, argv);
    rv_streams_fill();
    give_memory_back();
    host_signals_survive_pipes();
    if (!host_options_read(&options, argc, argv)) return EXIT_USAGE;
    switch (options.action) {
    case HOST_HELP:
        host_print_help();
        return fflush(stdout) == 0 ? 0 : 1;
    case HOST_VERSION:
        return print("reeve-worker " REEVE_VERSION "\n");
    case HOST_HELP_CONFIG:
        return help_config(rv_config_describe);
    case HOST_HELP_CONFIG_MARKDOWN:
        return help_config(rv_config_describe_markdown);
    case HOST_HEALTH:
        return host_health_ask(options.health);
    case HOST_DUMP_PLUGIN:
        reeve_log_set(reeve_log_to_logfmt, stderr, REEVE_LOG_WARN);
        return host_dump_plugin(options.plugin, options.json);
    default:
        return with_config(&options);
    }
}

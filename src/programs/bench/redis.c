/*
 * redis.c - what Redis tells of itself, and the keys of the namespace.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "bench.h"
#include "client/client.h"

#define SCAN_COUNT "1000"
#define REST_MAX_MS 120000
#define REST_STEP_MS 10

struct words {
    const char *word[5];
    size_t count;
};

static void build_words(rv_conn *conn, bool again, const void *context)
{
    const struct words *words = context;

    (void)again;
    rv_cmd(conn, words->count);
    for (size_t i = 0; i < words->count; i++) rv_args(conn, words->word[i]);
}

static int ask(bench_run *bench, const struct words *words, const rv_reply **ret)
{
    reeve_status status = rv_client_call(bench->cli->client, build_words, words, ret, NULL);

    return status == REEVE_OK ? CLI_DONE : cli_fail_call(bench->cli, status, words->word[0]);
}

/* ---- INFO ------------------------------------------------------------------------------------------------------- */

static double info_number(const rv_reply *reply, const char *field)
{
    size_t length = strlen(field);

    for (const char *at = reply->text; at != NULL && *at != '\0'; at = strchr(at, '\n')) {
        if (*at == '\n') at++;
        if (strncmp(at, field, length) == 0 && at[length] == ':') return strtod(at + length + 1, NULL);
    }
    return 0;
}

int bench_info(bench_run *bench, const char *section, const char *field, double *ret)
{
    const rv_reply *reply;
    int status = ask(bench, &(struct words){{"INFO", section}, 2}, &reply);

    *ret = status == CLI_DONE ? info_number(reply, field) : 0;
    return status;
}

int64_t bench_wall_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int bench_redis_cpu(bench_run *bench, double *ret)
{
    const rv_reply *reply;
    int status = ask(bench, &(struct words){{"INFO", "cpu"}, 2}, &reply);

    *ret = status == CLI_DONE ? info_number(reply, "used_cpu_sys") + info_number(reply, "used_cpu_user") : 0;
    return status;
}

/* A line of commandstats is "cmdstat_NAME:calls=N,...". EVALSHA counts as one command, beside those of its script. */
static void sum_calls(const char *text, double *ret_scripts, double *ret_commands)
{
    const char *at = text;

    while (at != NULL && (at = strstr(at, "cmdstat_")) != NULL) {
        const char *name = at + strlen("cmdstat_"), *calls = strstr(name, ":calls=");
        double count = calls == NULL ? 0 : strtod(calls + strlen(":calls="), NULL);

        *ret_commands += count;
        if (strncmp(name, "eval", 4) == 0) *ret_scripts += count;
        at = calls;
    }
}

int bench_redis_calls(bench_run *bench, double *ret_scripts, double *ret_commands)
{
    const rv_reply *reply;
    int status = ask(bench, &(struct words){{"INFO", "commandstats"}, 2}, &reply);

    *ret_scripts = *ret_commands = 0;
    if (status == CLI_DONE) sum_calls(reply->text, ret_scripts, ret_commands);
    return status;
}

int bench_clock_ahead(bench_run *bench, int64_t *ret_us)
{
    const rv_reply *reply;
    int64_t asked = bench_wall_us(), there;
    int status = ask(bench, &(struct words){{"TIME"}, 1}, &reply);

    *ret_us = 0;
    if (status != CLI_DONE) return status;
    there = rv_reply_int(rv_reply_at(reply, 0), 0) * 1000000 + rv_reply_int(rv_reply_at(reply, 1), 0);
    *ret_us = there - (asked + bench_wall_us()) / 2;
    return CLI_DONE;
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

struct scan {
    bench_run *bench;
    char cursor[24];
    char pattern[RV_NS_MAX + 4];
    char **keys; /* of one step */
    size_t count;
};

static void build_scan(rv_conn *conn, bool again, const void *context)
{
    const struct scan *scan = context;

    (void)again;
    rv_cmd(conn, 6);
    rv_args(conn, "SCAN");
    rv_args(conn, scan->cursor);
    rv_args(conn, "MATCH");
    rv_args(conn, scan->pattern);
    rv_args(conn, "COUNT");
    rv_args(conn, SCAN_COUNT);
}

static void forget_keys(struct scan *scan)
{
    for (size_t i = 0; i < scan->count; i++) rv_free(scan->keys[i]);
    rv_free(scan->keys);
    scan->keys = NULL;
    scan->count = 0;
}

static int keep_keys(struct scan *scan, const rv_reply *found)
{
    size_t count = found == NULL ? 0 : found->count;

    forget_keys(scan);
    scan->keys = rv_zalloc_array(count + 1, sizeof(*scan->keys));
    if (scan->keys == NULL) return cli_no_memory(scan->bench->cli);
    for (; scan->count < count; scan->count++) {
        scan->keys[scan->count] = rv_strdup(found->items[scan->count]->text);
        if (scan->keys[scan->count] == NULL) return cli_no_memory(scan->bench->cli);
    }
    return CLI_DONE;
}

static void begin_scan(struct scan *scan, bench_run *bench)
{
    memset(scan, 0, sizeof(*scan));
    scan->bench = bench;
    (void)snprintf(scan->pattern, sizeof(scan->pattern), "%s:*", bench->cli->ns);
    (void)snprintf(scan->cursor, sizeof(scan->cursor), "0");
}

/* The next of the keys. *ret_last: there are no more after them. */
static int step(struct scan *scan, bool *ret_last)
{
    reeve_client *client = scan->bench->cli->client;
    const rv_reply *reply;
    reeve_status result = rv_client_call(client, build_scan, scan, &reply, NULL);

    *ret_last = true;
    if (result != REEVE_OK) return cli_fail_call(scan->bench->cli, result, "SCAN");
    (void)snprintf(scan->cursor, sizeof(scan->cursor), "%s", rv_reply_at(reply, 0)->text);
    *ret_last = strcmp(scan->cursor, "0") == 0;
    return keep_keys(scan, rv_reply_at(reply, 1));
}

/* Calls each for every key, until it fails. */
static int over_keys(bench_run *bench, int (*each)(struct scan *scan, const char *key, double *sum), double *sum)
{
    struct scan scan;
    bool last = false;
    int status = CLI_DONE;

    begin_scan(&scan, bench);
    while (status == CLI_DONE && !last) {
        status = step(&scan, &last);
        for (size_t i = 0; status == CLI_DONE && i < scan.count; i++) status = each(&scan, scan.keys[i], sum);
    }
    forget_keys(&scan);
    return status;
}

static int add_usage(struct scan *scan, const char *key, double *sum)
{
    const rv_reply *reply;
    int status = ask(scan->bench, &(struct words){{"MEMORY", "USAGE", key, "SAMPLES", "0"}, 5}, &reply);

    if (status == CLI_DONE) *sum += (double)rv_reply_int(reply, 0);
    return status;
}

int bench_key_bytes(bench_run *bench, double *ret)
{
    *ret = 0;
    return over_keys(bench, add_usage, ret);
}

static int count_key(struct scan *scan, const char *key, double *sum)
{
    (void)scan;
    (void)key;
    *sum += 1;
    return CLI_DONE;
}

int bench_any_keys(bench_run *bench, bool *ret)
{
    double count = 0;
    int status = over_keys(bench, count_key, &count);

    *ret = count > 0;
    return status;
}

static int remove_key(struct scan *scan, const char *key, double *sum)
{
    const rv_reply *reply;

    (void)sum;
    return ask(scan->bench, &(struct words){{"UNLINK", key}, 2}, &reply);
}

/* What was unlinked Redis frees in the background, on a processor that is to be measured. (Others may go on unlinking.)
 */
static int come_to_rest(bench_run *bench)
{
    double pending = 1;
    int status = CLI_DONE;

    for (int i = 0; status == CLI_DONE && pending > 0 && i < REST_MAX_MS / REST_STEP_MS; i++) {
        status = bench_info(bench, "memory", "lazyfree_pending_objects", &pending);
        if (pending > 0) (void)poll(NULL, 0, REST_STEP_MS);
    }
    return status;
}

int bench_remove_keys(bench_run *bench)
{
    const rv_reply *reply;
    int status;

    /* Ten million tasks take longer to free than a reply may take. */
    if (bench->own)
        status = ask(bench, &(struct words){{"FLUSHALL", "ASYNC"}, 2}, &reply);
    else
        status = over_keys(bench, remove_key, NULL);
    return status == CLI_DONE ? come_to_rest(bench) : status;
}

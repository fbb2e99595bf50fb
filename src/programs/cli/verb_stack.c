/*
 * verb_stack.c - the stacks of the threads of running workers.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "ask_workers.h"
#include "json.h"
#include "verbs.h"
#include "when.h"

static const cli_option stack_table[] = {
    {"wait", "DURATION", "how long to wait for the answer (5s)", CLI_DURATION, offsetof(cli_asked, wait_ms), 0, 0,
     NULL},
    {0},
};

static const cli_asked defaults = {.wait_ms = CLI_ASK_WAIT_MS};

/* ---- a thread -------------------------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *item, const char *name)
{
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(item, name);
    return cJSON_IsString(text) ? text->valuestring : NULL;
}

/* Of a worker, which is not trusted; -1: it is no such number. */
static int64_t number_of(const cJSON *item, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, name);
    bool good = cJSON_IsNumber(number) && number->valuedouble >= 0 && number->valuedouble < 9e15;
    return good ? (int64_t)number->valuedouble : -1;
}

static void print_json(const reeve_worker_info *info, const cJSON *item)
{
    const char *queue = text_of(item, "queue"), *id = text_of(item, "id"), *stack = text_of(item, "stack");
    char handle[REEVE_HANDLE_MAX];
    bool runs = queue != NULL && id != NULL;
    cli_json json;

    if (runs) (void)snprintf(handle, sizeof(handle), "%s/%s", queue, id);
    cli_json_begin(&json, stdout);
    cli_json_text(&json, "worker", info->id);
    cli_json_text(&json, "name", info->name);
    cli_json_int(&json, "tid", number_of(item, "tid"));
    cli_json_text(&json, "thread", text_of(item, "thread"));
    cli_json_text(&json, "handle", runs ? handle : NULL);
    cli_json_text(&json, "type", runs ? text_of(item, "type") : NULL);
    cli_json_maybe(&json, "for_ms", runs ? number_of(item, "for_ms") : -1);
    cli_json_text(&json, "stack", stack != NULL && stack[0] != '\0' ? stack : NULL);
    cli_json_end(&json);
}

/* Lines of a text of the worker: what acts on a terminal is left out. */
static void print_lines(const char *text)
{
    (void)fputs("  ", stdout);
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            (void)fputs("\n  ", stdout);
        else if ((unsigned char)*text >= ' ' && (unsigned char)*text < 0x7f)
            (void)putchar(*text);
        else
            (void)putchar('?');
    }
    (void)putchar('\n');
}

static void print_text(const reeve_worker_info *info, const cJSON *item)
{
    const char *queue = text_of(item, "queue"), *id = text_of(item, "id"), *stack = text_of(item, "stack");
    const char *type = text_of(item, "type"), *thread = text_of(item, "thread");
    char line[1024], span[CLI_WHEN_TEXT];

    cli_span_text(number_of(item, "for_ms"), span);
    int length = snprintf(line, sizeof(line), "%s %s: thread %lld %s", info->id, info->name,
                          (long long)number_of(item, "tid"), thread != NULL ? thread : "");
    if (length > 0 && (size_t)length < sizeof(line) && queue != NULL && id != NULL)
        (void)snprintf(line + length, sizeof(line) - (size_t)length, " runs %s/%s %s for %s", queue, id,
                       type != NULL ? type : "", span);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    (void)printf("%s\n", line);
    print_lines(stack != NULL && stack[0] != '\0' ? stack : "no stack: it blocks signals, or waits in the kernel");
}

/* ---- a worker -------------------------------------------------------------------------------------------------- */

static int print_threads(cli_context *cli, const reeve_worker_info *info, const char *answer)
{
    cJSON *whole = cJSON_Parse(answer);
    const cJSON *threads = cJSON_GetObjectItemCaseSensitive(whole, "threads"), *item;
    int64_t left_out = number_of(whole, "left_out");
    int status =
        cJSON_IsArray(threads) ? CLI_DONE : cli_fail(cli, CLI_REFUSED, "worker %s: no answer that is known", info->id);

    cJSON_ArrayForEach(item, threads)
    {
        if (cli->json)
            print_json(info, item);
        else
            print_text(info, item);
    }
    if (left_out > 0) status = cli_fail(cli, CLI_REFUSED, "%lld threads are left out", (long long)left_out);
    cJSON_Delete(whole);
    return status;
}

static int ask_one(cli_context *cli, const reeve_worker_info *info, const cli_asked *asked, const char *request)
{
    char *answer = NULL;
    bool done = false;
    reeve_status result = reeve_ask_worker(cli->client, info->id, request, asked->wait_ms, &done, &answer);

    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    int status = done ? print_threads(cli, info, answer)
                      : cli_fail(cli, CLI_REFUSED, "worker %s refused: %.500s", info->id, answer);
    reeve_answer_free(answer);
    return status;
}

static int print_stacks(cli_context *cli, void *options)
{
    cli_asked *asked = options;
    reeve_worker_info *list = NULL;
    size_t count = 0, meant = 0;
    char request[64] = "stack";
    const char *thread = cli->count > 1 ? cli->rest[1] : NULL;

    asked->worker = cli->rest[0];
    if (thread != NULL && (thread[0] == '\0' || strlen(thread) > 15 || strpbrk(thread, " \t\r\n") != NULL))
        return cli_usage(cli, "\"%.100s\": the name or the number of a thread is expected", thread);
    if (thread != NULL) (void)snprintf(request, sizeof(request), "stack %s", thread);
    int status = cli_ask_workers_find(cli, asked, &list, &count, &meant);
    if (status != CLI_DONE) return status;
    for (size_t i = 0; i < meant; i++) {
        int one = ask_one(cli, &list[i], asked, request);

        if (status == CLI_DONE) status = one;
    }
    reeve_workers_free(list, count);
    return status;
}

const cli_verb cli_verb_stack = {
    .name = "stack",
    .section = CLI_SERVERS,
    .synopsis = "WORKER [THREAD]",
    .summary = "Prints the stacks of the threads of a running worker",
    .options = stack_table,
    .options_size = sizeof(cli_asked),
    .defaults = &defaults,
    .min = 1,
    .max = 2,
    .run = print_stacks,
    .notes =
        "WORKER is the id of a worker, the beginning of an id, a name (all workers of this name), or \"all\". THREAD "
        "is\n"
        "the name of a thread, as `reeve workers --running` prints it, or its number; without it, all threads of the\n"
        "process. The command prints for each thread the task that it runs and the frames of its stack, the innermost\n"
        "first. A frame is the function, the file and the offset. If the function has no symbol, the frame has the\n"
        "build id of the file. To get the stacks, the worker sends a real-time signal to each of its threads. It\n"
        "continues to run tasks.\n"
        "\n"
        "Examples:\n"
        "  reeve stack media-1\n"
        "  reeve stack media-1 fast/3\n",
    .exits = "0 the stacks are printed, 1 a worker refused, gave no answer in time, or is not found",
};

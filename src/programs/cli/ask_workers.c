#include "ask_workers.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "json.h"
#include "protocol/serving.h"

/* ---- whom ------------------------------------------------------------------------------------------------------ */

static bool serves(const reeve_worker_info *info, const char *queue)
{
    cJSON *pools = cJSON_Parse(info->pools);
    const cJSON *pool;
    bool found = false;

    cJSON_ArrayForEach(pool, pools) found = found || rv_serving_has(pool, queue);
    cJSON_Delete(pools);
    return found;
}

static bool is_meant(const reeve_worker_info *info, const cli_asked *asked)
{
    if (asked->queue != NULL) return serves(info, asked->queue);
    if (strcmp(asked->worker, "all") == 0 || strcmp(asked->worker, info->name) == 0) return true;
    return asked->worker[0] != '\0' && strncmp(asked->worker, info->id, strlen(asked->worker)) == 0;
}

/* The workers that are meant come first; returns how many they are. */
static size_t choose(reeve_worker_info *list, size_t count, const cli_asked *asked)
{
    size_t meant = 0;

    for (size_t i = 0; i < count; i++) {
        reeve_worker_info info = list[i];

        if (!is_meant(&info, asked)) continue;
        list[i] = list[meant];
        list[meant++] = info;
    }
    return meant;
}

static int none_found(const cli_context *cli, const cli_asked *asked)
{
    const cli_fault fault = {.code = "not_found"};

    if (asked->queue != NULL)
        return cli_fault_say(cli, CLI_REFUSED, &fault, "no live worker serves queue %s", asked->queue);
    return cli_fault_say(cli, CLI_REFUSED, &fault, "no live worker \"%.100s\"; `reeve workers` lists them",
                         asked->worker);
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

static void print_json(const reeve_worker_info *info, const reeve_answer *answer)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "worker", info->id);
    cli_json_text(&json, "name", info->name);
    cli_json_bool(&json, "answered", answer->answered);
    cli_json_bool(&json, "done", answer->done);
    cli_json_text(&json, "answer", answer->text[0] != '\0' ? answer->text : NULL);
    cli_json_end(&json);
}

static void print_text(const reeve_worker_info *info, const reeve_answer *answer)
{
    const char *how = answer->done ? "" : answer->answered ? "refused: " : "no answer";
    const char *colon = !answer->answered && answer->text[0] != '\0' ? ": " : "";

    (void)printf("%s %s: %s%s%s\n", info->id, info->name, how, colon, answer->text);
}

static int ask(cli_context *cli, const reeve_worker_info *list, size_t count, const cli_asked *asked,
               const char *request)
{
    const char **ids = rv_zalloc_array(count, sizeof(*ids));
    reeve_answer *answers = rv_zalloc_array(count, sizeof(*answers));
    size_t missing = 0, silent = 0;
    int status = CLI_DONE;

    if (ids == NULL || answers == NULL) {
        status = cli_no_memory(cli);
        goto out;
    }
    for (size_t i = 0; i < count; i++) ids[i] = list[i].id;
    reeve_status result = reeve_ask_workers(cli->client, ids, count, request, asked->wait_ms, answers);
    if (result != REEVE_OK) status = cli_fail_call(cli, result, NULL);
    for (size_t i = 0; i < count && result == REEVE_OK; i++) {
        if (cli->json)
            print_json(&list[i], &answers[i]);
        else
            print_text(&list[i], &answers[i]);
        missing += !answers[i].done;
        silent += !answers[i].answered;
    }
    if (silent > 0)
        cli_note(cli, "no answer: the log of a worker that has received the request has event=control.request");
    if (missing > 0) status = cli_fail(cli, CLI_REFUSED, "%zu of %zu workers did not do it", missing, count);
out:
    rv_free(ids);
    rv_free(answers);
    return status;
}

int cli_ask_workers_find(cli_context *cli, const cli_asked *asked, reeve_worker_info **ret_list, size_t *ret_count,
                         size_t *ret_meant)
{
    int status = cli_open(cli);

    if (status != CLI_DONE) return status;
    reeve_status result = reeve_workers(cli->client, ret_list, ret_count);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    *ret_meant = choose(*ret_list, *ret_count, asked);
    if (*ret_meant > 0) return CLI_DONE;
    status = none_found(cli, asked);
    reeve_workers_free(*ret_list, *ret_count);
    return status;
}

int cli_ask_workers(cli_context *cli, const cli_asked *asked, const char *request)
{
    reeve_worker_info *list = NULL;
    size_t count = 0, meant = 0;
    int status = cli_ask_workers_find(cli, asked, &list, &count, &meant);

    if (status != CLI_DONE) return status;
    status = ask(cli, list, meant, asked, request);
    reeve_workers_free(list, count);
    return status;
}

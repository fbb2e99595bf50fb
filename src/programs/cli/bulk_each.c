#include "bulk_each.h"

#include <string.h>

#define PAGE_SIZE 500
#define FOUND_MAX ((size_t)4 << 30)

void cli_bulk_each_init(cli_bulk_each *each, const cli_context *cli, const cli_filter *filter,
                        const reeve_state *states, size_t state_count)
{
    *each = (cli_bulk_each){.cli = cli, .filter = filter, .states = states, .state_count = state_count};
    rv_buf_init(&each->found, FOUND_MAX);
}

void cli_bulk_each_fini(cli_bulk_each *each)
{
    rv_buf_fini(&each->found);
}

static void keep(cli_bulk_each *each, reeve_task_info *const *page, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rv_buf_addc(&each->found, (char)('0' + page[i]->state));
        rv_buf_add(&each->found, page[i]->id, strlen(page[i]->id) + 1);
    }
    each->count += count;
}

static reeve_status find_some(cli_bulk_each *each, uint64_t max)
{
    reeve_filter filter = cli_filter_in(each->filter, each->states[each->at]);
    uint64_t limit = max == 0 || max - each->count > PAGE_SIZE ? PAGE_SIZE : max - each->count;
    reeve_task_info **page = NULL;
    size_t count = 0;
    uint64_t seen = 0;
    reeve_status status =
        reeve_find(each->cli->client, each->cli->rest[0], &filter, each->cursor, (size_t)limit, &page, &count, &seen);

    if (status != REEVE_OK) return status;
    keep(each, page, count);
    reeve_task_list_free(page, count);
    each->seen += seen;
    if (each->cursor[0] == '\0') each->at++;
    return each->found.failed ? REEVE_ENOMEM : REEVE_OK;
}

reeve_status cli_bulk_each_find(cli_bulk_each *each, uint64_t max, bool (*progress)(void *user), void *user)
{
    reeve_status status = REEVE_OK;

    rv_buf_clear(&each->found);
    each->count = 0;
    while (status == REEVE_OK && each->at < each->state_count && (max == 0 || each->count < max)) {
        status = find_some(each, max);
        if (status == REEVE_OK && !progress(user)) status = REEVE_EINTERRUPTED;
    }
    return status;
}

const char *cli_bulk_each_next(const cli_bulk_each *each, size_t *place, reeve_state *ret_state)
{
    const char *id;

    if (*place >= each->found.length) return NULL;
    *ret_state = (reeve_state)(each->found.data[*place] - '0');
    id = each->found.data + *place + 1;
    *place += strlen(id) + 2;
    return id;
}

bool cli_bulk_each_has_left(const cli_bulk_each *each, const cli_handle *handle, reeve_state state)
{
    reeve_task_info *info;
    reeve_status status = reeve_show(each->cli->client, handle->queue, handle->id, &info);
    bool has_left;

    if (status != REEVE_OK) return status == REEVE_ENOTFOUND;
    has_left = info->state != state;
    reeve_task_info_free(info);
    return has_left;
}

bool cli_bulk_each_is_of_task(reeve_status status)
{
    switch (status) {
    case REEVE_EEXISTS:
    case REEVE_ENOTFOUND:
    case REEVE_ESTATE:
    case REEVE_EREFUSED:
    case REEVE_ETOOBIG:
    case REEVE_EUNIQUE:
    case REEVE_EFULL:
        return true;
    default:
        return false;
    }
}

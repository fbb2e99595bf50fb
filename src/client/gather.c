#include "client/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PAGE 1000

typedef struct gathered {
    char *items;
    size_t count;
} gathered;

/* There is room for one item more. */
static void take(const rv_gathering *g, gathered *sum, const char *item)
{
    const char *name = g->name(item);
    for (size_t i = 0; i < sum->count; i++) {
        char *known = sum->items + i * g->size;
        if (strcmp(g->name(known), name) != 0) continue;
        g->add(known, item);
        return;
    }
    memcpy(sum->items + sum->count++ * g->size, item, g->size);
}

static reeve_status take_page(reeve_client *client, const rv_gathering *g, const char *queue, uint64_t offset,
                              gathered *sum, uint64_t *ret_total)
{
    void *some;
    size_t count;
    reeve_status status = g->page(client, queue, offset, PAGE, &some, &count, ret_total);
    if (status != REEVE_OK) return status;
    char *grown = rv_realloc_array(sum->items, sum->count + count + 1, g->size);
    if (grown != NULL) sum->items = grown;
    for (size_t i = 0; grown != NULL && i < count; i++) take(g, sum, (const char *)some + i * g->size);
    rv_free(some);
    return grown != NULL ? REEVE_OK : rv_fail(&client->error, REEVE_ENOMEM, "no memory for %s", g->what);
}

reeve_status rv_gather(reeve_client *client, rv_spread *spread, const rv_gathering *g, const rv_page *page, void **ret,
                       size_t *ret_count, uint64_t *ret_total)
{
    gathered sum = {0};
    while (rv_spread_next(spread)) {
        uint64_t total = 1;
        for (uint64_t offset = 0; offset < total; offset += PAGE) {
            reeve_status status = take_page(client, g, spread->name, offset, &sum, &total);
            if (status == REEVE_OK) continue;
            rv_free(sum.items);
            return status;
        }
    }
    if (sum.count > 0) qsort(sum.items, sum.count, g->size, g->order);
    size_t skip = page->offset < sum.count ? (size_t)page->offset : sum.count;
    if (ret_total != NULL) *ret_total = sum.count;
    size_t count = sum.count - skip < page->limit ? sum.count - skip : page->limit;
    if (count > 0) memmove(sum.items, sum.items + skip * g->size, count * g->size);
    *ret = sum.items;
    *ret_count = count;
    return REEVE_OK;
}

/*
 * gather.h - things that each partition of a queue counts, such as tags: those of all partitions are added up, sorted, and
 * a page of them is returned.
 */
#ifndef RV_CLIENT_GATHER_H
#define RV_CLIENT_GATHER_H

#include "client/spread.h"

typedef struct rv_gathering {
    size_t size;      /* of an item */
    const char *what; /* the items, for an error */
    /* A page of the items of one partition; *ret is freed with rv_free. */
    reeve_status (*page)(reeve_client *client, const char *queue, uint64_t offset, size_t limit, void **ret,
                         size_t *ret_count, uint64_t *ret_total);
    const char *(*name)(const void *item);            /* items of one name are one thing */
    void (*add)(void *item, const void *more);        /* the same thing in another partition */
    int (*order)(const void *one, const void *other); /* as for qsort */
} rv_gathering;

/* Asks all partitions, in pages. *ret: the items of the page, to be freed with rv_free; *ret_total, unless NULL: how many
 * there are in all. On failure, nothing is set. */
reeve_status rv_gather(reeve_client *client, rv_spread *spread, const rv_gathering *gathering, const rv_page *page,
                       void **ret, size_t *ret_count, uint64_t *ret_total);

#endif

/*
 * cron_index.h - in which queue the recurring entry of a name is: the hash <ns>:cron. A name is one entry in its
 * namespace, though each lies with its queue, in a slot of its own. The hash is written last, so that a call which
 * was cut short is made good by the next one; what it says of an entry that is gone does no harm.
 */
#ifndef RV_CLIENT_CRON_INDEX_H
#define RV_CLIENT_CRON_INDEX_H

#include "client/client.h"
#include "reeve/cron.h"

/* "" when there is none. */
reeve_status rv_cron_index_read(reeve_client *client, const char *name, char ret[REEVE_QUEUE_MAX + 1]);
reeve_status rv_cron_index_write(reeve_client *client, const char *name, const char *queue);
/* Unless the name is in another queue. */
reeve_status rv_cron_index_drop(reeve_client *client, const char *name, const char *queue);

/* *ret: what cron.lua says to "get", until the next call; or NULL: there is no such entry. (cron_fetch.c) */
reeve_status rv_cron_fetch(reeve_client *client, const char *queue, const char *name, const rv_reply **ret);

/* An entry from its definition, which the caller frees. REEVE_EINVAL: it is not understood; *ret is NULL.
 * (cron_fetch.c) */
reeve_status rv_cron_fetch_read(const char *queue, const char *name, const rv_reply *definition,
                                reeve_cron_entry **ret);

#endif

/*
 * cron_stored.h - the recurring entries that Redis has, beside those of a configuration.
 */
#ifndef HOST_CRON_STORED_H
#define HOST_CRON_STORED_H

#include "config/config_compare.h"
#include "reeve/cron.h"

typedef struct host_cron_stored {
    reeve_cron_info *list;
    size_t count;
} host_cron_stored;

/* Those of all queues; host_cron_stored_fini frees them, also after a failure. The client's error has the words. */
reeve_status host_cron_stored_read(host_cron_stored *ret, reeve_client *client);
void host_cron_stored_fini(host_cron_stored *stored);

/*
 * Compares an entry of a configuration with the one of this name that Redis has, if there is one: calls `take` for what
 * differs, by name, or once for the entry as a whole. Returns whether Redis has one. Layers
 * of plugins are not applied: of an entry that layers have changed, the digest of its task is compared, if it has no key.
 */
bool host_cron_stored_compare(const host_cron_stored *stored, const rv_config_cron *cron,
                              void (*take)(const rv_config_difference *difference, void *context), void *context);

#endif

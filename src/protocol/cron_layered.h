/*
 * cron_layered.h - recurring entries whose task layers have changed (reeve/layer.h). Their definition has a digest of the
 * task as it was before the layers. Layers may make another task of the same one each time, for instance with a nonce:
 * two definitions with the same times and the same digest are the same entry. Nothing here blocks; any thread.
 *
 * A digest is 16 hexadecimal digits. If a layer has set a key (reeve_outgoing_set_digest_key), it begins with "k": then
 * only who has the key can compute it.
 */
#ifndef RV_PROTOCOL_CRON_LAYERED_H
#define RV_PROTOCOL_CRON_LAYERED_H

#include "base/error.h"
#include "base/siphash.h"
#include "reeve/cron.h"

#define RV_CRON_DIGEST_MAX 20  /* with its zero byte */
#define RV_CRON_LAYERED_MAX 64 /* of the field `layered` of an entry */

/*
 * The digest for the definition of an entry, "" for none. given: its task before the layers. If the entry has `layered`,
 * its task has not passed any layers now: REEVE_EINVAL if its type, payload or metadata are not those that
 * reeve_cron_get returned. REEVE_ENOMEM.
 */
reeve_status rv_cron_layered_digest(char ret[RV_CRON_DIGEST_MAX], const reeve_cron_entry *entry,
                                    const reeve_task_spec *given, const rv_siphash_key *key, rv_error *error);

/* The field `layered` of an entry that is read: its digest, and what its task is now. False: no memory. */
bool rv_cron_layered_write(char ret[RV_CRON_LAYERED_MAX], const char *digest, const reeve_task_spec *task);
bool rv_cron_layered_is_digest(const char *text);

/* Whether a stored entry was made of `given`, a checked entry that has passed no layers. A digest with a key is not
 * compared. False also without memory. */
bool rv_cron_layered_is_made_of(const reeve_cron_entry *stored, const reeve_cron_entry *given);

#endif

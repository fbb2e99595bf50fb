/*
 * keys.h - the names of keys. A queue's keys are its prefix and a word (see docs/protocol.md).
 */
#ifndef RV_PROTOCOL_KEYS_H
#define RV_PROTOCOL_KEYS_H

#include <stddef.h>

#include "base/error.h"
#include "reeve/task.h"

#define RV_NS_MAX 64
#define RV_NS_DEFAULT "reeve"
#define RV_PREFIX_MAX (RV_NS_MAX + REEVE_QUEUE_MAX + 5)

/* Limits count the tasks of a type as those of the group of this name and the type: lib/group_place.lua. */
#define RV_TYPE_GROUP "type:"
/* The same of tasks with a limit key. */
#define RV_KEY_GROUP "key:"

/* "<ns>:{<queue>}:" */
typedef struct rv_prefix {
    char text[RV_PREFIX_MAX];
    size_t length;
} rv_prefix;

/* Both names were checked before. */
void rv_keys_set_prefix(rv_prefix *ret, const char *ns, const char *queue);

/* Checks a name of a queue, type, task or group; the words say what is wrong and what is allowed. */
reeve_status rv_keys_check_queue(const char *queue, rv_error *error);
reeve_status rv_keys_check_type(const char *type, rv_error *error);
/* Of a handler: a pattern, too (rv_valid_type_pattern). */
reeve_status rv_keys_check_type_pattern(const char *type, rv_error *error);
reeve_status rv_keys_check_id(const char *id, rv_error *error);
reeve_status rv_keys_check_group(const char *group, rv_error *error);
reeve_status rv_keys_check_limit_key(const char *key, rv_error *error);
/* NULL and "" will do. */
reeve_status rv_keys_check_on_dead(const char *type, rv_error *error);

/* The queue and the id of a handle that is well formed; false when it is not. */
bool rv_keys_split_handle(const char *handle, char queue[REEVE_QUEUE_MAX + 1], char id[REEVE_ID_MAX]);

/* The namespace in force: the given one or the default. NULL, with words, when it is malformed. */
const char *rv_keys_choose_ns(const char *ns, rv_error *error);

#endif

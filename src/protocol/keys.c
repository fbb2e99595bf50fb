#include "protocol/keys.h"

#include <string.h>

#include "base/id.h"
#include "base/text.h"
#include "protocol/partition.h"

void rv_keys_set_prefix(rv_prefix *ret, const char *ns, const char *queue)
{
    size_t ns_length = strnlen(ns, RV_NS_MAX), queue_length = strnlen(queue, REEVE_QUEUE_MAX);
    queue_length = rv_partition_canonical_length(queue, queue_length);
    char *at = ret->text;
    memcpy(at, ns, ns_length);
    at += ns_length;
    memcpy(at, ":{", 2);
    at += 2;
    memcpy(at, queue, queue_length);
    at += queue_length;
    memcpy(at, "}:", sizeof("}:"));
    ret->length = ns_length + queue_length + 4;
}

/* For messages: a name that is too long is not repeated whole. */
#define SHOWN 120

reeve_status rv_keys_check_queue(const char *queue, rv_error *error)
{
    if (queue == NULL || queue[0] == '\0') return rv_fail(error, REEVE_EINVAL, "a task needs a queue");
    if (rv_valid_queue(queue, strlen(queue))) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "queue \"%.*s\": a name has 1 to %d of the characters A-Z a-z 0-9 . _ -", SHOWN,
                   queue, REEVE_QUEUE_MAX);
}

reeve_status rv_keys_check_type(const char *type, rv_error *error)
{
    if (type == NULL || type[0] == '\0') return rv_fail(error, REEVE_EINVAL, "a task needs a type");
    if (rv_valid_type(type, strlen(type))) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "type \"%.*s\": a type has 1 to %d of the characters A-Z a-z 0-9 . _ - : /",
                   SHOWN, type, REEVE_TYPE_MAX);
}

reeve_status rv_keys_check_type_pattern(const char *type, rv_error *error)
{
    if (type != NULL && rv_valid_type_pattern(type, strlen(type))) return REEVE_OK;
    return rv_keys_check_type(type, error);
}

/* "" is allowed: no such task, also when the queue has a setting. */
reeve_status rv_keys_check_on_dead(const char *type, rv_error *error)
{
    if (type == NULL || type[0] == '\0' || rv_valid_type(type, strlen(type))) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "on_dead \"%.*s\": a type has 1 to %d of the characters A-Z a-z 0-9 . _ - : /",
                   SHOWN, type, REEVE_TYPE_MAX);
}

reeve_status rv_keys_check_id(const char *id, rv_error *error)
{
    if (id == NULL || id[0] == '\0') return rv_fail(error, REEVE_EINVAL, "a task's id is empty");
    if (rv_valid_id(id, strlen(id))) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "id \"%.*s\": an id has 1 to %d of the characters A-Z a-z 0-9 . _ - :", SHOWN,
                   id, REEVE_ID_LENGTH_MAX);
}

/* Texts in a task's header must be valid UTF-8, so that programs in any language can read it. */
static reeve_status check_text(const char *text, size_t max, const char *kind, const char *what, rv_error *error)
{
    size_t length = text != NULL ? strlen(text) : 0;
    if (length == 0 || length > max) {
        return rv_fail(error, REEVE_EINVAL, "%s \"%.*s\": %s has 1 to %zu bytes", kind, SHOWN, text != NULL ? text : "",
                       what, max);
    }
    if (rv_utf8_is_valid(text, length)) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "%s: must be UTF-8", what);
}

reeve_status rv_keys_check_group(const char *group, rv_error *error)
{
    return check_text(group, REEVE_GROUP_MAX, "group", "a group's name", error);
}

reeve_status rv_keys_check_limit_key(const char *key, rv_error *error)
{
    return check_text(key, REEVE_LIMIT_KEY_MAX, "limit key", "a limit key", error);
}

const char *rv_keys_choose_ns(const char *ns, rv_error *error)
{
    if (ns == NULL || ns[0] == '\0') return RV_NS_DEFAULT;
    if (rv_valid_ns(ns, strlen(ns))) return ns;
    rv_fail(error, REEVE_EINVAL, "namespace \"%.*s\": a namespace has 1 to %d of the characters A-Z a-z 0-9 . _ : -",
            SHOWN, ns, RV_NS_MAX);
    return NULL;
}

bool rv_keys_split_handle(const char *handle, char queue[REEVE_QUEUE_MAX + 1], char id[REEVE_ID_MAX])
{
    const char *slash = handle != NULL ? strchr(handle, '/') : NULL;
    if (slash == NULL || !rv_valid_queue(handle, (size_t)(slash - handle))) return false;
    size_t length = strnlen(slash + 1, REEVE_ID_MAX);
    if (!rv_valid_id(slash + 1, length)) return false;
    memcpy(queue, handle, (size_t)(slash - handle));
    queue[slash - handle] = '\0';
    memcpy(id, slash + 1, length + 1);
    return true;
}

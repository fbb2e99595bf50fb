#include "handlers/handler_table.h"

#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/id.h"
#include "base/mem.h"
#include "handlers/handler_check.h"
#include "protocol/keys.h"

/* FNV-1a (G. Fowler, L. C. Noll, P. Vo; RFC 9923). */
static size_t hash(const char *text, size_t length)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) sum = (sum ^ (unsigned char)text[i]) * 1099511628211u;
    return (size_t)sum;
}

static rv_handler **slot_of(const rv_handlers *handlers, const char *type, size_t length)
{
    size_t mask = handlers->slot_count - 1;
    for (size_t at = hash(type, length) & mask;; at = (at + 1) & mask) {
        rv_handler *entry = handlers->slots[at];
        if (entry == NULL || (entry->type_length == length && memcmp(entry->handler.type, type, length) == 0))
            return &handlers->slots[at];
    }
}

static rv_handler *find_pattern(const rv_handlers *handlers, const char *type, size_t length)
{
    for (size_t i = 0; i < handlers->pattern_count; i++)
        if (rv_type_fit(handlers->patterns[i]->handler.type, type, length) > 0) return handlers->patterns[i];
    return NULL;
}

rv_handler *rv_handler_table_find(const rv_handlers *handlers, const char *type, size_t length)
{
    rv_handler *own = handlers->slot_count == 0 ? NULL : *slot_of(handlers, type, length);
    return own != NULL || handlers->pattern_count == 0 ? own : find_pattern(handlers, type, length);
}

rv_handler *rv_handler_table_find_own(const rv_handlers *handlers, const char *type)
{
    return handlers->slot_count == 0 ? NULL : *slot_of(handlers, type, strlen(type));
}

/* Room for one more in both arrays; the slots stay at most half full. */
static reeve_status grow(rv_handlers *handlers, rv_error *error)
{
    rv_handler **list = rv_realloc_array(handlers->list, handlers->count + 1, sizeof(*list));
    if (list == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a handler");
    handlers->list = list;
    rv_handler **patterns = rv_realloc_array(handlers->patterns, handlers->count + 1, sizeof(*patterns));
    if (patterns == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a handler");
    handlers->patterns = patterns;
    if (2 * (handlers->count + 1) <= handlers->slot_count) return REEVE_OK;
    size_t wanted = handlers->slot_count == 0 ? 16 : 2 * handlers->slot_count;
    rv_handler **slots = rv_zalloc_array(wanted, sizeof(*slots));
    if (slots == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a handler");
    rv_free(handlers->slots);
    handlers->slots = slots;
    handlers->slot_count = wanted;
    for (size_t i = 0; i < handlers->count; i++) {
        *slot_of(handlers, handlers->list[i]->handler.type, handlers->list[i]->type_length) = handlers->list[i];
    }
    return REEVE_OK;
}

/* There is room. */
static void add_pattern(rv_handlers *handlers, rv_handler *entry)
{
    size_t at = handlers->pattern_count++;
    entry->is_pattern = true;
    for (; at > 0 && handlers->patterns[at - 1]->type_length < entry->type_length; at--)
        handlers->patterns[at] = handlers->patterns[at - 1];
    handlers->patterns[at] = entry;
}

reeve_status rv_handler_table_add(rv_handlers *handlers, const reeve_handler *handler, reeve_plugin_handle *plugin,
                                  rv_error *error)
{
    reeve_status status = rv_keys_check_type_pattern(handler->type, error);
    if (status != REEVE_OK) return status;
    char what[REEVE_TYPE_MAX + 32];
    (void)snprintf(what, sizeof(what), "type %s: the handler", handler->type);
    status = rv_handler_check(handler, what, error);
    if (status != REEVE_OK) return status;
    rv_error why;
    if (rv_backoff_check(&handler->backoff, &why) != REEVE_OK)
        return rv_fail(error, REEVE_EINVAL, "type %s: %s", handler->type, why.text);
    size_t length = strlen(handler->type);
    rv_handler *other = rv_handler_table_find_own(handlers, handler->type);
    if (other != NULL) {
        return rv_fail(error, REEVE_EDUPLICATE, "type %s has a handler already (%s)", handler->type,
                       other->plugin != NULL ? other->plugin->path : "registered by the program");
    }
    status = grow(handlers, error);
    if (status != REEVE_OK) return status;
    rv_handler *entry = rv_zalloc(sizeof(*entry));
    char *type = rv_strdup(handler->type);
    if (entry == NULL || type == NULL) {
        rv_free(entry);
        rv_free(type);
        return rv_fail(error, REEVE_ENOMEM, "no memory for a handler");
    }
    *entry = (rv_handler){.handler = *handler, .type_length = length, .plugin = plugin, .index = handlers->count};
    entry->handler.type = type;
    *slot_of(handlers, type, length) = entry;
    handlers->list[handlers->count++] = entry;
    if (type[length - 1] == '*') add_pattern(handlers, entry);
    return REEVE_OK;
}

reeve_status rv_handler_table_wrap(rv_handlers *handlers, const rv_layers *layers, rv_error *error)
{
    for (size_t i = 0; i < handlers->count; i++) {
        rv_handler *entry = handlers->list[i];
        if (!rv_layers_choose(&entry->layers, layers, entry->handler.type, entry->handler.run_batch != NULL))
            return rv_fail(error, REEVE_ENOMEM, "no memory for the layers of %s", entry->handler.type);
    }
    return REEVE_OK;
}

unsigned rv_handler_table_batch_max(const rv_handlers *handlers)
{
    unsigned max = 1;
    for (size_t i = 0; i < handlers->count; i++) {
        const reeve_handler *handler = &handlers->list[i]->handler;
        if (handler->run_batch != NULL && rv_batch_handler_max(handler) > max) max = rv_batch_handler_max(handler);
    }
    return max;
}

void rv_handler_table_fini(rv_handlers *handlers)
{
    for (size_t i = 0; i < handlers->count; i++) {
        rv_handler *entry = handlers->list[i];
        if (entry->handler.free_user != NULL) entry->handler.free_user(entry->handler.user);
        rv_free((void *)entry->handler.type);
        rv_free(entry->layers);
        rv_free(entry);
    }
    rv_free(handlers->list);
    rv_free(handlers->slots);
    rv_free(handlers->patterns);
    memset(handlers, 0, sizeof(*handlers));
}

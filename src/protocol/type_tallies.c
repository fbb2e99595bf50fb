#include "protocol/type_tallies.h"

#include <string.h>

#include "base/mem.h"

void rv_type_tallies_add_range(rv_range *range, uint64_t value)
{
    if (range->count == 0 || value < range->min) range->min = value;
    if (value > range->max) range->max = value;
    range->count++;
    range->sum += value;
}

static bool is_type(const rv_type_tally *known, const char *type, size_t length)
{
    return known->length == length && memcmp(known->type, type, length) == 0;
}

/* NULL: no memory. */
static rv_type_tally *add_type(rv_type_tallies *types, const char *type, size_t length)
{
    if (types->count == types->capacity) {
        size_t capacity = types->capacity == 0 ? 4 : 2 * types->capacity;
        rv_type_tally *list = rv_realloc_array(types->list, capacity, sizeof(*list));
        if (list == NULL) return NULL;
        types->list = list;
        types->capacity = capacity;
    }
    rv_type_tally *added = &types->list[types->count];
    memset(added, 0, sizeof(*added));
    memcpy(added->type, type, length);
    added->length = length;
    types->last = types->count++;
    return added;
}

rv_type_tally *rv_type_tallies_find(rv_type_tallies *types, const char *type, size_t length)
{
    if (length > REEVE_TYPE_MAX) length = 0;
    if (types->count > 0 && is_type(&types->list[types->last], type, length)) return &types->list[types->last];
    for (size_t i = 0; i < types->count; i++) {
        if (!is_type(&types->list[i], type, length)) continue;
        types->last = i;
        return &types->list[i];
    }
    if (types->count >= RV_TALLY_TYPES && length > 0) return rv_type_tallies_find(types, "", 0);
    return add_type(types, type, length);
}

void rv_type_tallies_fini(rv_type_tallies *types)
{
    rv_free(types->list);
}

static void build_range(rv_conn *conn, const rv_range *range)
{
    rv_argi(conn, (int64_t)range->count);
    rv_argi(conn, (int64_t)range->sum);
    rv_argi(conn, (int64_t)range->min);
    rv_argi(conn, (int64_t)range->max);
}

void rv_type_tallies_build(rv_conn *conn, const rv_type_tallies *types)
{
    for (size_t i = 0; i < types->count; i++) {
        const rv_type_tally *type = &types->list[i];
        rv_arg(conn, type->type, type->length);
        rv_argi(conn, (int64_t)type->completed);
        rv_argi(conn, (int64_t)type->failed);
        rv_argi(conn, (int64_t)type->dead);
        build_range(conn, &type->wait);
        build_range(conn, &type->run);
    }
}

/*
 * The layout of a file is that of RFC 9636, section 3: a header and a block with times of 32 bits, then, from version 2
 * on, the same with times of 64 bits, and a rule between two line feeds.
 */
#include "base/tzif.h"

#include <string.h>

#include "base/mem.h"

#define HEADER 44
#define TYPE_BYTES 6
#define COUNT_MAX 100000

/* The counts of a header, in its order. */
typedef struct counts {
    size_t is_ut, is_std, leaps, times, types, chars;
} counts;

static uint64_t read_number(const unsigned char *at, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++) number = number << 8 | at[i];
    return number;
}

static int64_t read_time(const unsigned char *at, size_t bytes)
{
    uint64_t number = read_number(at, bytes);
    return bytes == 4 ? (int64_t)(int32_t)(uint32_t)number : (int64_t)number;
}

static bool read_header(counts *ret, const unsigned char *bytes, size_t length)
{
    size_t *const all[] = {&ret->is_ut, &ret->is_std, &ret->leaps, &ret->times, &ret->types, &ret->chars};
    if (length < HEADER || memcmp(bytes, "TZif", 4) != 0) return false;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        *all[i] = (size_t)read_number(bytes + 20 + 4 * i, 4);
        if (*all[i] > COUNT_MAX) return false;
    }
    return ret->types > 0 && ret->leaps == 0;
}

/* How long the block behind a header is. */
static size_t block_length(const counts *c, size_t time_bytes)
{
    return c->times * (time_bytes + 1) + c->types * TYPE_BYTES + c->chars + c->leaps * (time_bytes + 4) + c->is_std +
           c->is_ut;
}

static int32_t offset_of(const unsigned char *types, size_t index)
{
    return (int32_t)(uint32_t)read_number(types + index * TYPE_BYTES, 4);
}

static bool is_offset(int32_t offset)
{
    return offset > -26 * 3600 && offset < 26 * 3600;
}

static bool fill(rv_tzif *zone, const counts *c, const unsigned char *block, size_t time_bytes)
{
    const unsigned char *indexes = block + c->times * time_bytes, *types = indexes + c->times;
    zone->first = offset_of(types, 0);
    zone->count = c->times;
    for (size_t i = 0; i < c->times; i++) {
        if (indexes[i] >= c->types) return false;
        zone->at[i] = read_time(block + i * time_bytes, time_bytes);
        zone->offsets[i] = offset_of(types, indexes[i]);
        if (!is_offset(zone->offsets[i]) || (i > 0 && zone->at[i] <= zone->at[i - 1])) return false;
    }
    return is_offset(zone->first);
}

static bool read_block(rv_tzif *ret, const counts *c, const unsigned char *block, size_t time_bytes)
{
    rv_tzif zone = {.at = rv_zalloc_array(c->times + 1, sizeof(*zone.at)),
                    .offsets = rv_zalloc_array(c->times + 1, sizeof(*zone.offsets))};
    if (zone.at == NULL || zone.offsets == NULL || !fill(&zone, c, block, time_bytes)) {
        rv_tzif_fini(&zone);
        return false;
    }
    *ret = zone;
    return true;
}

/* The last line; empty: there is no rule. */
static bool read_footer(rv_tzif *zone, const unsigned char *bytes, size_t length)
{
    const unsigned char *end = length > 1 && bytes[0] == '\n' ? memchr(bytes + 1, '\n', length - 1) : NULL;
    if (end == NULL) return false;
    if (end == bytes + 1) return true;
    return rv_tzif_rule_read(&zone->rule, (const char *)bytes + 1, (size_t)(end - bytes - 1));
}

bool rv_tzif_read(rv_tzif *ret, const unsigned char *bytes, size_t length)
{
    counts c;
    if (!read_header(&c, bytes, length) || length - HEADER < block_length(&c, 4)) return false;
    if (bytes[4] < '2') return read_block(ret, &c, bytes + HEADER, 4);
    size_t skip = HEADER + block_length(&c, 4);
    bytes += skip;
    length -= skip;
    if (!read_header(&c, bytes, length)) return false;
    size_t block = block_length(&c, 8);
    if (length - HEADER < block || !read_block(ret, &c, bytes + HEADER, 8)) return false;
    if (read_footer(ret, bytes + HEADER + block, length - HEADER - block)) return true;
    rv_tzif_fini(ret);
    return false;
}

void rv_tzif_fini(rv_tzif *zone)
{
    rv_free(zone->at);
    rv_free(zone->offsets);
    memset(zone, 0, sizeof(*zone));
}

int64_t rv_tzif_offset(const rv_tzif *zone, int64_t moment)
{
    size_t low = 0, high = zone->count; /* changes before low are past, those from high on are not */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->at[middle] <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->count && zone->rule.is_set) return rv_tzif_rule_offset(&zone->rule, moment);
    return low == 0 ? zone->first : zone->offsets[low - 1];
}

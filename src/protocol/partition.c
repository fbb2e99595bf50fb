#include "protocol/partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- names ------------------------------------------------------------------------------------------------------ */

size_t rv_partition_base(const char *name, size_t length)
{
    size_t digits = 0;
    while (digits < 2 && digits < length && name[length - 1 - digits] >= '0' && name[length - 1 - digits] <= '9')
        digits++;
    if (digits == 0 || length < digits + 2 || name[length - digits - 1] != RV_PARTITION_MARK) return length;
    return length - digits - 1;
}

unsigned rv_partition_number(const char *name)
{
    size_t length = strlen(name), base = rv_partition_base(name, length);
    int64_t number = 0;
    if (base < length && !rv_parse_int(name + base + 1, 0, REEVE_PARTITIONS_MAX - 1, &number)) return 0;
    return (unsigned)number;
}

void rv_partition_strip(char *text)
{
    const char *slash = strchr(text, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);
    size_t base = rv_partition_base(text, length);
    if (base < length) memmove(text + base, text + length, strlen(text + length) + 1);
}

size_t rv_partition_canonical_length(const char *name, size_t length)
{
    return length > 2 && name[length - 1] == '0' && name[length - 2] == RV_PARTITION_MARK ? length - 2 : length;
}

void rv_partition_canonicalize(char *text)
{
    size_t length = strcspn(text, "/"), kept = rv_partition_canonical_length(text, length);
    if (kept < length) memmove(text + kept, text + length, strlen(text + length) + 1);
}

bool rv_partition_is_same(const char *name, const char *other)
{
    size_t length = rv_partition_canonical_length(name, strlen(name));
    return length == rv_partition_canonical_length(other, strlen(other)) && memcmp(name, other, length) == 0;
}

bool rv_partition_is_of(const char *own, const char *queue)
{
    size_t base = rv_partition_base(own, strlen(own));
    return rv_partition_is_same(own, queue) || (strlen(queue) == base && memcmp(own, queue, base) == 0);
}

void rv_partition_exact_name(char ret[REEVE_QUEUE_MAX + 1], const char *queue, unsigned number)
{
    (void)snprintf(ret, REEVE_QUEUE_MAX + 1, "%.*s%c%u", RV_PARTITION_QUEUE_MAX, queue, RV_PARTITION_MARK,
                   number % REEVE_PARTITIONS_MAX);
}

void rv_partition_name(char ret[REEVE_QUEUE_MAX + 1], const char *queue, unsigned number)
{
    if (number == 0)
        rv_copy_text(ret, REEVE_QUEUE_MAX + 1, queue);
    else
        rv_partition_exact_name(ret, queue, number);
}

/* ---- which partition -------------------------------------------------------------------------------------------- */

/* FNV-1a, whose last step is finished by mix: all clients, of any version, have to agree on it. */
static uint32_t hash_on(uint32_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * UINT32_C(16777619);
    return hash;
}

static unsigned mix(uint32_t hash, unsigned count)
{
    hash ^= hash >> 16;
    hash *= UINT32_C(0x7feb352d);
    hash ^= hash >> 15;
    return hash % count;
}

#define HASH_SEED UINT32_C(2166136261)

unsigned rv_partition_of(const char *text, unsigned count)
{
    return mix(hash_on(HASH_SEED, text, strlen(text)), count);
}

void rv_partition_fit_id(char id[REEVE_ID_MAX], unsigned number, unsigned count)
{
    static const char hex[] = "0123456789abcdef";
    const size_t varied = 3, kept = RV_UUID_LENGTH - varied;
    uint32_t begun = hash_on(HASH_SEED, id, kept);
    int64_t from = 0;
    for (size_t i = kept; i < RV_UUID_LENGTH; i++) from = from * 16 + (strchr(hex, id[i]) - hex);
    for (int64_t i = 0; i < 4096; i++) {
        int64_t tail = (from + i) & 4095;
        for (size_t digit = 0; digit < varied; digit++) id[kept + digit] = hex[tail >> (4 * (varied - 1 - digit)) & 15];
        if (mix(hash_on(begun, id + kept, varied), count) == number) return;
    }
}

/* ---- layouts ---------------------------------------------------------------------------------------------------- */

static bool is_number(long long number)
{
    return number >= 1 && number <= REEVE_PARTITIONS_MAX;
}

bool rv_partition_layout_read(rv_partition_layout *ret, const char *text)
{
    long long n[8];
    if (!rv_parse_numbers(text, n, 8, NULL)) return false;
    if (!is_number(n[0]) || !is_number(n[1]) || !is_number(n[2]) || n[2] < n[0] || n[2] < n[1]) return false;
    ret->count = (unsigned)n[0];
    ret->before = (unsigned)n[1];
    ret->served = (unsigned)n[2];
    ret->changed_ms = n[3];
    ret->concurrency = n[4];
    ret->rate = (reeve_rate){.count = n[5], .period_ms = n[6], .burst = n[7]};
    return true;
}

void rv_partition_layout_write(char ret[RV_PARTITION_LAYOUT_TEXT], const rv_partition_layout *layout)
{
    (void)snprintf(ret, RV_PARTITION_LAYOUT_TEXT, "%u %u %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
                   layout->count, layout->before, layout->served, layout->changed_ms, layout->concurrency,
                   layout->rate.count, layout->rate.period_ms, layout->rate.burst);
}

static bool read_field(rv_partition_layout *ret, const rv_reply *queue, const rv_reply *value)
{
    if (!rv_reply_is(queue, RV_TEXT) || !rv_reply_is(value, RV_TEXT)) return false;
    if (queue->length > RV_PARTITION_QUEUE_MAX || !rv_valid_queue(queue->text, queue->length)) return false;
    rv_copy_text(ret->queue, sizeof(ret->queue), queue->text);
    return rv_partition_layout_read(ret, value->text);
}

bool rv_partition_map_read(rv_partition_map *ret, const rv_reply *reply)
{
    rv_partition_map map = {0};
    if (!rv_reply_is(reply, RV_ARRAY)) return false;
    if (reply->count >= 2) map.layouts = rv_zalloc_array(reply->count / 2, sizeof(*map.layouts));
    if (reply->count >= 2 && map.layouts == NULL) return false;
    for (size_t i = 0; i + 1 < reply->count; i += 2)
        if (read_field(&map.layouts[map.count], rv_reply_at(reply, i), rv_reply_at(reply, i + 1))) map.count++;
    rv_partition_map_fini(ret);
    *ret = map;
    return true;
}

void rv_partition_map_fini(rv_partition_map *map)
{
    rv_free(map->layouts);
    *map = (rv_partition_map){0};
}

const rv_partition_layout *rv_partition_map_find(const rv_partition_map *map, const char *queue)
{
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->layouts[i].queue, queue) == 0) return &map->layouts[i];
    return NULL;
}

bool rv_partition_map_is_same(const rv_partition_map *map, const rv_partition_map *other)
{
    if (map->count != other->count) return false;
    for (size_t i = 0; i < map->count; i++) {
        const rv_partition_layout *found = rv_partition_map_find(other, map->layouts[i].queue);
        if (found == NULL || found->count != map->layouts[i].count || found->before != map->layouts[i].before ||
            found->served != map->layouts[i].served)
            return false;
    }
    return true;
}

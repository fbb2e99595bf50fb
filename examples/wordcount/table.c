/*
 * table.c - a hash table of words: open addressing, never more than half full.
 */
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 256

static uint64_t hash(const char *text, size_t length)
{
    uint64_t value = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < length; i++) value = (value ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return value;
}

/* Where the word is, or would be. */
static struct word *find(const struct table *table, const char *text, size_t length)
{
    size_t at = (size_t)hash(text, length) & (table->room - 1);

    while (table->slots[at].text != NULL) {
        const struct word *word = &table->slots[at];

        if (word->length == length && memcmp(word->text, text, length) == 0) break;
        at = (at + 1) & (table->room - 1);
    }
    return &table->slots[at];
}

static bool grow(struct table *table)
{
    struct table wider = {.room = table->room > 0 ? 2 * table->room : ROOM_FIRST};

    wider.slots = calloc(wider.room, sizeof(*wider.slots));
    if (wider.slots == NULL) return false;
    for (size_t i = 0; i < table->room; i++) {
        const struct word *word = &table->slots[i];

        if (word->text != NULL) *find(&wider, word->text, word->length) = *word;
    }
    free(table->slots);
    table->slots = wider.slots;
    table->room = wider.room;
    return true;
}

bool table_add(struct table *table, const char *text, size_t length, uint64_t count)
{
    struct word *word;

    if (2 * (table->used + 1) > table->room && !grow(table)) return false;
    word = find(table, text, length);
    if (word->text == NULL) {
        word->text = strndup(text, length);
        if (word->text == NULL) return false;
        word->length = length;
        table->used++;
    }
    word->count += count;
    table->total += count;
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct word *a = *(const struct word *const *)left, *b = *(const struct word *const *)right;

    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    return strcmp(a->text, b->text);
}

bool table_write(const struct table *table, FILE *out)
{
    const struct word **sorted = calloc(table->used + 1, sizeof(*sorted));
    size_t count = 0;

    if (sorted == NULL) return false;
    for (size_t i = 0; i < table->room; i++) {
        if (table->slots[i].text != NULL) sorted[count++] = &table->slots[i];
    }
    qsort(sorted, count, sizeof(*sorted), compare);
    for (size_t i = 0; i < count; i++) fprintf(out, "%" PRIu64 " %s\n", sorted[i]->count, sorted[i]->text);
    free(sorted);
    return true;
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->room; i++) free(table->slots[i].text);
    free(table->slots);
}

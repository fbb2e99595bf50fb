/*
 * table.h - words, and how often each was seen.
 */
#ifndef WORDCOUNT_TABLE_H
#define WORDCOUNT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WORD_MAX 100 /* a longer run of letters is no word (encoded data, as a rule): nothing has to hold it */

struct word {
    char *text;
    size_t length;
    uint64_t count;
};

struct table {
    struct word *slots; /* a hash table: text NULL where there is none */
    size_t room;        /* a power of two, or 0 */
    size_t used;
    uint64_t total; /* of all counts */
};

/* Zero a table to begin with. false: no memory, the table is as it was. */
bool table_add(struct table *table, const char *text, size_t length, uint64_t count);

/* Writes a line "COUNT WORD" for each, the most frequent first, then by word. false: no memory. */
bool table_write(const struct table *table, FILE *out);

void table_free(struct table *table);

#endif

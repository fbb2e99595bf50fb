#include "base/chunks.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

struct rv_chunks {
    rv_chunks *next;
    max_align_t data[];
};

void *rv_chunks_add(rv_chunks **list, size_t size)
{
    if (size > SIZE_MAX - sizeof(rv_chunks)) return NULL;
    rv_chunks *made = rv_alloc(sizeof(*made) + size);
    if (made == NULL) return NULL;
    made->next = *list;
    *list = made;
    return made->data;
}

char *rv_chunks_add_copy(rv_chunks **list, const void *data, size_t length)
{
    char *copy = length < SIZE_MAX ? rv_chunks_add(list, length + 1) : NULL;
    if (copy == NULL) return NULL;
    if (length > 0) memcpy(copy, data, length);
    copy[length] = '\0';
    return copy;
}

void rv_chunks_free(rv_chunks *list)
{
    while (list != NULL) {
        rv_chunks *next = list->next;
        rv_free(list);
        list = next;
    }
}

#include "support/tree.h"

#include <stdlib.h>
#include <string.h>

#include "support/cmocka.h"

/* All that was made, so that nothing counts as leaked. */
static void **made;
static size_t made_count;

static void free_made(void)
{
    for (size_t i = 0; i < made_count; i++) free(made[i]);
    free(made);
}

static void *make(size_t size)
{
    if (made_count == 0) (void)atexit(free_made);
    made = realloc(made, (made_count + 1) * sizeof(*made));
    assert_non_null(made);
    void *memory = calloc(1, size);
    assert_non_null(memory);
    made[made_count++] = memory;
    return memory;
}

rv_reply *test_reply(rv_reply_type type, const char *text, size_t length, long long number)
{
    rv_reply *reply = make(sizeof(*reply) + length + 1);
    char *copy = (char *)(reply + 1);
    memcpy(copy, text, length);
    *reply = (rv_reply){.type = type, .number = number, .text = copy, .length = length};
    return reply;
}

rv_reply *test_reply_array(size_t count, rv_reply *const *items)
{
    rv_reply *reply = make(sizeof(*reply) + (count + 1) * sizeof(*items));
    *reply = (rv_reply){.type = RV_ARRAY, .text = "", .items = (rv_reply **)(reply + 1), .count = count};
    if (count > 0) memcpy(reply->items, items + 1, count * sizeof(*items));
    return reply;
}

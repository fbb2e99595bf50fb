#include "client/known_queues.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#define KEPT_MS 60000

void rv_known_queues_fini(rv_known_queues *known)
{
    rv_free(known->names);
    *known = (rv_known_queues){0};
}

void rv_known_queues_forget(rv_known_queues *known)
{
    known->count = known->next = 0;
    known->until_ms = 0;
}

void rv_known_queues_renew(rv_known_queues *known, unsigned epoch)
{
    if (known->epoch == epoch && rv_now_ms() < known->until_ms) return;
    rv_known_queues_forget(known);
    known->epoch = epoch;
    known->until_ms = rv_deadline(KEPT_MS);
}

bool rv_known_queues_has(const rv_known_queues *known, const char *queue)
{
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->names[i], queue) == 0) return true;
    return false;
}

static bool make_room(rv_known_queues *known)
{
    if (known->next < known->count) return true;
    void *more = rv_realloc_array(known->names, known->count + 1, sizeof(*known->names));
    if (more == NULL) return false;
    known->names = more;
    known->count++;
    return true;
}

void rv_known_queues_add(rv_known_queues *known, const char *queue)
{
    if (rv_known_queues_has(known, queue) || !make_room(known)) return;
    rv_copy_text(known->names[known->next], sizeof(known->names[0]), queue);
    known->next = (known->next + 1) % RV_KNOWN_QUEUES_MAX;
}

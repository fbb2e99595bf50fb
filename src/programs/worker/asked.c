#include "asked.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "signals.h"

#define KEPT_MAX 64 /* more at once are refused */

static struct {
    pthread_mutex_t lock; /* guards all */
    host_asked list[KEPT_MAX];
    size_t count;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const words[] = {[HOST_ASKED_STOP] = "stop",
                                    [HOST_ASKED_RELOAD] = "reload",
                                    [HOST_ASKED_ROTATE] = "rotate-logs",
                                    [HOST_ASKED_STACK] = "stack"};

bool host_asked_note(void *user, const char *id, const char *request)
{
    size_t which = 0, known = sizeof(words) / sizeof(words[0]), length = strcspn(request, " ");

    (void)user;
    while (which < known && (strlen(words[which]) != length || strncmp(words[which], request, length) != 0)) which++;
    if (which == known) return false;
    rv_lock(&kept.lock);
    bool has_room = kept.count < KEPT_MAX;
    if (has_room) {
        host_asked *asked = &kept.list[kept.count++];
        asked->request = (host_request)which;
        rv_copy_text(asked->id, sizeof(asked->id), id);
        rv_copy_text(asked->thread, sizeof(asked->thread), request + length + strspn(request + length, " "));
    }
    rv_unlock(&kept.lock);
    if (has_room) host_signals_wake();
    return has_room;
}

bool host_asked_take(host_asked *ret)
{
    rv_lock(&kept.lock);
    bool has_one = kept.count > 0;
    if (has_one) {
        *ret = kept.list[0];
        memmove(&kept.list[0], &kept.list[1], --kept.count * sizeof(kept.list[0]));
    }
    rv_unlock(&kept.lock);
    return has_one;
}

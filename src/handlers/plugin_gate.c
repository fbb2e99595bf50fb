/*
 * plugin_gate.c - limits how many handlers of a plugin run at once (reeve_plugin.concurrency); the others wait here.
 */
#include "base/lock.h"
#include "handlers/plugin.h"

reeve_status rv_plugin_gate_init(reeve_plugin_handle *plugin)
{
    if (pthread_mutex_init(&plugin->lock, NULL) != 0) return REEVE_ENOMEM;
    if (pthread_cond_init(&plugin->freed, NULL) != 0) {
        rv_lock_fini(&plugin->lock);
        return REEVE_ENOMEM;
    }
    return REEVE_OK;
}

void rv_plugin_gate_fini(reeve_plugin_handle *plugin)
{
    rv_lock_check(pthread_cond_destroy(&plugin->freed));
    rv_lock_fini(&plugin->lock);
}

bool rv_plugin_gate_enter(reeve_plugin_handle *plugin, bool (*gives_up)(void *context), void *context)
{
    if (plugin->plugin.concurrency == 0) return true;
    rv_lock(&plugin->lock);
    bool waits = gives_up == NULL || !gives_up(context);
    while (waits && plugin->running >= plugin->plugin.concurrency) {
        rv_lock_check(pthread_cond_wait(&plugin->freed, &plugin->lock));
        waits = gives_up == NULL || !gives_up(context);
    }
    if (waits)
        plugin->running++;
    else
        rv_lock_check(pthread_cond_signal(&plugin->freed)); /* passes on a signal that this thread may have consumed */
    rv_unlock(&plugin->lock);
    return waits;
}

void rv_plugin_gate_recheck(reeve_plugin_handle *plugin)
{
    if (plugin->plugin.concurrency == 0) return;
    rv_lock(&plugin->lock);
    rv_lock_check(pthread_cond_broadcast(&plugin->freed));
    rv_unlock(&plugin->lock);
}

void rv_plugin_gate_leave(reeve_plugin_handle *plugin)
{
    if (plugin->plugin.concurrency == 0) return;
    rv_lock(&plugin->lock);
    plugin->running--;
    rv_lock_check(pthread_cond_signal(&plugin->freed));
    rv_unlock(&plugin->lock);
}

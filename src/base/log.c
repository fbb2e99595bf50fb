#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"

#define FIELDS_MAX 24 /* more than any record has; the rest would be left out */

/* Held during the callback: one call at a time, and none to the old callback once reeve_log_set has returned. The last
 * lock in every order: nothing is locked while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static reeve_log_fn callback;                 /* lock */
static _Thread_local bool inside;             /* the thread is in the callback, and so has the lock */
static void *callback_user;                   /* lock */
static _Atomic int min_level = REEVE_LOG_OFF; /* written under lock, read by anyone */

void reeve_log_set(reeve_log_fn fn, void *user, reeve_log_level min)
{
    bool nested = inside;
    if (!nested) pthread_mutex_lock(&lock);
    callback = fn;
    callback_user = user;
    atomic_store_explicit(&min_level, fn == NULL ? REEVE_LOG_OFF : (int)min, memory_order_relaxed);
    if (!nested) pthread_mutex_unlock(&lock);
}

bool rv_log_set_level(reeve_log_level min)
{
    bool nested = inside;
    if (!nested) pthread_mutex_lock(&lock);
    bool has_log = callback != NULL;
    if (has_log) atomic_store_explicit(&min_level, (int)min, memory_order_relaxed);
    if (!nested) pthread_mutex_unlock(&lock);
    return has_log;
}

bool rv_log_on(reeve_log_level level)
{
    return (int)level >= atomic_load_explicit(&min_level, memory_order_relaxed) && level < REEVE_LOG_OFF;
}

static size_t collect(reeve_log_field fields[FIELDS_MAX], va_list pairs)
{
    size_t count = 0;
    while (count < FIELDS_MAX) {
        const char *key = va_arg(pairs, const char *);
        if (key == NULL) break;
        const char *value = va_arg(pairs, const char *);
        fields[count++] = (reeve_log_field){.key = key, .value = value == NULL ? "" : value};
    }
    return count;
}

static void deliver(reeve_log_level level, const char *event, const char *message, const reeve_log_field *fields,
                    size_t count)
{
    reeve_log_record record = {.level = level,
                               .event = event,
                               .message = message == NULL ? "" : message,
                               .fields = fields,
                               .field_count = count};
    if (inside) return;
    pthread_mutex_lock(&lock);
    if (callback != NULL && rv_log_on(level)) {
        record.time_ms = rv_wall_ms(); /* under the lock: times in a log do not run backwards */
        inside = true;
        callback(&record, callback_user);
        inside = false;
    }
    pthread_mutex_unlock(&lock);
}

void rv_log(reeve_log_level level, const char *event, const char *message, ...)
{
    if (!rv_log_on(level)) return;

    reeve_log_field fields[FIELDS_MAX];
    va_list pairs;
    va_start(pairs, message);
    size_t count = collect(fields, pairs);
    va_end(pairs);
    deliver(level, event, message, fields, count);
}

void reeve_log_write(reeve_log_level level, const char *event, const char *message, const reeve_log_field *fields,
                     size_t field_count)
{
    if (!rv_log_on(level) || event == NULL) return;

    reeve_log_field safe[FIELDS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < field_count && count < FIELDS_MAX; i++) {
        if (fields[i].key == NULL) continue;
        safe[count++] = (reeve_log_field){fields[i].key, fields[i].value == NULL ? "" : fields[i].value};
    }
    deliver(level, event, message, safe, count);
}

bool rv_log_level_parse(const char *name, reeve_log_level *ret)
{
    static const char *const names[] = {"debug", "info", "warn", "error", "off"};

    if (name == NULL) return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *ret = (reeve_log_level)i;
        return true;
    }
    return false;
}

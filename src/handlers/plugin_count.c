#include "handlers/plugin_count.h"

#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/lock.h"

typedef struct counter {
    char name[REEVE_COUNTER_NAME_MAX + 1];
    char help[REEVE_COUNTER_HELP_MAX + 1];
    atomic_uint_fast64_t value;
} counter;

static pthread_mutex_t add_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the end of the list */
static counter counters[REEVE_COUNTERS_MAX];
static atomic_size_t counter_count; /* those before it do not change, but for their values */

size_t rv_plugin_count_number(void)
{
    return atomic_load(&counter_count);
}

rv_plugin_counter rv_plugin_count_get(size_t index)
{
    return (rv_plugin_counter){
        .name = counters[index].name, .help = counters[index].help, .value = atomic_load(&counters[index].value)};
}

static counter *find(const char *name)
{
    size_t count = atomic_load(&counter_count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(counters[i].name, name) == 0) return &counters[i];
    return NULL;
}

static bool is_name(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && length <= REEVE_COUNTER_NAME_MAX && name[length] == '\0';
}

/* Another thread may have added it meanwhile. NULL: there is no room. */
static counter *add(const char *name, const char *help)
{
    rv_lock(&add_lock);
    size_t count = atomic_load(&counter_count);
    counter *of = find(name);
    if (of == NULL && count < REEVE_COUNTERS_MAX) {
        of = &counters[count];
        rv_copy_text(of->name, sizeof(of->name), name);
        rv_copy_text(of->help, sizeof(of->help), help == NULL ? "" : help);
        atomic_store(&counter_count, count + 1);
    }
    rv_unlock(&add_lock);
    return of;
}

reeve_status reeve_plugin_count(const char *name, const char *help, uint64_t count)
{
    if (name == NULL || !is_name(name)) return REEVE_EINVAL;
    counter *of = find(name);
    if (of == NULL) of = add(name, help);
    if (of == NULL) return REEVE_ETOOBIG;
    (void)atomic_fetch_add(&of->value, count);
    return REEVE_OK;
}

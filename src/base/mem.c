#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reeve/status.h"

static reeve_memory_hooks hooks; /* all NULL: malloc; fixed from the first allocation on */

/* An allocation looks at one word: whether it is the first ever, and whether a test is counting. */
#define USED 1u
#define COUNTED 2u
static _Atomic unsigned watch;
static _Atomic unsigned long count;
static _Atomic unsigned long fail_at;

static bool may_allocate(void)
{
    unsigned seen = atomic_load_explicit(&watch, memory_order_relaxed);
    if ((seen & USED) == 0) {
        atomic_fetch_or(&watch, USED);
    }
    if ((seen & COUNTED) == 0) return true;
    return atomic_fetch_add(&count, 1) + 1 != atomic_load(&fail_at);
}

/* NULL must mean "out of memory", so nothing asks for zero bytes. */
static size_t at_least_one(size_t size)
{
    return size == 0 ? 1 : size;
}

void *rv_alloc(size_t size)
{
    size = at_least_one(size);
    if (!may_allocate()) return NULL;
    return hooks.allocate == NULL ? malloc(size) : hooks.allocate(size, hooks.user);
}

void *rv_zalloc(size_t size)
{
    size = at_least_one(size);
    if (!may_allocate()) return NULL;
    if (hooks.allocate == NULL) return calloc(1, size);

    void *pointer = hooks.allocate(size, hooks.user);
    if (pointer != NULL) memset(pointer, 0, size);
    return pointer;
}

void *rv_zalloc_array(size_t count_of, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count_of, size, &total)) return NULL;
    return rv_zalloc(total);
}

void *rv_realloc(void *pointer, size_t size)
{
    size = at_least_one(size);
    if (!may_allocate()) return NULL;
    if (hooks.allocate == NULL) return realloc(pointer, size);
    return pointer == NULL ? hooks.allocate(size, hooks.user) : hooks.reallocate(pointer, size, hooks.user);
}

void *rv_realloc_array(void *pointer, size_t count_of, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count_of, size, &total)) return NULL;
    return rv_realloc(pointer, total);
}

char *rv_strdup(const char *text)
{
    return text == NULL ? NULL : rv_strndup(text, strlen(text));
}

char *rv_strndup(const char *text, size_t length)
{
    if (length == SIZE_MAX) return NULL;
    char *copy = rv_alloc(length + 1);
    if (copy == NULL) return NULL;
    if (length > 0) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void *rv_memdup(const void *data, size_t length)
{
    void *copy = rv_alloc(length);
    if (copy != NULL && length > 0) memcpy(copy, data, length);
    return copy;
}

void rv_free(void *pointer)
{
    if (pointer == NULL) return;
    if (hooks.release == NULL) {
        free(pointer);
    } else {
        hooks.release(pointer, hooks.user);
    }
}

unsigned long rv_mem_fail_at(unsigned long nth)
{
    atomic_fetch_or(&watch, COUNTED);
    atomic_store(&fail_at, 0);
    unsigned long made = atomic_exchange(&count, 0);
    atomic_store(&fail_at, nth);
    return made;
}

reeve_status reeve_memory_set(const reeve_memory_hooks *replacement)
{
    static const reeve_memory_hooks none;

    if (replacement == NULL) replacement = &none;
    int set = (replacement->allocate != NULL) + (replacement->reallocate != NULL) + (replacement->release != NULL);
    if (replacement != &none && set != 3) return REEVE_EINVAL;
    if ((atomic_load(&watch) & USED) != 0) return REEVE_EINVAL;

    hooks = *replacement;
    return REEVE_OK;
}

/*
 * mem.h - the one door for memory. Sizes are checked for overflow here; NULL means out of memory, always.
 * Any thread. rv_free(NULL) is fine.
 */
#ifndef RV_MEM_H
#define RV_MEM_H

#include <stddef.h>

void *rv_alloc(size_t size);
void *rv_zalloc(size_t size);                     /* zeroed */
void *rv_zalloc_array(size_t count, size_t size); /* zeroed, overflow checked */
void *rv_realloc(void *pointer, size_t size);
void *rv_realloc_array(void *pointer, size_t count, size_t size);
char *rv_strdup(const char *text);                 /* NULL stays NULL */
char *rv_strndup(const char *text, size_t length); /* copies length bytes and adds a zero byte */
void *rv_memdup(const void *data, size_t length);
void rv_free(void *pointer);

/*
 * For tests: the nth allocation from now (1: the next) and only it fails; 0 switches that off. Returns how many
 * allocations were made since the last call; counting begins with the first call. Process-wide.
 */
unsigned long rv_mem_fail_at(unsigned long nth);

#endif

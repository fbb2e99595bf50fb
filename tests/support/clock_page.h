/*
 * clock_page.h - what clock.c tells clock_shim.c: a file that both map. Each change is one store into a field that is
 * in use, made after those into fields that are not: a reader never sees half of it.
 */
#ifndef TEST_CLOCK_PAGE_H
#define TEST_CLOCK_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TEST_CLOCK_VARIABLE "REEVE_TEST_CLOCK"

typedef struct test_clock_page {
    _Atomic int64_t frozen_us; /* the time while frozen, since the epoch */
    _Atomic int64_t offset_us; /* added to the real time while it runs */
    _Atomic bool frozen;
} test_clock_page;

#endif

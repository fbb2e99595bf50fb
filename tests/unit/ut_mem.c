/* ut_mem.c - the door for memory: sizes, hooks, injected failures. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "reeve/status.h"

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    assert_null(rv_zalloc_array(SIZE_MAX / 2 + 1, 2));
    assert_null(rv_zalloc_array(SIZE_MAX, SIZE_MAX));
    assert_null(rv_strndup("x", SIZE_MAX));

    char *kept = rv_alloc(8);
    assert_non_null(kept);
    kept[0] = 'k';
    assert_null(rv_realloc_array(kept, SIZE_MAX / 8 + 1, 8));
    assert_int_equal(kept[0], 'k');
    rv_free(kept);
}

static void zero_bytes_are_not_out_of_memory(void **state)
{
    (void)state;
    void *nothing = rv_alloc(0);
    assert_non_null(nothing);
    nothing = rv_realloc(nothing, 0);
    assert_non_null(nothing);
    rv_free(nothing);

    void *empty = rv_zalloc_array(0, 16);
    assert_non_null(empty);
    rv_free(empty);

    void *copy = rv_memdup(NULL, 0);
    assert_non_null(copy);
    rv_free(copy);
    rv_free(NULL);
}

static void zeroed_memory_is_zero(void **state)
{
    (void)state;
    static const unsigned char zero[4096];
    for (int i = 0; i < 20; i++) {
        unsigned char *data = rv_zalloc_array(64, 64);
        assert_memory_equal(data, zero, sizeof(zero));
        memset(data, 0xff, sizeof(zero));
        rv_free(data);
    }
}

static void copies_are_equal_and_end_in_zero(void **state)
{
    (void)state;
    assert_null(rv_strdup(NULL));

    char *whole = rv_strdup("manor");
    assert_string_equal(whole, "manor");
    char *part = rv_strndup("manor", 3);
    assert_string_equal(part, "man");
    char *bytes = rv_memdup("a\0b", 3);
    assert_memory_equal(bytes, "a\0b", 3);
    char *inside = rv_strndup("a\0b", 3);
    assert_memory_equal(inside, "a\0b", 4);

    rv_free(whole);
    rv_free(part);
    rv_free(bytes);
    rv_free(inside);
}

static void only_the_nth_allocation_fails(void **state)
{
    (void)state;
    rv_mem_fail_at(3);
    void *first = rv_alloc(1);
    void *second = rv_zalloc(1);
    void *third = rv_realloc(first, 100);
    void *fourth = rv_strdup("x");
    assert_non_null(first);
    assert_non_null(second);
    assert_null(third);
    assert_non_null(fourth);
    assert_int_equal(rv_mem_fail_at(0), 4);
    assert_int_equal(rv_mem_fail_at(0), 0);

    rv_free(first);
    rv_free(second);
    rv_free(fourth);
    rv_mem_fail_at(1);
    assert_null(rv_alloc(1));
    rv_mem_fail_at(0);
    void *last = rv_alloc(1);
    assert_non_null(last);
    rv_free(last);
}

#define THREADS 4
#define ROUNDS 2000

static void *allocate_often(void *user)
{
    size_t *failed = user;
    for (int i = 0; i < ROUNDS; i++) {
        void *data = rv_alloc(16);
        *failed += data == NULL;
        rv_free(data);
    }
    return NULL;
}

static void one_failure_falls_to_one_thread(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    size_t failed[THREADS] = {0};

    rv_mem_fail_at(ROUNDS);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_often, &failed[i]), 0);
    }
    size_t total = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        total += failed[i];
    }
    assert_int_equal(rv_mem_fail_at(0), THREADS * ROUNDS);
    assert_int_equal(total, 1);
}

/* ---- hooks: each case in a child, because they are fixed by the first allocation of a process ------------------ */

struct calls {
    int allocated;
    int reallocated;
    int released;
};

static void *count_allocate(size_t size, void *user)
{
    ((struct calls *)user)->allocated++;
    void *data = malloc(size);
    if (data != NULL) memset(data, 0xaa, size);
    return data;
}

static void *count_reallocate(void *pointer, size_t size, void *user)
{
    ((struct calls *)user)->reallocated++;
    return realloc(pointer, size);
}

static void count_release(void *pointer, void *user)
{
    ((struct calls *)user)->released++;
    free(pointer);
}

static struct calls calls;
static const reeve_memory_hooks counting = {count_allocate, count_reallocate, count_release, &calls};

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            return 1;                                                       \
        }                                                                   \
    } while (0)

static int hooks_are_called(void)
{
    CHECK(reeve_memory_set(&counting) == REEVE_OK);
    char *zeroed = rv_zalloc(64);
    for (int i = 0; i < 64; i++) CHECK(zeroed[i] == 0);
    char *grown = rv_realloc(zeroed, 128);
    char *fresh = rv_realloc(NULL, 16);
    CHECK(grown != NULL && fresh != NULL);
    rv_free(grown);
    rv_free(fresh);
    rv_free(NULL);
    CHECK(calls.allocated == 2 && calls.reallocated == 1 && calls.released == 2);
    return 0;
}

static int half_a_set_of_hooks_is_refused(void)
{
    reeve_memory_hooks half = counting;
    half.release = NULL;
    CHECK(reeve_memory_set(&half) == REEVE_EINVAL);
    half = counting;
    half.allocate = NULL;
    CHECK(reeve_memory_set(&half) == REEVE_EINVAL);
    half = (reeve_memory_hooks){.user = &calls};
    CHECK(reeve_memory_set(&half) == REEVE_EINVAL);
    rv_free(rv_alloc(1));
    CHECK(calls.allocated == 0);
    return 0;
}

static int null_restores_malloc(void)
{
    CHECK(reeve_memory_set(&counting) == REEVE_OK);
    CHECK(reeve_memory_set(NULL) == REEVE_OK);
    rv_free(rv_alloc(1));
    CHECK(calls.allocated == 0 && calls.released == 0);
    return 0;
}

static int hooks_come_too_late(void)
{
    rv_free(rv_alloc(1));
    CHECK(reeve_memory_set(&counting) == REEVE_EINVAL);
    CHECK(reeve_memory_set(NULL) == REEVE_EINVAL);
    return 0;
}

static void in_a_child(int (*body)(void))
{
    pid_t child = fork();
    if (child == 0) _exit(body());
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void hooks_follow_their_contract(void **state)
{
    (void)state;
    in_a_child(hooks_are_called);
    in_a_child(half_a_set_of_hooks_is_refused);
    in_a_child(null_restores_malloc);
    in_a_child(hooks_come_too_late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_follow_their_contract), /* first: nothing may be allocated before */
        cmocka_unit_test(sizes_that_overflow_are_refused), cmocka_unit_test(zero_bytes_are_not_out_of_memory),
        cmocka_unit_test(zeroed_memory_is_zero),           cmocka_unit_test(copies_are_equal_and_end_in_zero),
        cmocka_unit_test(only_the_nth_allocation_fails),   cmocka_unit_test(one_failure_falls_to_one_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

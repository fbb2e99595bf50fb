/* ut_id.c - UUIDv7: form, order, uniqueness over threads and forks, bad clocks, no randomness; and the rules for names.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/id.h"

/* ---- the outside world, as the test wants it: these stand before the C library's, for this program -------------- */

static bool frozen; /* the wall clock stands still */
static int64_t frozen_ms;
static enum { WHOLE, SHORT_AND_INTERRUPTED, FORBIDDEN } randomness;
static atomic_ulong random_calls;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    if (!frozen || clock != CLOCK_REALTIME) return (int)syscall(SYS_clock_gettime, clock, ret);
    *ret = (struct timespec){.tv_sec = frozen_ms / 1000, .tv_nsec = frozen_ms % 1000 * 1000000};
    return 0;
}

ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    unsigned long call = atomic_fetch_add(&random_calls, 1);
    if (randomness == FORBIDDEN) {
        errno = ENOSYS;
        return -1;
    }
    if (randomness == SHORT_AND_INTERRUPTED) {
        if (call % 2 == 0) {
            errno = EINTR;
            return -1;
        }
        if (length > 7) length = 7;
    }
    return (ssize_t)syscall(SYS_getrandom, buffer, length, flags);
}

static int normal_world(void **state)
{
    (void)state;
    frozen = false;
    randomness = WHOLE;
    return 0;
}

/* ---- the form of an id ----------------------------------------------------------------------------------------- */

static int64_t time_of(const uuid_t id)
{
    int64_t ms = 0;
    for (int i = 0; i < 6; i++) ms = ms << 8 | id[i];
    return ms;
}

static void an_id_is_a_uuid_of_version_7(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++) {
        char text[RV_UUID_LENGTH + 1];
        uuid_t id;
        int64_t before = rv_wall_ms();
        rv_uuid7(text);
        assert_int_equal(strlen(text), RV_UUID_LENGTH);
        assert_int_equal(strspn(text, "0123456789abcdef-"), RV_UUID_LENGTH);
        assert_int_equal(uuid_parse(text, id), 0);
        assert_int_equal(id[6] >> 4, 7);
        assert_int_equal(uuid_variant(id), UUID_VARIANT_DCE);
        assert_in_range(time_of(id), before, rv_wall_ms() + 10); /* a full counter borrows a millisecond */
        assert_true(rv_valid_id(text, RV_UUID_LENGTH));
    }
}

static void expect_ascending(int count)
{
    char previous[RV_UUID_LENGTH + 1];
    char next[RV_UUID_LENGTH + 1];

    rv_uuid7(previous);
    for (int i = 0; i < count; i++) {
        rv_uuid7(next);
        if (strcmp(previous, next) >= 0) fail_msg("%s is followed by %s", previous, next);
        memcpy(previous, next, sizeof(next));
    }
}

static void a_million_ids_ascend(void **state)
{
    (void)state;
    expect_ascending(1000000);
}

static void ids_ascend_while_the_clock_stands(void **state)
{
    (void)state;
    frozen_ms = rv_wall_ms();
    frozen = true;
    expect_ascending(100000);
}

static void ids_ascend_when_the_clock_is_set_back(void **state)
{
    (void)state;
    char before[RV_UUID_LENGTH + 1];
    char after[RV_UUID_LENGTH + 1];
    uuid_t id;

    rv_uuid7(before);
    assert_int_equal(uuid_parse(before, id), 0);
    int64_t before_ms = time_of(id);
    frozen_ms = before_ms - 3600000;
    frozen = true;
    rv_uuid7(after);
    assert_true(strcmp(before, after) < 0);
    expect_ascending(20000);

    rv_uuid7(after);
    assert_int_equal(uuid_parse(after, id), 0);
    assert_in_range(time_of(id), before_ms, before_ms + 11); /* it borrows one for 2048 ids at the most */
}

static void random_bits_differ_within_a_millisecond(void **state)
{
    (void)state;
    char previous[RV_UUID_LENGTH + 1];
    char next[RV_UUID_LENGTH + 1];

    rv_uuid7(previous);
    for (int i = 0; i < 10000; i++) {
        rv_uuid7(next);
        assert_memory_not_equal(previous + 19, next + 19, 17);
        memcpy(previous, next, sizeof(next));
    }
}

static void randomness_is_fetched_in_blocks(void **state)
{
    (void)state;
    char id[RV_UUID_LENGTH + 1];
    atomic_store(&random_calls, 0);
    for (int i = 0; i < 10000; i++) rv_uuid7(id);
    assert_in_range(atomic_load(&random_calls), 100, 500);
}

static void ids_differ_though_randomness_comes_in_pieces(void **state)
{
    (void)state;
    randomness = SHORT_AND_INTERRUPTED;
    atomic_store(&random_calls, 0);
    random_bits_differ_within_a_millisecond(NULL);
    assert_true(atomic_load(&random_calls) > 20000); /* it went on asking: 80000 bytes, 7 in two calls */
    expect_ascending(10000);
}

static void ids_differ_without_randomness(void **state)
{
    (void)state;
    randomness = FORBIDDEN;
    random_bits_differ_within_a_millisecond(NULL);
    expect_ascending(10000);
}

/* ---- uniqueness over threads and forks ------------------------------------------------------------------------- */

#define THREADS 4
#define EACH 50000

typedef char id_text[RV_UUID_LENGTH + 1];

static int by_tail(const void *left, const void *right)
{
    return memcmp((const char *)left + 19, (const char *)right + 19, 17);
}

/* Only the random tail is compared: the same tail at another time is the same random bytes. */
static void expect_unique(id_text *ids, size_t count)
{
    qsort(ids, count, sizeof(*ids), by_tail);
    for (size_t i = 1; i < count; i++) {
        if (by_tail(ids[i - 1], ids[i]) == 0) fail_msg("%s and %s", ids[i - 1], ids[i]);
    }
}

static void *make_ids(void *user)
{
    id_text *ids = user;
    for (size_t i = 0; i < EACH; i++) rv_uuid7(ids[i]);
    return NULL;
}

static void ids_of_threads_differ(void **state)
{
    (void)state;
    id_text *ids = calloc(THREADS * EACH, sizeof(*ids));
    pthread_t threads[THREADS];

    assert_non_null(ids);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, make_ids, ids + i * EACH), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    expect_unique(ids, THREADS * EACH);
    free(ids);
}

static void read_whole(int from, void *target, size_t length)
{
    size_t got = 0;
    while (got < length) {
        ssize_t part = read(from, (char *)target + got, length - got);
        assert_true(part > 0);
        got += (size_t)part;
    }
}

#define FORKED 20

static void ids_of_forked_processes_differ(void **state)
{
    (void)state;
    id_text ids[2 * FORKED];
    int pipe_ends[2];

    rv_uuid7(ids[0]); /* a block is begun */
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < FORKED; i++) rv_uuid7(ids[i]);
        ssize_t length = FORKED * (ssize_t)sizeof(*ids);
        _exit(write(pipe_ends[1], ids, (size_t)length) == length ? 0 : 1);
    }
    assert_true(child > 0);
    for (int i = 0; i < FORKED; i++) rv_uuid7(ids[i]);
    read_whole(pipe_ends[0], ids + FORKED, FORKED * sizeof(*ids));

    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    expect_unique(ids, 2 * FORKED);
}

/* ---- session ids, the unit interval ---------------------------------------------------------------------------- */

static void random_ids_are_16_hex_digits(void **state)
{
    (void)state;
    char previous[RV_RANDOM_LENGTH + 1] = "";
    for (int i = 0; i < 1000; i++) {
        char id[RV_RANDOM_LENGTH + 1];
        rv_random_id(id);
        assert_int_equal(strlen(id), RV_RANDOM_LENGTH);
        assert_int_equal(strspn(id, "0123456789abcdef"), RV_RANDOM_LENGTH);
        assert_string_not_equal(id, previous);
        memcpy(previous, id, sizeof(id));
    }
}

static void units_fill_their_interval(void **state)
{
    (void)state;
    int tenths[10] = {0};
    for (int i = 0; i < 100000; i++) {
        double unit = rv_random_unit();
        assert_true(unit >= 0 && unit < 1);
        tenths[(int)(unit * 10)]++;
    }
    for (int i = 0; i < 10; i++) assert_in_range(tenths[i], 9000, 11000); /* over ten standard deviations */
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

typedef bool (*rule)(const char *text, size_t length);

static void expect_rule(rule valid, size_t max, const char *others)
{
    char text[128];
    memset(text, 'a', sizeof(text));

    assert_false(valid(NULL, 0));
    assert_false(valid("", 0));
    assert_true(valid(text, 1));
    assert_true(valid(text, max));
    assert_false(valid(text, max + 1));
    for (int c = 0; c < 256; c++) {
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool expected = letter || (c != 0 && strchr(others, c) != NULL);
        text[5] = (char)c;
        if (valid(text, 10) != expected) fail_msg("character %d", c);
        if (valid(text + 5, 1) != expected) fail_msg("character %d alone", c);
    }
}

static void names_follow_their_rules(void **state)
{
    (void)state;
    expect_rule(rv_valid_queue, 64, "._-");
    expect_rule(rv_valid_type, 100, "._-:/");
    expect_rule(rv_valid_id, 100, "._-:");
    expect_rule(rv_valid_ns, 64, "._-:");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_a_uuid_of_version_7),
        cmocka_unit_test(a_million_ids_ascend),
        cmocka_unit_test(randomness_is_fetched_in_blocks),
        cmocka_unit_test(random_bits_differ_within_a_millisecond),
        cmocka_unit_test(ids_of_threads_differ),
        cmocka_unit_test(ids_of_forked_processes_differ),
        cmocka_unit_test_teardown(ids_differ_though_randomness_comes_in_pieces, normal_world),
        cmocka_unit_test_teardown(ids_differ_without_randomness, normal_world),
        cmocka_unit_test_teardown(ids_ascend_when_the_clock_is_set_back, normal_world),
        cmocka_unit_test_teardown(ids_ascend_while_the_clock_stands, normal_world),
        cmocka_unit_test(random_ids_are_16_hex_digits),
        cmocka_unit_test(units_fill_their_interval),
        cmocka_unit_test(names_follow_their_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

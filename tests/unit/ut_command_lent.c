/* Bytes that are lent to commands instead of copied: what is sent in the end is the same. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "redis/command.h"
#include "support/cmocka.h"

#define MIN ((size_t)RV_LENT_MIN)

static char value[4 * RV_LENT_MIN];

/* All that is sent, in order. */
static rv_buf whole(const rv_commands *commands)
{
    rv_buf sum;
    size_t at = 0;
    rv_buf_init(&sum, SIZE_MAX / 2);
    for (size_t i = 0; i < commands->lent_count; i++) {
        const rv_lent *lent = &commands->lent[i];
        assert_true(lent->at >= at && lent->at <= commands->out.length);
        rv_buf_add(&sum, commands->out.data + at, lent->at - at);
        rv_buf_add(&sum, lent->data, lent->length);
        at = lent->at;
    }
    rv_buf_add(&sum, commands->out.data + at, commands->out.length - at);
    return sum;
}

static void same(const rv_commands *a, const rv_commands *b)
{
    rv_buf left = whole(a), right = whole(b);
    assert_int_equal(rv_command_check(a, NULL), REEVE_OK);
    assert_int_equal(left.length, right.length);
    assert_memory_equal(left.data, right.data, left.length);
    rv_buf_fini(&left);
    rv_buf_fini(&right);
}

static void build(rv_commands *commands, size_t size, bool lend)
{
    rv_command_begin(commands, 3, NULL);
    rv_command_adds(commands, "SET");
    if (lend) {
        rv_command_lend2(commands, "head", 4, value, size);
    } else {
        rv_command_add2(commands, "head", 4, value, size);
    }
    rv_command_addi(commands, (int64_t)size);
}

static const size_t sizes[] = {0, 1, RV_LENT_MIN - 1, RV_LENT_MIN, 3, RV_LENT_MIN + 1, 4 * RV_LENT_MIN};
enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };

static void build_all(rv_commands *lending, rv_commands *copying)
{
    rv_command_init(lending);
    rv_command_init(copying);
    for (size_t i = 0; i < sizeof(value); i++) value[i] = (char)(i * 7 + i / 251);
    for (size_t i = 0; i < COUNT; i++) {
        build(lending, sizes[i], true);
        build(copying, sizes[i], false);
    }
}

static void the_same_bytes(void **state)
{
    (void)state;
    rv_commands lending, copying;
    build_all(&lending, &copying);
    same(&lending, &copying);
    assert_int_equal(lending.lent_count, 3);
    assert_int_equal(lending.lent_bytes, 6 * MIN + 1);
    assert_true(lending.out.length < MIN + 1000);
    rv_command_clear(&lending);
    assert_int_equal(lending.lent_count, 0);
    assert_int_equal(lending.lent_bytes, 0);
    rv_command_fini(&lending);
    rv_command_fini(&copying);
}

/* Each of them alone, and every second. */
static void repeated(void **state)
{
    (void)state;
    rv_commands lending, copying, again, wanted;
    build_all(&lending, &copying);
    rv_command_init(&again);
    rv_command_init(&wanted);
    for (size_t i = 0; i < COUNT; i++) {
        rv_command_repeat(&again, &lending, i);
        rv_command_repeat(&wanted, &copying, i);
        same(&again, &wanted);
        rv_command_clear(&again);
        rv_command_clear(&wanted);
    }
    for (size_t i = 1; i < COUNT; i += 2) {
        rv_command_repeat(&again, &lending, i);
        rv_command_repeat(&wanted, &copying, i);
    }
    same(&again, &wanted);
    assert_int_equal(again.lent_count, 2);
    rv_command_fini(&lending);
    rv_command_fini(&copying);
    rv_command_fini(&again);
    rv_command_fini(&wanted);
}

static void too_large(void **state)
{
    (void)state;
    rv_commands commands;
    rv_command_init(&commands);
    rv_command_begin(&commands, 1, NULL);
    rv_command_lend2(&commands, "", 0, value, RV_COMMANDS_MAX); /* (it is not looked at) */
    assert_int_equal(rv_command_check(&commands, NULL), REEVE_ETOOBIG);
    rv_command_clear(&commands);
    rv_command_begin(&commands, 1, NULL);
    rv_command_lend2(&commands, "", SIZE_MAX, value, SIZE_MAX);
    assert_int_equal(rv_command_check(&commands, NULL), REEVE_ETOOBIG);
    rv_command_clear(&commands);
    rv_command_begin(&commands, 3, NULL);
    rv_command_lend2(&commands, "", 0, value, RV_COMMANDS_MAX - 1000);
    assert_int_equal(commands.fault, REEVE_OK);
    rv_command_add(&commands, value, 500); /* what is lent counts */
    assert_int_equal(commands.fault, REEVE_OK);
    rv_command_add(&commands, value, 500);
    assert_int_equal(rv_command_check(&commands, NULL), REEVE_ETOOBIG);
    rv_command_fini(&commands);
}

static void one_argument_too_many(void **state)
{
    (void)state;
    rv_commands commands;
    rv_command_init(&commands);
    rv_command_begin(&commands, 1, NULL);
    rv_command_adds(&commands, "PING");
    rv_command_lend2(&commands, "", 0, value, MIN);
    assert_int_equal(rv_command_check(&commands, NULL), REEVE_EINVAL);
    rv_command_fini(&commands);
}

static void no_memory(void **state)
{
    (void)state;
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth = 1;
    for (; status == REEVE_ENOMEM; nth++) {
        rv_commands commands, again;
        rv_command_init(&commands);
        rv_command_init(&again);
        (void)rv_mem_fail_at(nth);
        for (int i = 0; i < 20; i++) build(&commands, MIN, true);
        status = rv_command_check(&commands, NULL);
        for (size_t i = 0; status == REEVE_OK && i < 20; i++) rv_command_repeat(&again, &commands, i);
        (void)rv_mem_fail_at(0);
        if (status == REEVE_OK) status = rv_command_check(&again, NULL);
        rv_command_fini(&commands);
        rv_command_fini(&again);
    }
    assert_int_equal(status, REEVE_OK);
    assert_true(nth > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes),        cmocka_unit_test(repeated),  cmocka_unit_test(too_large),
        cmocka_unit_test(one_argument_too_many), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("ut_command_lent", tests, NULL, NULL);
}

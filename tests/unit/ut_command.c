/* Commands on their way into RESP. */
#include "redis/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "redis/conn.h"
#include "support/cmocka.h"

static void check(const rv_commands *commands, const char *wanted, size_t length)
{
    rv_error error;
    assert_int_equal(rv_command_check(commands, &error), REEVE_OK);
    assert_int_equal(commands->out.length, length);
    assert_memory_equal(commands->out.data, wanted, length);
}

#define CHECK(commands, wanted) check(commands, wanted, sizeof(wanted) - 1)

static void every_kind_of_argument(void **state)
{
    (void)state;
    rv_commands commands;
    rv_command_init(&commands);
    rv_command_begin(&commands, 8, NULL);
    rv_command_adds(&commands, "SET");
    rv_command_add(&commands, "a\0\r\n", 4);
    rv_command_add2(&commands, "pre", 3, "fix", 3);
    rv_command_add(&commands, NULL, 0);
    rv_command_addi(&commands, 0);
    rv_command_addi(&commands, -7);
    rv_command_addi(&commands, INT64_MIN);
    rv_command_addi(&commands, INT64_MAX);
    CHECK(&commands, "*8\r\n$3\r\nSET\r\n$4\r\na\0\r\n\r\n$6\r\nprefix\r\n$0\r\n\r\n$1\r\n0\r\n$2\r\n-7\r\n"
                     "$20\r\n-9223372036854775808\r\n$19\r\n9223372036854775807\r\n");
    rv_command_fini(&commands);
}

static void one_behind_the_other(void **state)
{
    (void)state;
    rv_commands commands;
    rv_command_init(&commands);
    for (int i = 0; i < 1000; i++) {
        rv_command_begin(&commands, 1, NULL);
        rv_command_adds(&commands, "PING");
    }
    assert_int_equal(commands.count, 1000);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(commands.marks[i].offset, i * 14);
        assert_int_equal(rv_command_end(&commands, i), (i + 1) * 14);
    }
    rv_command_clear(&commands);
    assert_int_equal(commands.count, 0);
    assert_int_equal(commands.out.length, 0);
    rv_command_begin(&commands, 1, NULL);
    rv_command_adds(&commands, "PING");
    CHECK(&commands, "*1\r\n$4\r\nPING\r\n");
    rv_command_fini(&commands);
}

static void as_a_connection_builds_them(void **state)
{
    (void)state;
    static const rv_script script = {"s", "return 1", 8, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"};
    rv_url url;
    rv_conn *conn;
    assert_int_equal(rv_url_parse(&url, "unix:///nowhere", NULL), REEVE_OK);
    const rv_conn_options options = {.url = &url};
    assert_int_equal(rv_conn_create(&conn, &options, NULL), REEVE_OK);
    rv_cmd_script(conn, &script, 1, 2);
    rv_args(conn, "key");
    rv_argi(conn, 5);
    rv_arg2(conn, "a", 1, "b", 1);
    assert_int_equal(rv_conn_pending(conn), 1);
    rv_conn_discard(conn);
    assert_int_equal(rv_conn_pending(conn), 0);
    assert_int_equal(rv_conn_exec(conn, 0, NULL, NULL), REEVE_ECONNECT);
    rv_conn_destroy(conn);
    rv_url_fini(&url);
}

static reeve_status outcome(size_t declared, size_t added, size_t then)
{
    rv_commands commands;
    rv_command_init(&commands);
    rv_command_begin(&commands, declared, NULL);
    for (size_t i = 0; i < added; i++) rv_command_adds(&commands, "x");
    if (then > 0) rv_command_begin(&commands, then, NULL);
    for (size_t i = 0; i < then; i++) rv_command_adds(&commands, "x");
    rv_error error;
    reeve_status status = rv_command_check(&commands, &error);
    if (status != REEVE_OK) assert_non_null(strstr(error.text, "number of arguments"));
    rv_command_clear(&commands);
    assert_int_equal(rv_command_check(&commands, NULL), REEVE_OK);
    rv_command_fini(&commands);
    return status;
}

/* One argument too few or too many would shift every reply that follows. */
static void a_wrong_number_of_arguments(void **state)
{
    (void)state;
    assert_int_equal(outcome(2, 2, 1), REEVE_OK);
    assert_int_equal(outcome(2, 1, 0), REEVE_EINVAL);
    assert_int_equal(outcome(2, 1, 1), REEVE_EINVAL);
    assert_int_equal(outcome(2, 3, 0), REEVE_EINVAL);
    assert_int_equal(outcome(0, 0, 0), REEVE_EINVAL);
}

/* One of six bytes, in parts of so many; then another one. */
static reeve_status in_parts(size_t first, size_t second, size_t third, rv_commands *ret)
{
    rv_command_clear(ret);
    rv_command_begin(ret, 2, NULL);
    rv_command_add_parts(ret, 6);
    rv_command_part(ret, "abcdefgh", first);
    rv_command_part(ret, "ABCDEFGH", second);
    rv_command_part(ret, "\0\r\n\0\r\n\0", third);
    rv_command_adds(ret, "x");
    return rv_command_check(ret, NULL);
}

static void an_argument_in_parts(void **state)
{
    (void)state;
    rv_commands commands;
    rv_command_init(&commands);
    assert_int_equal(in_parts(1, 3, 2, &commands), REEVE_OK);
    CHECK(&commands, "*2\r\n$6\r\naABC\0\r\r\n$1\r\nx\r\n");
    assert_int_equal(in_parts(0, 0, 6, &commands), REEVE_OK);
    CHECK(&commands, "*2\r\n$6\r\n\0\r\n\0\r\n\r\n$1\r\nx\r\n");
    static const size_t wrong[][3] = {{1, 3, 1}, {1, 3, 3},        {6, 1, 0},           {7, 0, 0},
                                      {0, 0, 0}, {1, SIZE_MAX, 0}, {1, SIZE_MAX - 1, 0}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(in_parts(wrong[i][0], wrong[i][1], wrong[i][2], &commands), REEVE_EINVAL);
    rv_command_clear(&commands);
    rv_command_begin(&commands, 2, NULL);
    rv_command_add_parts(&commands, 0);
    rv_command_add_parts(&commands, 1);
    rv_command_part(&commands, "y", 1);
    CHECK(&commands, "*2\r\n$0\r\n\r\n$1\r\ny\r\n");
    rv_command_add_parts(&commands, 1); /* one too many */
    assert_int_equal(rv_command_check(&commands, NULL), REEVE_EINVAL);
    rv_command_clear(&commands);
    rv_command_begin(&commands, 1, NULL);
    rv_command_add_parts(&commands, SIZE_MAX);
    assert_int_equal(rv_command_check(&commands, NULL), REEVE_ETOOBIG);
    rv_command_fini(&commands);
}

static void too_large(void **state)
{
    (void)state;
    rv_commands commands;
    rv_error error;
    rv_command_init(&commands);
    rv_command_begin(&commands, 1, NULL);
    rv_command_add(&commands, "", RV_COMMANDS_MAX); /* refused before it is read */
    assert_int_equal(rv_command_check(&commands, &error), REEVE_ETOOBIG);
    rv_command_clear(&commands);
    rv_command_begin(&commands, 1, NULL);
    rv_command_add2(&commands, "", SIZE_MAX, "", SIZE_MAX);
    assert_int_equal(rv_command_check(&commands, &error), REEVE_ETOOBIG);
    rv_command_fini(&commands);
}

static void build(rv_commands *commands, size_t size)
{
    static char value[300000];
    rv_command_begin(commands, 2, NULL);
    rv_command_adds(commands, "ECHO");
    rv_command_add(commands, value, size);
}

static void build_in_parts(rv_commands *commands, size_t size)
{
    static char value[3000];
    rv_command_begin(commands, 1, NULL);
    rv_command_add_parts(commands, size);
    for (size_t i = 0; i < size; i += size / 3) rv_command_part(commands, value, size / 3);
}

static void memory_is_given_back(void **state)
{
    (void)state;
    rv_commands commands;
    rv_command_init(&commands);
    build(&commands, 300000);
    rv_command_clear(&commands);
    assert_true(commands.out.capacity <= 64 * 1024);
    for (int i = 0; i < 3; i++) {
        build(&commands, 300000);
        rv_command_clear(&commands);
    }
    rv_mem_fail_at(0);
    for (int i = 0; i < 100; i++) {
        build(&commands, 300000);
        rv_command_clear(&commands);
    }
    assert_int_equal(rv_mem_fail_at(0), 0);
    build(&commands, 10);
    rv_command_clear(&commands);
    assert_true(commands.out.capacity <= 64 * 1024);
    for (int i = 0; i < 2000; i++) build(&commands, 1);
    rv_command_clear(&commands);
    build(&commands, 1);
    rv_command_clear(&commands);
    assert_true(commands.capacity <= 256);
    rv_command_fini(&commands);
}

static void no_memory(void **state)
{
    (void)state;
    reeve_status status = REEVE_ENOMEM;
    for (unsigned long nth = 1; status == REEVE_ENOMEM; nth++) {
        rv_commands commands;
        rv_command_init(&commands);
        rv_mem_fail_at(nth);
        for (int i = 0; i < 20; i++) {
            build(&commands, 1000);
            build_in_parts(&commands, 3000);
        }
        rv_mem_fail_at(0);
        status = rv_command_check(&commands, NULL);
        rv_command_fini(&commands);
    }
    assert_int_equal(status, REEVE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_argument),      cmocka_unit_test(one_behind_the_other),
        cmocka_unit_test(as_a_connection_builds_them), cmocka_unit_test(a_wrong_number_of_arguments),
        cmocka_unit_test(an_argument_in_parts),        cmocka_unit_test(too_large),
        cmocka_unit_test(memory_is_given_back),        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("ut_command", tests, NULL, NULL);
}

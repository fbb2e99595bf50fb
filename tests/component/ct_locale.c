/* A worker in a program whose locale has a decimal comma. */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/exposition.h"
#include "reeve/workers.h"
#include "support/worker.h"

/* A locale of its own, made from this source: few machines have another one than "C". */
static int use_comma(void **state)
{
    const char *dir = test_redis_dir(test_redis);
    char path[300], command[700];
    (void)state;
    (void)snprintf(path, sizeof(path), "%s/comma", dir);
    FILE *source = fopen(path, "w");
    if (source == NULL) return -1;
    (void)fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n", source);
    (void)fclose(source);
    /* Its exit status is 1 because of warnings: the source has no other categories. */
    (void)snprintf(command, sizeof(command), "localedef -c -i '%s' '%s/xx_XX' >/dev/null 2>&1", path, dir);
    if (system(command) == -1 || setenv("LOCPATH", dir, 1) != 0) return -1;
    return setlocale(LC_ALL, "xx_XX") != NULL && strcmp(nl_langinfo(RADIXCHAR), ",") == 0 ? 0 : -1;
}

static int use_none(void **state)
{
    (void)state;
    return setlocale(LC_ALL, "C") != NULL ? 0 : -1;
}

/* Its record is read as that of a live worker. */
static bool is_listed(void)
{
    reeve_worker_info *list;
    size_t count;
    assert_int_equal(reeve_workers(test_client, &list, &count), REEVE_OK);
    bool found = count == 1 && list[0].utilisation >= 0 && list[0].utilisation <= 1;
    reeve_workers_free(list, count);
    return found;
}

static void a_worker_is_listed(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    TEST_AWAIT(is_listed());
    test_worker_end(worker);
}

static void metrics_have_points(void **state)
{
    rv_buf text;
    rv_exposition out;
    (void)state;
    rv_buf_init(&text, 4096);
    rv_exposition_begin(&out, &text, NULL);
    rv_exposition_gauge(&out, "x", NULL, "An x.", 0.003422);
    assert_non_null(strstr(rv_buf_text(&text), "\nx 0.003422\n"));
    rv_buf_fini(&text);
}

static void numbers_are_written_and_read(void **state)
{
    static const struct {
        double number;
        const char *fixed, *shortest;
    } rows[] = {{0, "0.0000", "0"},        {0.25, "0.2500", "0.25"},
                {-1.5, "-1.5000", "-1.5"}, {1e300, "1.0000000000000001e+300", "1e+300"},
                {1e-9, "0.0000", "1e-09"}, {123456.75, "123456.7500", "123456.75"}};
    static const char *const bad[] = {"", "1,5", " 1.5", "1.5 ", "0x1", "inf", "nan", "1.5.5", "1e999", "."};
    char text[RV_DECIMAL_TEXT];
    double number;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rv_decimal_write_fixed(text, rows[i].number, 4);
        assert_string_equal(text, rows[i].fixed);
        rv_decimal_write(text, rows[i].number, 15);
        assert_string_equal(text, rows[i].shortest);
        assert_true(rv_decimal_read(text, &number));
        assert_true(number >= rows[i].number && number <= rows[i].number);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) assert_false(rv_decimal_read(bad[i], &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_is_listed, use_comma, use_none),
        cmocka_unit_test_setup_teardown(metrics_have_points, use_comma, use_none),
        cmocka_unit_test_setup_teardown(numbers_are_written_and_read, use_comma, use_none),
        cmocka_unit_test(numbers_are_written_and_read),
    };
    return cmocka_run_group_tests_name("ct_locale", tests, test_place_start, test_place_stop);
}

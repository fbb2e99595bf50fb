#include "support/config.h"

#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"

void test_write_file(const char *name, const char *text, size_t length)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

void test_write_text(const char *name, const char *text)
{
    test_write_file(name, text, strlen(text));
}

rv_config *test_config(const char *text)
{
    rv_config_errors errors;
    rv_config *config = NULL;

    test_write_text("good.conf", text);
    rv_config_errors_init(&errors);
    reeve_status status = rv_config_load("good.conf", &config, &errors);
    if (status != REEVE_OK) fail_msg("%s: %s", reeve_status_text(status), rv_buf_text(&errors.text));
    assert_int_equal(errors.count, 0);
    rv_config_errors_fini(&errors);
    return config;
}

/* The file is refused with exactly these lines. */
void test_config_refused_file(const char *name, reeve_status expected, const char *lines)
{
    rv_config_errors errors;
    rv_config *config = (rv_config *)&errors;

    rv_config_errors_init(&errors);
    assert_int_equal(rv_config_load(name, &config, &errors), expected);
    assert_null(config);
    assert_string_equal(rv_buf_text(&errors.text), lines);
    assert_true(errors.count > 0);
    rv_config_errors_fini(&errors);
}

void test_config_refused(const char *text, const char *lines)
{
    test_write_text("bad.conf", text);
    test_config_refused_file("bad.conf", REEVE_EINVAL, lines);
}

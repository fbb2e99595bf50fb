/* ut_hide.c - which bytes of a URL the list of processes still shows, and that the program reads the whole. */
#include <stdlib.h>
#include <string.h>

#include "base/hide.h"
#include "support/cmocka.h"

static const struct {
    const char *text, *shown;
} cases[] = {
    {"redis://h:1/0", "redis://h:1/0"},
    {"--redis=redis://u:pw@h:1", "--redis=redis://u:**@h:1"},
    {"redis://:p@/?a@h", "redis://:*****@h"},
    {"rediss://h?ca=/c&cert=/d&key=/k", "rediss://h?ca=/c&cert=/d&key=/k"},
    {"redis-sentinel://h/m?sentinel_password=pw", "redis-sentinel://h/m?sentinel_password=**"},
    {"redis-sentinel://u:a@h/m?sentinel_user=s&sentinel_password=pw&sentinel_tls=no",
     "redis-sentinel://u:*@h/m?sentinel_user=s&sentinel_password=**&sentinel_tls=no"},
    {"redis-sentinel://h/m?sentinel_password=a@b", "redis-sentinel://h/m?sentinel_password=***"},
    {"redis-sentinel://h/m?sentinel_password=a=b?c&d&sentinel_tls=no",
     "redis-sentinel://h/m?sentinel_password=*****&*&sentinel_tls=no"},
    {"redis-sentinel://h/m?sentinel_passwort=pw", "redis-sentinel://h/m?sentinel_passwort=**"},
    {"redis-sentinel://h:1/m?sentinel_password=a:b@c", "redis-sentinel://h:***************************"},
    {"redis://h?password_file=/f", "redis://h?password_file=/f"},
    {"redis://h?password_command=x", "redis://h?password_command=*"},
    {"redis://h?", "redis://h?"},
    {"redis://h?a", "redis://h?a"},
    {"redis://h?a=", "redis://h?a="},
    {"a?sentinel_password=pw", "a?sentinel_password=pw"},
};

static void secrets_are_hidden(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *shown = strdup(cases[i].text), program[] = "redis://u:p@h";
        char *argv[] = {program, shown, NULL};
        rv_hide_passwords(2, argv);
        assert_string_equal(shown, cases[i].shown);
        assert_string_equal(argv[1], cases[i].text);
        assert_string_equal(program, "redis://u:p@h");
        if (argv[1] != shown) free(argv[1]);
        free(shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_hidden),
    };
    return cmocka_run_group_tests_name("ut_hide", tests, NULL, NULL);
}

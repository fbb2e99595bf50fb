/* ut_web_redact.c - rules that hide members of JSON. */
#include <string.h>

#include "support/cmocka.h"
#include "web/web_redact.h"

static void expect(const char *rules, const char *text, const char *wanted)
{
    rv_buf buf;

    assert_true(web_redact_is_list(rules));
    rv_buf_init(&buf, SIZE_MAX);
    assert_true(web_redact(&buf, rules, text, strlen(text)));
    assert_string_equal(rv_buf_text(&buf), wanted);
    rv_buf_fini(&buf);
}

static void hides_members_by_name(void **state)
{
    (void)state;
    expect("password", "{\"password\":\"x\",\"n\":12345678901234567890}",
           "{\"password\":\"(hidden)\",\"n\":12345678901234567890}");
    expect("password", " { \"a\" : [ { \"PassWord\" : { \"x\" : [1,2] } } , 3 ] } ",
           " { \"a\" : [ { \"PassWord\" : \"(hidden)\" } , 3 ] } ");
    expect("password", "{\"pass\\u0077ord\":1,\"password\":null,\"password\":true}",
           "{\"pass\\u0077ord\":\"(hidden)\",\"password\":\"(hidden)\",\"password\":\"(hidden)\"}");
    expect("password", "{\"a\":\"password\\\":\\\\\",\"b\":\"}\"}", "{\"a\":\"password\\\":\\\\\",\"b\":\"}\"}");
    expect("password", "\xEF\xBB\xBF{\"password\":1}", "\xEF\xBB\xBF{\"password\":\"(hidden)\"}");
    expect("a, *token , x*y*z", "{\"a\":1,\"my_token\":2,\"token\":3,\"tokens\":4,\"xAyBz\":5,\"xyzw\":6}",
           "{\"a\":\"(hidden)\",\"my_token\":\"(hidden)\",\"token\":\"(hidden)\",\"tokens\":4,\"xAyBz\":\"(hidden)\","
           "\"xyzw\":6}");
}

static void hides_members_by_path(void **state)
{
    (void)state;
    expect("card.*", "{\"card\":{\"number\":1,\"owner\":{\"card\":2}},\"x\":{\"number\":1}}",
           "{\"card\":{\"number\":\"(hidden)\",\"owner\":\"(hidden)\"},\"x\":{\"number\":1}}");
    expect("card.number", "[{\"a\":{\"card\":[{\"number\":1}],\"number\":2}}]",
           "[{\"a\":{\"card\":[{\"number\":\"(hidden)\"}],\"number\":2}}]");
    expect("card.number", "{\"number\":1,\"card.number\":2,\"card\":{\"x\":{\"number\":3}}}",
           "{\"number\":1,\"card.number\":\"(hidden)\",\"card\":{\"x\":{\"number\":3}}}");
    expect("a.b.c", "{\"b\":{\"c\":1},\"a\":{\"b\":{\"c\":2}}}",
           "{\"b\":{\"c\":1},\"a\":{\"b\":{\"c\":\"(hidden)\"}}}");
}

static void hides_what_is_no_json(void **state)
{
    char deep[4002];

    (void)state;
    expect("password", "password=x", "(hidden)");
    expect("password", "{\"password\":1", "(hidden)");
    expect("password", "{} {\"password\":1}", "(hidden)");
    expect("password", "", "");
    expect("password", "[]", "[]");
    expect("password", "\"text\"", "\"text\"");
    memset(deep, '[', 2000);
    memset(deep + 2000, ']', 2000);
    deep[4000] = '\0';
    expect("password", deep, "(hidden)"); /* deeper than the parser goes */
}

static void knows_lists_of_rules(void **state)
{
    static const char *const bad[] = {"", " ", "a,", ",a", "a..b", ".a", "a.", "a\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) assert_false(web_redact_is_list(bad[i]));
    assert_true(web_redact_is_list("*, a b ,card.*"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hides_members_by_name),
        cmocka_unit_test(hides_members_by_path),
        cmocka_unit_test(hides_what_is_no_json),
        cmocka_unit_test(knows_lists_of_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

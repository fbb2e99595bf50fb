/* What error replies mean: by their code alone, whatever else they say. */
#include <string.h>

#include "redis/refusal.h"
#include "support/cmocka.h"

static void codes_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        rv_refusal refusal;
    } rows[] = {
        {"READONLY You can't write against a read only replica. script: x, on @user_script:1.", RV_REFUSAL_NODE},
        {"MASTERDOWN Link with MASTER is down", RV_REFUSAL_NODE},
        {"LOADING Redis is loading the dataset in memory", RV_REFUSAL_NODE},
        {"NOREPLICAS Not enough good replicas to write.", RV_REFUSAL_NODE},
        {"CLUSTERDOWN Hash slot not served", RV_REFUSAL_NODE},
        {"MISCONF Errors writing to the AOF file: No space left on device", RV_REFUSAL_NODE},
        {"UNBLOCKED force unblock from blocking operation", RV_REFUSAL_NODE},
        {"NOAUTH Authentication required.", RV_REFUSAL_NODE},
        {"BUSY Redis is busy running a script.", RV_REFUSAL_BUSY},
        {"TRYAGAIN Multiple keys request during rehashing of slot", RV_REFUSAL_BUSY},
        {"NOPERM this user has no permissions to run the 'evalsha' command", RV_REFUSAL_DENIED},
        {"ERR The user executing the script can't run this command or subcommand script: x", RV_REFUSAL_DENIED},
        {"WRONGPASS invalid username-password pair or user is disabled.", RV_REFUSAL_DENIED},
        {"OOM command not allowed when used memory > 'maxmemory'.", RV_REFUSAL_OTHER},
        {"READONLYISH", RV_REFUSAL_OTHER},
        {"ERR unknown command", RV_REFUSAL_OTHER},
        {"BUSYGROUP Consumer Group name already exists", RV_REFUSAL_OTHER},
        {"READONLY", RV_REFUSAL_NODE},
        {"", RV_REFUSAL_OTHER},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const rv_reply reply = {.type = RV_ERROR, .text = rows[i].text, .length = strlen(rows[i].text)};
        if (rv_refusal_of(&reply) != rows[i].refusal) fail_msg("%s: %d", rows[i].text, (int)rv_refusal_of(&reply));
    }
}

static void only_errors_are_refusals(void **state)
{
    (void)state;
    const rv_reply said = {.type = RV_TEXT, .text = "READONLY", .length = 8};
    assert_int_equal(rv_refusal_of(&said), RV_REFUSAL_NONE);
    assert_int_equal(rv_refusal_of(NULL), RV_REFUSAL_NONE);
    assert_true(rv_refusal_passes(RV_REFUSAL_NODE));
    assert_true(rv_refusal_passes(RV_REFUSAL_BUSY));
    assert_false(rv_refusal_passes(RV_REFUSAL_DENIED));
    assert_false(rv_refusal_passes(RV_REFUSAL_OTHER));
    assert_false(rv_refusal_passes(RV_REFUSAL_NONE));
}

static void advice_says_what_to_do(void **state)
{
    (void)state;
    assert_non_null(strstr(rv_refusal_advice("NOPERM this user"), "ACL SETUSER"));
    assert_non_null(strstr(rv_refusal_advice("MISCONF Errors"), "disk"));
    assert_string_equal(rv_refusal_advice("ERR whatever"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_told_apart),
        cmocka_unit_test(only_errors_are_refusals),
        cmocka_unit_test(advice_says_what_to_do),
    };
    return cmocka_run_group_tests_name("ut_refusal", tests, NULL, NULL);
}

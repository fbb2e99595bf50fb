#include "support/script.h"

#include "support/cmd.h"
#include "support/queue.h"

static size_t count_of(const char *const *words)
{
    size_t count = 0;
    while (words[count] != NULL) count++;
    return count;
}

static const char *answer_of(void)
{
    const rv_reply *reply = NULL;
    reeve_status status = rv_conn_call(test_conn, 0, &reply);
    assert_true(status == REEVE_OK || status == REEVE_EREDIS);
    return test_reply_text(reply);
}

const char *test_script_text(const rv_script *script, const char *const *args)
{
    rv_cmd_script(test_conn, script, 1, count_of(args) - 1);
    for (; *args != NULL; args++) rv_args(test_conn, *args);
    return answer_of();
}

const char *test_words_text(const char *const *words)
{
    rv_cmd(test_conn, count_of(words));
    for (; *words != NULL; words++) rv_args(test_conn, *words);
    return answer_of();
}

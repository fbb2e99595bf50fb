#include "support/attempt.h"

#include <stdio.h>

#include "support/cmocka.h"

reeve_test_report *test_attempt(reeve_handler_fn handler, void *user, const reeve_test_options *options)
{
    reeve_test_report *report = reeve_test_run(&(reeve_handler){.run = handler, .user = user}, options);

    assert_non_null(report);
    if (report->status != REEVE_OK) fail_msg("%s", report->message);
    return report;
}

reeve_outcome test_describe(reeve_task *task, void *user)
{
    char text[512];
    const char *group = reeve_task_group(task), *trace = reeve_task_meta(task, "traceparent");
    int length =
        snprintf(text, sizeof(text), "%s %s %s %u %u %lld %s %s %.*s", reeve_task_handle(task), reeve_task_type(task),
                 reeve_task_id(task), reeve_task_attempt(task), reeve_task_crashes(task),
                 (long long)reeve_task_enqueued_ms(task), group ? group : "-", trace ? trace : "-",
                 (int)reeve_task_payload(task).length, (const char *)reeve_task_payload(task).data);

    (void)user;
    return reeve_task_done(task, text, (size_t)length);
}

#include "support/consumer.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

reeve_task *test_pulled[TEST_TASKS];
unsigned test_pulled_count;

reeve_consumer *test_consumer_open(const char *queues, const reeve_consumer_options *given)
{
    char copy[256], *rest = NULL, words[512];
    const char *names[8];
    reeve_consumer *consumer;
    reeve_consumer_options options = given != NULL ? *given : (reeve_consumer_options){0};
    if (options.redis == NULL) options.redis = test_redis_url(test_redis);
    options.queues = names;
    rv_copy_text(copy, sizeof(copy), queues);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        assert_true(options.queue_count < 8);
        names[options.queue_count++] = name;
    }
    if (reeve_consumer_open(&consumer, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    return consumer;
}

const char *test_pull(reeve_consumer *consumer, unsigned max, bool waits)
{
    static char ids[8192];
    size_t end = 0;
    ids[0] = '\0';
    test_good(consumer, reeve_consumer_lease(consumer, test_pulled, max, waits ? 60000 : 0, &test_pulled_count));
    for (unsigned i = 0; i < test_pulled_count; i++)
        end += (size_t)snprintf(ids + end, sizeof(ids) - end, i > 0 ? " %s" : "%s", reeve_task_id(test_pulled[i]));
    return ids;
}

reeve_status test_settle_done(reeve_consumer *consumer, unsigned i, const char *result)
{
    size_t length = result != NULL ? strlen(result) : 0;
    return reeve_consumer_settle(consumer, test_pulled[i], reeve_task_done(test_pulled[i], result, length));
}

const char *test_consumer_session(void)
{
    return test_first_session();
}

#include "support/maintain.h"

#include "base/text.h"
#include "support/queue.h"

#define LIFE_MS 60000
#define CHILDREN_MAX 25 /* as a worker's scheduler has it */

static rv_prefix prefix_of(const char *queue)
{
    rv_prefix prefix;
    rv_keys_set_prefix(&prefix, "reeve", queue);
    return prefix;
}

static const rv_reply *reply_of(void)
{
    const rv_reply *reply = NULL;
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    return reply;
}

rv_maintain_reply test_maintain_only(const char *queue, unsigned max)
{
    const rv_prefix prefix = prefix_of(queue);
    rv_maintain_reply maintained;
    rv_maintain_call_build(test_conn, &prefix, max, LIFE_MS);
    assert_true(rv_maintain_call_read(&maintained, reply_of()));
    return maintained;
}

rv_reap_reply test_reap(const char *queue, unsigned max)
{
    const rv_prefix prefix = prefix_of(queue);
    rv_reap_reply reaped;
    rv_reap_call_build(test_conn, &prefix, max, LIFE_MS);
    assert_true(rv_reap_call_read(&reaped, reply_of()));
    return reaped;
}

rv_fan_reply test_fan(const char *queue, unsigned max)
{
    const rv_prefix prefix = prefix_of(queue);
    rv_fan_reply fanned;
    rv_fan_call_build(test_conn, &prefix, max);
    assert_true(rv_fan_call_read(&fanned, reply_of()));
    return fanned;
}

test_maintained test_maintain(const char *queue, unsigned max)
{
    const rv_maintain_reply reply = test_maintain_only(queue, max);
    test_maintained done = {.more = reply.more || reply.dead,
                            .next_in_ms = reply.next_in_ms,
                            .promoted = reply.promoted,
                            .trimmed = reply.trimmed,
                            .outbox = reply.outbox,
                            .policy = reply.policy,
                            .result_max = reply.result_max,
                            .reply = reply};
    if (reply.dead) {
        const rv_reap_reply reaped = test_reap(queue, max);
        done.recovered = reaped.recovered;
        rv_copy_text(done.session, sizeof(done.session), reaped.session);
    }
    if (reply.ends) {
        const rv_fan_reply fanned = test_fan(queue, max < CHILDREN_MAX ? max : CHILDREN_MAX);
        done.more = done.more || fanned.more;
        done.outbox = fanned.outbox;
    }
    return done;
}

void test_maintain_all(const char *queue)
{
    bool told = false; /* what was told may have made tasks due, of which a notice tells a worker */
    for (int i = 0; i < 1000; i++) {
        const test_maintained done = test_maintain(queue, 200);
        if (!done.more && (told || !done.reply.ends)) return;
        told = !done.more;
    }
    fail_msg("tend does not come to an end");
}

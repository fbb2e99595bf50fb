/* Children are told in steps by whoever cancelled their parent (fan.lua), beside model_maintain.c. */
#include <string.h>

#include "model/model_dependencies.h"
#include "support/queue.h"

enum { QUEUE, MAX };

void model_fan_step_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    if (model.queues[arg[QUEUE]].fan_count == 0) arg[QUEUE] = 1 - arg[QUEUE];
    arg[MAX] = CHOOSE(1, 2, 40, 40);
}

/* The queue that hears of ends by messages, if there is one: it is the other one. */
static bool tells_other(const model_queue *queue)
{
    for (int i = 0; i < queue->message_count; i++)
        if (queue->messages[i].letter == 'E') return true;
    return false;
}

void model_fan_step(const int arg[ARGS])
{
    const model_queue *queue = &model.queues[arg[QUEUE]];
    int max = arg[MAX] < 1 || arg[MAX] > 40 ? 40 : arg[MAX];
    const rv_reply *reply = CALL(fan, arg[QUEUE], model_number(max));
    if (!reply) return;
    if (queue->fan_count > 0) COVER(FAN_TELLS);
    bool more = model_fan_some(arg[QUEUE], max), tells = tells_other(queue);
    if (rv_reply_int(rv_reply_at(reply, 0), -1) != more || reply->count != (tells ? 3 : 2) ||
        rv_reply_int(rv_reply_at(reply, 1), -1) != queue->message_count)
        model_differ("fan says %s", test_reply_text(reply));
    if (tells && !rv_reply_is_text(rv_reply_at(reply, 2), arg[QUEUE] ? "a" : "b"))
        model_differ("fan says %s", test_reply_text(reply));
}

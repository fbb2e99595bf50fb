/*
 * Messages to other queues: some are fetched and carried, and then taken out; or whoever does so dies half way, and
 * they are carried again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_enqueue.h"
#include "support/queue.h"

enum { QUEUE, FETCHED, CARRIED, FLAGS };
enum { DIES = 1 /* before they are taken out */, TWICE = 2, DEAF = 4 /* dies with a parent's answer */ };
enum { STALLS = 8 /* before it carries any */, GOES_ON_LATE = 16, MISREADS = 32, BACK = MODEL_CARRY_BACK };
enum { ROUND = 20 };

void model_carry_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    const model_queue *q = &model.queues[arg[QUEUE]];
    if (q->message_count + q->unread_count == 0) arg[QUEUE] = 1 - arg[QUEUE];
    arg[FETCHED] = CHOOSE(1, 2, ROUND, ROUND);
    arg[CARRIED] = CHOOSE(1, 2, ROUND, ROUND, ROUND);
    arg[FLAGS] = CHOOSE(0, 0, 0, 0, DIES, TWICE, DEAF, STALLS, GOES_ON_LATE, MISREADS, BACK);
}

static void deliver(const char *child, const char *parent, int state, int64_t number)
{
    int handle = model_handle_of(child);
    const rv_reply *reply =
        CALL(deliver, QUEUE_OF(handle), model_id(ID_OF(handle)), parent, model_end_word(state), model_number(number));
    if (!reply) return;
    if (rv_reply_int(reply, -1) != 1) model_differ("deliver says %s", test_reply_text(reply));
    COVER(CARRY_DELIVERS);
    bool reads = model_deliver(handle, model_handle_of(parent), state, number);
    if (state == COMPLETED && !reads) model_heard(handle, model_handle_of(parent), number);
}

static int64_t number_of(const model_message *message)
{
    return strtoll(message->text + 2, NULL, 10);
}

static void link(const model_message *message, const char *child, const char *parent, const char *policy, bool deaf)
{
    bool adds = message->letter == 'R';
    int one = model_handle_of(parent), other = model_handle_of(child);
    int64_t number = number_of(message);
    const rv_reply *reply = CALL(link, QUEUE_OF(one), adds ? "register" : "unregister", model_id(ID_OF(one)), child,
                                 policy, model_number(number), model_number(message->floor));
    if (!reply) return;
    bool is_new = model_receive(QUEUE_OF(one), QUEUE_OF(other), number, message->floor);
    const model_edge_sent edge = {one, policy[0], policy[0] ? policy[1] : '\0'};
    int ended = NONE;
    bool undone = adds && is_new && model_is_undone(QUEUE_OF(one), QUEUE_OF(other), other, one, number);
    if (undone) COVER(CARRY_UNDONE);
    int replacement = adds && is_new && !undone && model_task_of(QUEUE_OF(one), ID_OF(one))->state == NONE
                          ? model_last_replacement(QUEUE_OF(one), ID_OF(one))
                          : -1;
    if (replacement >= 0) {
        model_send(QUEUE_OF(one), 'M', "%s %s %lld %s", child, parent, (long long)number, model_id(replacement));
        COVER(REPLACEMENT_AGAIN);
        if (!rv_reply_is_text(reply, "")) model_differ("link says %s of %s", test_reply_text(reply), message->words);
        return;
    }
    if (adds && !is_new)
        ended = model_answer(QUEUE_OF(one), QUEUE_OF(other), number);
    else if (adds && !undone)
        ended = model_register(one, other, &edge, number, NULL);
    else if (!adds && is_new)
        model_unregister(one, other, number);
    if (!adds && is_new) model_undone(QUEUE_OF(one), QUEUE_OF(other), other, one, number);
    /* By another rule it may be told no more. */
    if (adds && is_new && ended != NONE) model_unregister(one, other, number);
    if (adds && is_new && ended == COMPLETED && model_task_of(QUEUE_OF(one), ID_OF(one))->state != NONE)
        model_add_reader(one, other, number);
    if (adds && is_new) model_answered(QUEUE_OF(one), QUEUE_OF(other), ended);
    if (!rv_reply_is_text(reply, ended == NONE ? "" : model_end_word(ended)))
        model_differ("link says %s of %s", test_reply_text(reply), message->words);
    if (adds && ended == NONE) COVER(CARRY_REGISTERS);
    if (!adds) COVER(CARRY_UNREGISTERS);
    if (ended != NONE && !deaf) {
        COVER(CARRY_ANSWERS);
        deliver(child, parent, ended, number);
    }
}

/* Who has ended does not read any more. */
static void release(const model_message *message, const char *child, const char *parent, int64_t edge)
{
    int one = model_handle_of(parent), other = model_handle_of(child);
    int64_t number = number_of(message);
    const rv_reply *reply = CALL(link, QUEUE_OF(one), "release", model_id(ID_OF(one)), child, model_number(edge),
                                 model_number(number), model_number(message->floor));
    if (!reply) return;
    if (!rv_reply_is_text(reply, "")) model_differ("link says %s of %s", test_reply_text(reply), message->words);
    if (model_receive(QUEUE_OF(one), QUEUE_OF(other), number, message->floor)) model_reader_leaves(one, other, edge);
}

/* Another task has taken the parent's place. */
static void move(const char *child, const char *parent, int64_t edge, const char *replacement)
{
    int handle = model_handle_of(child);
    const rv_reply *reply =
        CALL(deliver, QUEUE_OF(handle), model_id(ID_OF(handle)), parent, "moved", model_number(edge), replacement);
    if (!reply) return;
    if (rv_reply_int(reply, -1) != 1) model_differ("deliver says %s", test_reply_text(reply));
    model_inherit(handle, model_handle_of(parent), edge, model_id_of(replacement));
}

static void carry(const model_message *message, bool deaf)
{
    char child[32], parent[32], word[32] = "";
    long long edge = 0;
    if (message->letter == 'T') {
        model_incoming one = message->incoming;
        one.task.enqueued_ms = model.now_ms;
        if (one.delay_ms) one.due_ms = model.now_ms + one.delay_ms;
        model_enqueue_carried(message->queue, &one, message);
        COVER(CARRY_TASK);
        return;
    }
    if (message->letter == 'M') {
        if (sscanf(message->words, "%31s %31s %lld %31s", child, parent, &edge, word) < 4)
            model_differ("a message %s", message->words);
        move(child, parent, edge, word);
        return;
    }
    if (message->letter == 'D') {
        if (sscanf(message->words, "%31s %31s %lld", child, parent, &edge) < 3)
            model_differ("a message %s", message->words);
        release(message, child, parent, edge);
        return;
    }
    if (sscanf(message->words, "%31s %31s %31s %lld", child, parent, word, &edge) < 2)
        model_differ("a message %s", message->words);
    if (message->letter == 'E')
        deliver(child, parent, model_end_of(word), edge);
    else
        link(message, child, parent, word, deaf);
}

static int compare_numbers(const void *one, const void *other)
{
    int64_t a = number_of(one), b = number_of(other);
    return (a > b) - (a < b);
}

static void put_back(model_queue *q)
{
    if (q->unread_count == 0) return;
    if (q->message_count + q->unread_count > MESSAGES) model.full = true;
    if (model.full) return;
    memcpy(&q->messages[q->message_count], q->unread, (size_t)q->unread_count * sizeof(q->unread[0]));
    q->message_count += q->unread_count;
    q->unread_count = 0;
    qsort(q->messages, (size_t)q->message_count, sizeof(q->messages[0]), compare_numbers);
    COVER(CARRY_BACK);
}

/* The first messages, as they are now; the queue's own change meanwhile. Returns how many. */
static int fetch(int queue, int max, bool back, model_message *ret)
{
    model_queue *q = &model.queues[queue];
    char what[32];
    (void)snprintf(what, sizeof(what), "%d 0 0 %d", max, back ? MESSAGES : 0);
    const rv_reply *reply = CALL(outbox, queue, what);
    if (!reply) return 0;
    if (back) put_back(q);
    int count = q->message_count < max ? q->message_count : max;
    int64_t floor = count > 0 ? number_of(&q->messages[0]) : 0;
    if (count > 0 && q->unread_count && number_of(&q->unread[0]) < floor) floor = number_of(&q->unread[0]);
    if ((int)reply->count != 1 + count) model_differ("outbox has %zu messages, not %d", reply->count, count);
    if (!rv_reply_is_text(rv_reply_at(reply, 0), model_number(floor)))
        model_differ("outbox says %s, and the lowest is %lld", test_reply_text(reply), (long long)floor);
    for (int i = 0; i < count; i++) {
        ret[i] = q->messages[i];
        ret[i].floor = floor;
        ret[i].source = queue;
        if (!rv_reply_is_text(rv_reply_at(reply, (size_t)i + 1), ret[i].text))
            model_differ("outbox says %s, not %s", test_reply_text(rv_reply_at(reply, (size_t)i + 1)), ret[i].text);
    }
    return count;
}

static void set_aside(model_queue *q, const model_message *message)
{
    if (q->unread_count == MESSAGES) model.full = true;
    if (model.full) return;
    q->unread[q->unread_count++] = *message;
    qsort(q->unread, (size_t)q->unread_count, sizeof(q->unread[0]), compare_numbers);
    COVER(CARRY_MISREAD);
}

static void take_out(int queue, const model_message *carried, int count, bool misread)
{
    model_queue *q = &model.queues[queue];
    char what[32];
    (void)snprintf(what, sizeof(what), "1 0 %d", misread ? count : 0);
    model_begin(&rv_script_outbox);
    model_key(queue);
    model_arg_text(what);
    for (int i = 0; i < count; i++) model_arg_text(carried[i].text);
    if (!model_call()) return;
    for (int i = 0; i < count; i++) {
        int at = 0;
        while (at < q->message_count && strcmp(q->messages[at].text, carried[i].text) != 0) at++;
        if (at == q->message_count) continue;
        if (misread) set_aside(q, &q->messages[at]);
        q->message_count--;
        memmove(&q->messages[at], &q->messages[at + 1], (size_t)(q->message_count - at) * sizeof(q->messages[0]));
    }
}

/* Somebody fetches messages and is frozen; what he carries when he is not any more was carried long ago. */
static void stall(int queue, int max)
{
    static model_message messages[ROUND];
    int count = fetch(queue, max, false, messages);
    model.stalled_count = 0;
    for (int i = 0; i < count && model.stalled_count < STALLED; i++) model.stalled[model.stalled_count++] = messages[i];
}

static void go_on_late(void)
{
    for (int i = 0; i < model.stalled_count && !model.words[0]; i++) carry(&model.stalled[i], false);
    if (model.stalled_count) COVER(CARRY_STALLED);
    model.stalled_count = 0;
}

void model_carry(const int arg[ARGS])
{
    static model_message messages[ROUND];
    if (arg[FLAGS] & GOES_ON_LATE) {
        go_on_late();
        return;
    }
    if (arg[FLAGS] & STALLS) {
        stall(arg[QUEUE], arg[FETCHED] < ROUND ? arg[FETCHED] : ROUND);
        return;
    }
    int fetched = fetch(arg[QUEUE], arg[FETCHED] < ROUND ? arg[FETCHED] : ROUND, arg[FLAGS] & BACK, messages);
    int carried = fetched < arg[CARRIED] ? fetched : arg[CARRIED];
    if (fetched == 0) COVER(CARRY_NOTHING);
    if (arg[FLAGS] & MISREADS) {
        take_out(arg[QUEUE], messages, carried, true);
        return;
    }
    for (int i = 0; i < carried && !model.words[0]; i++) {
        carry(&messages[i], arg[FLAGS] & DEAF);
        if (arg[FLAGS] & TWICE) carry(&messages[i], false);
    }
    if (carried > 0 && arg[FLAGS] & (DIES | DEAF)) COVER(CARRY_DIES);
    if (carried > 0 && !(arg[FLAGS] & (DIES | DEAF))) take_out(arg[QUEUE], messages, carried, false);
}

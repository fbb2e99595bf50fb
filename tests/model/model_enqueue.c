/* Tasks come: by ones and in bulk, now and later, with taken ids and taken keys, sent once and again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_enqueue.h"
#include "model/model_segment.h"
#include "support/queue.h"

#define TAGS_SENT "\"tags\":[\"w\",\"x\"]"

/* A call of some tasks: ids from `first` on, `step` apart (0: all the same). UNIQUE: the key; KIND: what else there is.
 */
enum { QUEUE, FIRST, COUNT, STEP, WHEN, PRIORITY, GROUP, FLAGS, UNIQUE, MORE, AFTER, BY };
enum {
    PLAIN_HALF = 1,
    TWICE = 2,
    LOST_BEFORE = 4,
    IS_LARGE = 8,
    SAYS_WHEN = 16,
    IN_DETAIL = 32,
    TO_IDLE = 64,
    BULK_INSERT = 128,
    AGO = 256,      /* sent again: a second after the first copy */
    LONG_AGO = 512, /* ... a day */
    /* and says what Redis's clock said then, which has run on since, or was moved */
    SAYS_CLOCK = 1024,
    MOVED_BACK = 2048,
    MOVED_ON = 4096,
    MIXED = 8192 /* of three, one has parents, one a key, and one both; the parents are of the call */
};
/* Of UNIQUE: a key, then how long it is held, then what happens on a conflict, then whether each has a key of its own.
 */
enum { HELD = 4, CONFLICT = 12, OWN = 36 };
/* Of MORE. */
enum {
    IS_S = 1,
    IS_TAGGED = 2,
    ON_DEATH = 4 /* times 0 to 2 */,
    IS_KEPT = 12,
    COSTS = 24,
    HAS_KEYS = 48 /* times 0 to 3 */
};

/* How many are new, from the first on. */
static int count_new(const int arg[ARGS])
{
    int count = 0;
    bool seen[IDS] = {false};
    for (int id = arg[FIRST]; count < MODEL_CALL_MAX && !seen[id]; id = (id + arg[STEP]) % IDS, count++) {
        if (model_task_of(arg[QUEUE], id)->state != NONE) break;
        seen[id] = true;
    }
    return count;
}

/* Several plain tasks, which are mostly new: they make a segment, or go into one. */
static void make_several(int arg[ARGS])
{
    for (int i = COUNT; i < ARGS; i++) arg[i] = 0;
    arg[STEP] = CHOOSE(1, 1, 1, 3, 7, 9, 9, 5, 0);
    arg[COUNT] = 4 + (int)model_chance(MODEL_CALL_MAX - 3);
    arg[FLAGS] = CHOOSE(0, 0, 0, 0, 0, 0, TO_IDLE, TWICE, TWICE, IN_DETAIL, LOST_BEFORE);
    if (model_chance(3) == 0) {
        arg[FLAGS] = BULK_INSERT | CHOOSE(0, 0, 0, TWICE);
        arg[BY] = CHOOSE(0, 0, 0, 1, 2, 3, 4);
    }
    if (model_chance(20) == 0) arg[FLAGS] |= IS_LARGE;
    if (model_chance(8) == 0) arg[GROUP] = CHOOSE(1, 2, 2, 3);
    if (model_chance(3) == 0) arg[MORE] = CHOOSE(IS_S, ON_DEATH), arg[FLAGS] |= PLAIN_HALF; /* (not all alike) */
    if (model_chance(6) == 0 || arg[STEP] % 5 == 0) return;
    for (int i = 0; i < IDS && count_new(arg) < 4; i++) arg[FIRST] = (arg[FIRST] + 1) % IDS;
    int max = count_new(arg);
    if (max < 4) return;
    arg[COUNT] = CHOOSE(4, 4, 5, max);
    if (arg[COUNT] > max) arg[COUNT] = max;
}

/* Tasks that are each other's parents, some of which may be refused for their key, or replace others. */
static void make_mixed(int arg[ARGS])
{
    arg[COUNT] = CHOOSE(2, 3, 3, 4, 6);
    arg[STEP] = CHOOSE(1, 1, 1, 1, 3);
    arg[FLAGS] |= MIXED;
    arg[AFTER] = 0;
    for (int i = CHOOSE(1, 1, 2); i > 0; i--) {
        int parent = HANDLE(arg[QUEUE], (arg[FIRST] + (int)model_chance((unsigned)arg[COUNT]) * arg[STEP]) % IDS);
        arg[AFTER] = arg[AFTER] * EDGE_BASE + EDGE(CHOOSE(FAILS, FAILS, GOES_ON, WAITS, ON_DEATH_OF), parent) +
                     CHOOSE(0, 0, 0, OR_GONE, EXPECTED);
    }
    arg[UNIQUE] = CHOOSE(1, 1, 2) + HELD * CHOOSE(0, 0, 1, 2) + CONFLICT * (int)model_chance(3);
}

/* Whether few records are kept: the record of a task that is sent again may have gone. */
static bool keeps_few(int queue)
{
    const model_queue *q = &model.queues[queue];
    return (q->kept[0] && q->keep_count[0] >= 0 && q->keep_count[0] < 4) ||
           (q->kept[1] && q->keep_count[1] >= 0 && q->keep_count[1] < 4);
}

/* One new task, which names the key for which all contend. */
static void make_contender(int arg[ARGS])
{
    arg[COUNT] = 1;
    arg[UNIQUE] = 1 + HELD * (int)model_chance(3) + CONFLICT * CHOOSE(0, 0, 0, 1, 2);
    arg[FLAGS] &= ~(BULK_INSERT | MIXED);
    for (int i = 0; i < IDS && model_task_of(arg[QUEUE], arg[FIRST])->state != NONE; i++)
        arg[FIRST] = (arg[FIRST] + 1) % IDS;
}

void model_enqueue_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[FIRST] = model_choose_id();
    arg[COUNT] = CHOOSE(1, 1, 1, 2, 3, 6, 6);
    arg[STEP] = CHOOSE(1, 1, 1, 5, 0);
    arg[WHEN] = CHOOSE(0, 0, 0, 0, 0, 0, 1, 100, 5000, 60000, -1, -2, -3000);
    arg[PRIORITY] = CHOOSE(0, 0, 0, 0, 5, -128, 127);
    arg[GROUP] = CHOOSE(0, 0, 0, 1, 2, 3);
    if (mood.segments && model_chance(5) > 0)
        arg[GROUP] = 0;
    else if (mood.limited)
        arg[GROUP] = CHOOSE(0, 1, 1, 1, 2, 3);
    arg[FLAGS] = CHOOSE(0, 0, PLAIN_HALF, TWICE, TWICE | PLAIN_HALF, LOST_BEFORE, SAYS_WHEN);
    if (model_chance(mood.ids == IDS ? 100 : 10) == 0) arg[FLAGS] |= IS_LARGE;
    if (mood.unique && model_chance(2))
        arg[UNIQUE] = CHOOSE(1, 1, 2, 3) + HELD * (int)model_chance(3) + CONFLICT * (int)model_chance(3) +
                      OWN * (int)model_chance(2);
    if (model_chance(4) == 0) arg[BY] = CHOOSE(500, 3000, 3000, 60000, -1, -5000);
    if (model_chance(3) > 0) arg[AFTER] = model_choose_edges();
    if (arg[AFTER] && model_chance(3) == 0) arg[BY] = CHOOSE(3000, 60000);
    if (arg[FLAGS] & IS_LARGE) arg[BY] = 0; /* (how many of these die in a call of maintain depends on its budget) */
    if (mood.dependencies && mood.unique && model_chance(3) == 0) make_mixed(arg);
    if (model_chance(2)) arg[MORE] = CHOOSE(IS_S, IS_TAGGED, ON_DEATH, ON_DEATH, 2 * ON_DEATH);
    if (model_chance(5) == 0) arg[MORE] += IS_KEPT;
    if (mood.limited && (arg[FIRST] + arg[COUNT]) % 3 == 0) arg[MORE] += COSTS;
    if (mood.limited) arg[MORE] += HAS_KEYS * ((arg[FIRST] / 2 + arg[COUNT]) % 5 % 4);
    if (model_chance(3) == 0) arg[FLAGS] |= CHOOSE(IN_DETAIL, TO_IDLE, TO_IDLE);
    if (arg[FLAGS] & (LOST_BEFORE | TWICE)) arg[FLAGS] |= CHOOSE(0, AGO, LONG_AGO);
    if (keeps_few(arg[QUEUE]) && model_chance(2)) arg[FLAGS] = LOST_BEFORE | AGO;
    if (arg[FLAGS] & (AGO | LONG_AGO))
        arg[FLAGS] |= CHOOSE(0, SAYS_CLOCK, SAYS_CLOCK | MOVED_BACK, SAYS_CLOCK | MOVED_ON);
    if (mood.segments && model_chance(2)) make_several(arg);
    if (mood.contested && model_chance(4) > 0) make_contender(arg);
    if (!mood.idles || model_chance(4) == 0) return;
    if (mood.segments && arg[COUNT] >= 4) return;
    for (int i = COUNT; i < ARGS; i++) arg[i] = 0; /* plain, alone, and new */
    arg[COUNT] = 1;
    arg[FLAGS] = CHOOSE(0, 0, TO_IDLE, TO_IDLE, IN_DETAIL);
    for (int i = 0; i < IDS && model_task_of(arg[QUEUE], arg[FIRST])->state != NONE; i++)
        arg[FIRST] = (arg[FIRST] + 1) % IDS;
}

static void describe_unique(const int arg[ARGS], int i, model_incoming *ret)
{
    int key = arg[UNIQUE] % HELD;
    if (key == 0) return;
    if (arg[UNIQUE] / OWN) key = 1 + (key - 1 + i) % UNIQUES;
    ret->task.unique = key;
    ret->task.held = arg[UNIQUE] / HELD % 3;
    ret->conflict = arg[UNIQUE] / CONFLICT % 3;
    if (ret->task.held == FOR_A_TIME) ret->task.hold_ms = arg[FLAGS] & PLAIN_HALF ? 500 : 20000;
    if (ret->task.held == TO_START) ret->task.flagged = true;
}

/* A delay when it is positive, a time when it is negative: one millisecond less is now. */
static void describe_time(const int arg[ARGS], model_incoming *ret)
{
    if (arg[WHEN] == 0) return;
    ret->at = arg[WHEN] < 0;
    ret->due_ms = ret->at ? model.now_ms - arg[WHEN] - 2 : model.now_ms + arg[WHEN];
    if (!ret->at) ret->delay_ms = arg[WHEN];
    if (!(arg[FLAGS] & SAYS_WHEN)) return;
    ret->task.timing = ret->at ? DUE : DELAY;
    ret->task.timing_ms = ret->at ? ret->due_ms : arg[WHEN];
}

static void describe(const int arg[ARGS], int i, model_incoming *ret)
{
    bool plain = arg[FLAGS] & PLAIN_HALF && i % 2 == 1;
    *ret = (model_incoming){.id = (arg[FIRST] + i * arg[STEP]) % IDS};
    ret->task = (model_task){.session = -1, .enqueued_ms = model.now_ms, .serial = ++model.serial};
    ret->task.large = arg[FLAGS] & IS_LARGE && i == 0;
    ret->elapsed_ms = arg[FLAGS] & AGO ? 1000 : arg[FLAGS] & LONG_AGO ? DAY : 0;
    ret->says_clock = arg[FLAGS] & SAYS_CLOCK;
    ret->moved_ms = arg[FLAGS] & MOVED_BACK ? -3600000 : arg[FLAGS] & MOVED_ON ? 3600000 : 0;
    if (plain) return;
    ret->task.priority = arg[PRIORITY];
    ret->task.group = arg[GROUP];
    ret->task.type = (arg[MORE] & IS_S) != 0;
    ret->task.tagged = arg[MORE] & IS_TAGGED;
    ret->task.on_dead = arg[MORE] / ON_DEATH % 3;
    ret->task.limit_keys = arg[MORE] / HAS_KEYS;
    if (arg[MORE] / COSTS % 2) ret->task.cost = ret->id % 2 ? 2 : 9;
    if (arg[MORE] / IS_KEPT % 2) ret->task.keep_ms = ret->id % 2 ? 2000 : 100000;
    ret->edges = arg[FLAGS] & MIXED && i % 3 == 1 ? 0 : arg[AFTER];
    if (arg[FLAGS] & BULK_INSERT) return;
    if (arg[BY] > 0) ret->expires_ms = arg[BY];
    if (arg[BY] < 0) ret->deadline_ms = model.now_ms - arg[BY] - 2;
    if (!(arg[FLAGS] & MIXED) || i % 3 != 0) describe_unique(arg, i, ret);
    describe_time(arg, ret);
}

static void write_edges(int queue, const model_incoming *one, char text[128])
{
    model_edge_sent edges[EDGES_SENT];
    int count = model_edges_of(one->edges, HANDLE(queue, one->id), edges);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        char edge[32];
        (void)snprintf(edge, sizeof(edge), "%s[\"%s\",\"%s\"]", i ? "," : ",\"after\":[", model_handle(edges[i].parent),
                       model_edge_word(&edges[i]));
        strcat(text, edge);
    }
    if (count > 0) strcat(text, "]");
}

void model_write_options(int queue, const model_incoming *one, char options[512])
{
    static const char *const groups[] = {"", ",\"group\":\"g1\"", ",\"group\":\"g2\",\"weight\":3",
                                         ",\"group\":\"g3\",\"weight\":256"};
    static const char *const conflicts[] = {"", ",\"conflict\":\"replace\"", ",\"conflict\":\"debounce\""};
    const model_task *task = &one->task;
    char due[64] = "", priority[32] = "", held[48] = "", unique[128] = "", after[128], by[48] = "", tags[32] = "";
    long long number = one->at ? one->due_ms : one->delay_ms;
    if (one->due_ms) (void)snprintf(due, sizeof(due), ",\"%s\":%lld", one->at ? "at" : "in", number);
    if (task->priority) (void)snprintf(priority, sizeof(priority), ",\"priority\":%d", task->priority);
    if (task->held == TO_START) rv_copy_text(held, sizeof(held), ",\"until\":\"started\"");
    if (task->held == FOR_A_TIME) (void)snprintf(held, sizeof(held), ",\"unique_for\":%lld", (long long)task->hold_ms);
    if (task->unique)
        (void)snprintf(unique, sizeof(unique), ",\"unique\":\"u%d\"%s%s", task->unique, held, conflicts[one->conflict]);
    write_edges(queue, one, after);
    if (task->tagged) rv_copy_text(tags, sizeof(tags), "," TAGS_SENT);
    if (one->expires_ms) (void)snprintf(by, sizeof(by), ",\"expires\":%lld", (long long)one->expires_ms);
    if (one->deadline_ms) (void)snprintf(by, sizeof(by), ",\"deadline\":%lld", (long long)one->deadline_ms);
    (void)snprintf(options, 512, "%s%s%s%s%s%s%s}", due, priority, groups[task->group], unique, after, by, tags);
    options[0] = options[1] ? '{' : '\0'; /* in place of the first comma; with nothing to say it is alone */
}

/* A producer may repeat a tag, which is kept once. */
static const char *repeat_tag(const char *text, const char *from)
{
    static char longer[2 * LARGE + 8];
    const char *tags = strstr(text, from);
    if (tags == NULL) return text;
    int head = (int)(tags - text + (ptrdiff_t)strlen(from) - 1);
    (void)snprintf(longer, sizeof(longer), "%.*s,\"w\"%s", head, text, text + head);
    return longer;
}

/* In detail: each with its options. Else plainly: ids, then the rests of their envelopes. */
static void send_in_detail(int queue, const model_incoming *one)
{
    bool repeats = one->task.tagged && one->task.serial % 3 == 0;
    char options[512];
    model_write_options(queue, one, options);
    model_arg_text(model_id(one->id));
    model_arg_text(repeats ? repeat_tag(options, TAGS_SENT) : options);
    model_arg_text(repeats ? repeat_tag(model_rest(&one->task), TAGS_SENT) : model_rest(&one->task));
    if (repeats) COVER(TAGS_REPEATED);
}

static void send_plainly(const model_incoming *tasks, int count)
{
    for (int i = 0; i < count; i++) model_arg_text(model_id(tasks[i].id));
    for (int i = 0; i < count; i++) model_arg_text(model_rest(&tasks[i].task));
}

static bool have_options(int queue, const model_incoming *tasks, int count)
{
    char options[512];
    for (int i = 0; i < count; i++) {
        model_write_options(queue, &tasks[i], options);
        if (*options) return true;
    }
    return false;
}

/* A task that comes plainly and alone, while nothing is ready, is leased to the thread that came to be idle last. */
static int taker_of(int queue, const model_incoming *one, int count)
{
    if (count != 1 || one->task.large || model.queues[queue].payloads_limited ||
        model_task_of(queue, one->id)->state != NONE)
        return -1;
    return model_count(queue, READY) > 0 ? -1 : model_taker(queue);
}

static void hand_over(model_task *task, int taker)
{
    model_move(task, RUNNING, model.now_ms);
    task->session = taker / THREADS;
    task->thread = taker % THREADS;
    task->handed = true;
    COVER(HAND_TASK);
}

static void check(const model_incoming *one, const rv_reply *actual, int64_t expected)
{
    char unknown[32];
    (void)snprintf(unknown, sizeof(unknown), "unknown %s", one->missing >= 0 ? model_id(one->missing) : "");
    if (one->too_long) {
        if (!rv_reply_is_text(actual, "large 100"))
            model_differ("enqueue says of %s %s, and it is too long", model_id(one->id), test_reply_text(actual));
    } else if (one->missing >= 0) {
        if (!rv_reply_is_text(actual, unknown))
            model_differ("enqueue says of %s %s, not %s", model_id(one->id), test_reply_text(actual), unknown);
    } else if (one->holder >= 0) {
        if (!rv_reply_is_text(actual, model_id(one->holder)))
            model_differ("enqueue says of %s %s, but %s has its key", model_id(one->id), test_reply_text(actual),
                         model_id(one->holder));
    } else if (rv_reply_int(actual, -1) != expected) {
        model_differ("enqueue says of %s %s, not %lld", model_id(one->id), test_reply_text(actual),
                     (long long)expected);
    }
}

/* What is to be said of one task: where all come the common way, the same of all, and of several the time. */
static int64_t expected_of(const model_incoming *one, int count, bool alike, bool handed)
{
    if (handed) return 2;
    return alike && count > 1 ? model.now_ms : one->expected;
}

static void note_outcome(int queue, model_incoming *tasks, int count, model_way way, bool by_ids)
{
    int taker = by_ids && way != COME_LAID ? taker_of(queue, tasks, count) : -1;
    const rv_reply *reply = model_call();
    if (!reply) return;
    model_arrive(queue, tasks, count, way);
    if (taker >= 0) hand_over(model_task_of(queue, tasks->id), taker);
    bool alike = by_ids && rv_reply_is(reply, RV_INT);
    for (int i = 0; i < count; i++)
        check(&tasks[i], alike ? reply : rv_reply_at(reply, (size_t)i),
              expected_of(&tasks[i], count, alike, taker >= 0));
}

void model_enqueue_tasks(int queue, model_incoming *tasks, int count, model_way way)
{
    bool again = way == COME_AGAIN;
    bool plainly = (way == COME_PLAINLY || way == COME_TO_IDLE) && !have_options(queue, tasks, count);
    int segment = plainly ? model_segment_for(queue, tasks, count) : 0;
    for (int i = 0; plainly && i < count; i++) tasks[i].task.segment = segment;
    model_begin(&rv_script_enqueue);
    model_key(queue);
    if (again && tasks->elapsed_ms && tasks->says_clock)
        model_arg("again %lld %lld", (long long)tasks->elapsed_ms,
                  (long long)(model.now_ms - tasks->elapsed_ms - tasks->moved_ms));
    else if (again && tasks->elapsed_ms)
        model_arg("again %lld", (long long)tasks->elapsed_ms);
    else
        model_arg_text(again ? "1" : !plainly ? "0" : way == COME_TO_IDLE && count == 1 ? "idle" : "plain");
    if (plainly) send_plainly(tasks, count);
    for (int i = 0; !plainly && i < count; i++) send_in_detail(queue, &tasks[i]);
    note_outcome(queue, tasks, count, way, plainly);
}

/* One that was received before is said to be there, whatever has become of it. */
void model_enqueue_carried(int queue, model_incoming *task, const model_message *by)
{
    int64_t number = strtoll(by->text + 2, NULL, 10);
    bool is_new = !model_was_received(queue, by->source, number);
    model_begin(&rv_script_enqueue);
    model_key(queue);
    model_arg("carried %c %lld %lld", "ab"[by->source], (long long)number, (long long)by -> floor);
    send_in_detail(queue, task);
    if (is_new) {
        note_outcome(queue, task, 1, COME_CARRIED, false);
        if (!model.words[0]) (void)model_receive(queue, by->source, number, by->floor);
        return;
    }
    const rv_reply *reply = model_call();
    if (!reply) return;
    (void)model_receive(queue, by->source, number, by->floor);
    if (rv_reply_int(rv_reply_at(reply, 0), -1) != 1)
        model_differ("enqueue says %s of what it has received", test_reply_text(reply));
}

/* ---- bulk -------------------------------------------------------------------------------------------------------- */

/* How: the time that they say is now, of before, of long before, or to come; or the script is not called, and they are
 * sent again. */
enum { IN_TIME, LATE, TOO_LATE, TOO_SOON, UNPLACED };

static void lay_one(int queue, const model_incoming *one, const char *list)
{
    const rv_reply *reply;
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "HSET");
    rv_arg2(test_conn, model_prefix(queue), strlen(model_prefix(queue)), "tasks", 5);
    rv_args(test_conn, model_id(one->id));
    rv_args(test_conn, model_envelope(&one->task));
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    (void)test_cmd(test_conn, "RPUSH %s%s %s", model_prefix(queue), list, model_id(one->id));
}

static void enqueue_bulk(int queue, model_incoming *tasks, int count, int how)
{
    static const int64_t ago[] = {0, 700, 5000, -1, 5000};
    bool common = how <= LATE && model_is_common(queue);
    int64_t at_ms = model.now_ms - ago[how];
    int p = 100000000 + model.serial;
    char list[32];
    (void)snprintf(list, sizeof(list), "segment:%d", p);
    for (int i = 0; i < count; i++) {
        tasks[i].task.enqueued_ms = at_ms;
        tasks[i].task.segment = p + 1;
        lay_one(queue, &tasks[i], list);
        if (common || how == UNPLACED) continue;
        tasks[i].task.enqueued_ms = model.now_ms;
        tasks[i].task.segment = 0;
    }
    if (how == UNPLACED) {
        COVER(BULK_INSERT_UNPLACED);
        model_enqueue_tasks(queue, tasks, count, COME_AGAIN);
        return;
    }
    model_begin(&rv_script_enqueue);
    model_key(queue);
    model_arg_text("bulk");
    model_arg("%lld", (long long)at_ms);
    model_arg("%d", p);
    model_arg("%d", count);
    if (common)
        COVER(BULK_INSERT_SEGMENT);
    else
        COVER(BULK_INSERT_TAKEN_UP);
    note_outcome(queue, tasks, count, COME_LAID, common);
}

static bool can_be_bulk(const int arg[ARGS], const model_incoming *tasks)
{
    return arg[FLAGS] & BULK_INSERT && arg[COUNT] >= 4 && model_are_new(arg[QUEUE], tasks, arg[COUNT]) &&
           !have_options(arg[QUEUE], tasks, arg[COUNT]);
}

static model_way way_of(int flags)
{
    if (flags & LOST_BEFORE) return COME_AGAIN;
    if (flags & IN_DETAIL) return COME_IN_DETAIL;
    return flags & TO_IDLE ? COME_TO_IDLE : COME_PLAINLY;
}

void model_enqueue(const int arg[ARGS])
{
    model_incoming tasks[MODEL_CALL_MAX];
    for (int i = 0; i < arg[COUNT]; i++) describe(arg, i, &tasks[i]);
    if (can_be_bulk(arg, tasks))
        enqueue_bulk(arg[QUEUE], tasks, arg[COUNT], arg[BY] % (UNPLACED + 1));
    else
        model_enqueue_tasks(arg[QUEUE], tasks, arg[COUNT], way_of(arg[FLAGS]));
    if (arg[FLAGS] & TWICE) model_enqueue_tasks(arg[QUEUE], tasks, arg[COUNT], COME_AGAIN);
}

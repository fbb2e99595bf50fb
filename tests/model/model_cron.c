/* Recurring entries, and when they fire; a queue's policy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_seen.h"
#include "support/queue.h"

/* ---- entries ------------------------------------------------------------------------------------------------------
 */

enum { QUEUE, VERB, ENTRY, KIND, FLAGS };
enum { TWICE = 1, COMES_PAUSED = 2 };
enum { SET, PAUSE_ENTRY, RESUME, REMOVE, TELL, GET };
/* Of KIND, which is never 0. */
enum { NO_OVERLAP = 1, HAS_PRIORITY = 2, HAS_GROUP = 4, HAS_RUNS = 8, DEFINED = 16 };
enum { RUNS = 3 }; /* of an entry that has them */

void model_cron_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[ENTRY] = (int)model_chance(ENTRIES);
    const model_entry *entry = &model.queues[arg[QUEUE]].entries[arg[ENTRY]];
    arg[VERB] = CHOOSE(SET, SET, SET, PAUSE_ENTRY, RESUME, REMOVE, TELL, GET);
    if (entry->kind) arg[VERB] = CHOOSE(SET, SET, PAUSE_ENTRY, PAUSE_ENTRY, REMOVE, TELL, GET);
    if (entry->kind && !entry->due_ms && model_chance(2)) arg[VERB] = RESUME;
    arg[KIND] = (int)model_chance(16);
    arg[FLAGS] = CHOOSE(0, TWICE, COMES_PAUSED, COMES_PAUSED | TWICE);
}

static const char *entry_name(int entry)
{
    return entry == 0 ? "e0" : "e1";
}

static model_task task_of(int kind)
{
    return (model_task){.session = -1,
                        .enqueued_ms = model.now_ms,
                        .serial = 90000 + kind,
                        .priority = kind & HAS_PRIORITY ? 5 : 0,
                        .group = kind & HAS_GROUP ? 1 : 0};
}

static const char *first_line(int kind)
{
    static char text[256];
    const model_task task = task_of(kind);
    char options[64] = "", priority[24] = "";
    if (task.priority) (void)snprintf(priority, sizeof(priority), ",\"priority\":%d", task.priority);
    if (task.priority || task.group)
        (void)snprintf(options, sizeof(options), ",\"options\":{\"weight\":1%s%s}", priority,
                       task.group ? ",\"group\":\"g1\"" : "");
    (void)snprintf(text, sizeof(text), "{\"spec\":\"every 90s\",\"zone\":\"utc\",\"catch_up\":\"once\"%s%s%s}",
                   kind & HAS_RUNS ? ",\"runs\":3" : "", kind & NO_OVERLAP ? ",\"overlap\":false" : "", options);
    return text;
}

static const char *definition(int kind)
{
    static char text[512];
    const model_task task = task_of(kind);
    (void)snprintf(text, sizeof(text), "%s\n%s", first_line(kind), model_rest(&task));
    return text;
}

/* What is answered to a verb, which is done. */
static int do_verb(const int arg[ARGS])
{
    model_entry *entry = &model.queues[arg[QUEUE]].entries[arg[ENTRY]], before = *entry;
    bool there = before.kind, paused = before.paused;
    if (arg[VERB] == SET) {
        if (before.kind == (arg[KIND] | DEFINED)) return 0;
        entry->kind = arg[KIND] | DEFINED;
        entry->runs = 0;
        if (!there && (arg[FLAGS] & COMES_PAUSED)) {
            paused = true;
            COVER(CRON_NEW_PAUSED);
        }
        entry->paused = paused;
        if (before.ended) COVER(CRON_STARTED_AGAIN);
        if (!paused) entry->due_ms = model.now_ms + 1;
        entry->ended = false;
        if (there)
            COVER(CRON_CHANGED);
        else
            COVER(CRON_NEW);
        return there ? 2 : 1;
    }
    if (!there) return -1;
    if (arg[VERB] == REMOVE) {
        *entry = (model_entry){0};
        COVER(CRON_REMOVED);
        return 1;
    }
    entry->paused = arg[VERB] == PAUSE_ENTRY;
    entry->ended = false;
    entry->due_ms = entry->paused ? 0 : before.due_ms ? before.due_ms : model.now_ms + 1;
    if (arg[VERB] == PAUSE_ENTRY && !paused) COVER(CRON_PAUSED);
    if (arg[VERB] == RESUME && paused) COVER(CRON_RESUMED);
    return paused == (arg[VERB] == RESUME);
}

static const char *stopped_of(const model_entry *entry)
{
    return entry->paused ? "paused" : entry->ended ? "ended" : "";
}

static void check_list(int queue, const rv_reply *reply)
{
    size_t count = 0;
    for (int i = 0; i < ENTRIES; i++) {
        const model_entry *entry = &model.queues[queue].entries[i];
        count += entry->kind > 0;
        for (size_t at = 1; at + 5 < reply->count; at += 6) {
            if (!rv_reply_is_text(reply->items[at], entry_name(i))) continue;
            if (!entry->kind || !rv_reply_is_text(reply->items[at + 1], definition(entry->kind & ~DEFINED)) ||
                rv_reply_int(reply->items[at + 2], 0) != (entry->due_ms ? entry->due_ms : -1) ||
                !rv_reply_is_text(reply->items[at + 3], entry->last ? model_id(entry->last - 1) : "") ||
                !rv_reply_is_text(reply->items[at + 4], entry->runs ? model_number(entry->runs) : "") ||
                !rv_reply_is_text(reply->items[at + 5], stopped_of(entry)))
                model_differ("cron lists %s", test_reply_text(reply));
        }
    }
    if (reply->count != 6 * count + 1 || !rv_reply_is_text(reply->items[0], "0"))
        model_differ("cron lists %s", test_reply_text(reply));
    COVER(CRON_LISTED);
}

static void check_entry(const model_entry *entry, const rv_reply *reply)
{
    bool same = entry->kind ? rv_reply_is_text(rv_reply_at(reply, 0), definition(entry->kind & ~DEFINED)) &&
                                  rv_reply_int(rv_reply_at(reply, 1), 0) == (entry->due_ms ? entry->due_ms : -1) &&
                                  rv_reply_is_text(rv_reply_at(reply, 2), stopped_of(entry))
                            : rv_reply_is(reply, RV_NIL);
    if (!same) model_differ("cron gets %s", test_reply_text(reply));
    COVER(CRON_GOT);
}

void model_cron(const int arg[ARGS])
{
    static const char *const verbs[] = {"set", "pause", "resume", "remove", "list", "get"};
    for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) {
        const char *name = arg[VERB] == TELL ? "0" : entry_name(arg[ENTRY]);
        bool looks = arg[VERB] == TELL || arg[VERB] == GET;
        const rv_reply *reply = looks ? CALL(cron_look, arg[QUEUE], verbs[arg[VERB]], name)
                                      : CALL(cron, arg[QUEUE], verbs[arg[VERB]], name, definition(arg[KIND]),
                                             arg[FLAGS] & COMES_PAUSED ? "paused" : "");
        if (!reply) return;
        if (arg[VERB] == GET) check_entry(&model.queues[arg[QUEUE]].entries[arg[ENTRY]], reply);
        if (arg[VERB] == GET) continue;
        if (arg[VERB] == TELL) {
            check_list(arg[QUEUE], reply);
            continue;
        }
        int expected = do_verb(arg);
        if (expected == -1) COVER(CRON_NONE);
        if (rv_reply_int(reply, -9) != expected)
            model_differ("cron %s says %s, not %d", verbs[arg[VERB]], test_reply_text(reply), expected);
    }
}

/* ---- fire ---------------------------------------------------------------------------------------------------------
 */

enum { WHEN = 1, NEXT = 3, COUNT = 5, FIRST };
enum { AS_DUE, AT_ANOTHER_TIME, RUN_NOW, OF_THE_PAST };

void model_fire_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    for (int queue = 0; queue < QUEUES; queue++)
        for (int i = 0; i < ENTRIES; i++)
            if (model.queues[queue].entries[i].due_ms && model_chance(4)) arg[QUEUE] = queue, arg[ENTRY] = i;
    arg[WHEN] = CHOOSE(AS_DUE, AS_DUE, AS_DUE, AT_ANOTHER_TIME, RUN_NOW, OF_THE_PAST);
    arg[NEXT] = CHOOSE(-1, 1, 1000, 90000);
    arg[COUNT] = arg[WHEN] == RUN_NOW ? 1 : arg[WHEN] == OF_THE_PAST ? CHOOSE(1, 2, 3) : CHOOSE(0, 1, 1, 2, 3);
    arg[FIRST] = model_choose_id();
    arg[FLAGS] = CHOOSE(0, 0, TWICE);
}

static bool overlaps(int queue, const model_entry *entry)
{
    if (!(entry->kind & NO_OVERLAP) || !entry->last) return false;
    model_state state = model_task_of(queue, entry->last - 1)->state;
    return state != NONE && state < COMPLETED;
}

static int make_tasks(const int arg[ARGS], model_entry *entry, int max)
{
    int made = 0;
    for (int i = 0; i < arg[COUNT] && i < max; i++) {
        int id = (arg[FIRST] + i) % IDS;
        model_task *task = model_task_of(arg[QUEUE], id);
        if (task->state != NONE) continue;
        *task = task_of(entry->kind & ~DEFINED);
        if (task->group) model.grouped = true;
        model_move(task, READY, 0);
        if (arg[WHEN] != OF_THE_PAST) entry->last = id + 1;
        made++;
        COVER(FIRE_MAKES);
    }
    return made;
}

static int do_fire(const int arg[ARGS], int64_t due, int64_t next)
{
    model_entry *entry = &model.queues[arg[QUEUE]].entries[arg[ENTRY]];
    bool now = arg[WHEN] == RUN_NOW, past = arg[WHEN] == OF_THE_PAST, slots = !now && !past;
    bool counts = slots && (entry->kind & HAS_RUNS);
    int left = counts ? RUNS - entry->runs : arg[COUNT];
    if (!entry->kind || (slots && entry->due_ms != due)) {
        COVER(FIRE_LATE);
        return -1;
    }
    if (slots) entry->due_ms = next < 0 || (counts && left <= 0) ? 0 : next;
    if (slots && !entry->due_ms) entry->ended = true;
    if (slots && arg[COUNT] == 0) COVER(FIRE_NO_SLOT);
    if (slots && (arg[COUNT] == 0 || (counts && left <= 0))) return 0;
    /* It was made by an earlier call of the same, and its record may have gone since. */
    if (now && entry->last == arg[FIRST] + 1) return 0;
    if (now && model_task_of(arg[QUEUE], arg[FIRST])->state != NONE) return 0;
    if (now) COVER(FIRE_NOW);
    if (!past && overlaps(arg[QUEUE], entry)) {
        COVER(FIRE_OVERLAP);
        return -2;
    }
    int made = make_tasks(arg, entry, left);
    if (counts) entry->runs += made;
    if (counts && made >= left) {
        entry->due_ms = 0;
        entry->ended = true;
        COVER(FIRE_RUNS);
    }
    return made;
}

void model_fire(const int arg[ARGS])
{
    int64_t due = model.queues[arg[QUEUE]].entries[arg[ENTRY]].due_ms + (arg[WHEN] == AT_ANOTHER_TIME ? 1 : 0);
    int64_t next = arg[NEXT] < 0 ? -1 : model.now_ms + arg[NEXT];
    if (arg[WHEN] < RUN_NOW && due == 0) due = model.now_ms;
    for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) {
        model_begin(&rv_script_fire);
        model_key(arg[QUEUE]);
        model_arg_text(entry_name(arg[ENTRY]));
        model_arg_text(arg[WHEN] == RUN_NOW ? "" : arg[WHEN] == OF_THE_PAST ? "past" : model_number(due));
        model_arg_text(model_number(next));
        for (int j = 0; j < arg[COUNT]; j++) model_arg_text(model_id((arg[FIRST] + j) % IDS));
        const rv_reply *reply = model_call();
        if (!reply) return;
        int expected = do_fire(arg, due, next);
        if (rv_reply_int(reply, -9) != expected) model_differ("fire says %s, not %d", test_reply_text(reply), expected);
    }
}

/* ---- what tend says of them ---------------------------------------------------------------------------------------
 */

/* said: {name, when, the first line of its definition, ...}, the first first. */
void model_check_due(int queue, const rv_reply *actual)
{
    const model_entry *entries = model.queues[queue].entries;
    bool swapped = entries[1].due_ms < entries[0].due_ms;
    size_t at = 0;
    for (int i = 0; i < ENTRIES; i++) {
        int entry = swapped ? ENTRIES - 1 - i : i;
        if (entries[entry].due_ms == 0 || entries[entry].due_ms > model.now_ms) continue;
        if (!rv_reply_is_text(rv_reply_at(actual, at), entry_name(entry)) ||
            !rv_reply_is_text(rv_reply_at(actual, at + 1), model_number(entries[entry].due_ms)) ||
            !rv_reply_is_text(rv_reply_at(actual, at + 2), first_line(entries[entry].kind & ~DEFINED)))
            model_differ("tend says that %s are due", test_reply_text(actual));
        at += 3;
        COVER(MAINTAIN_DUE);
    }
    if (actual->count != at) model_differ("tend says that %s are due", test_reply_text(actual));
}

int64_t model_next_entry(int queue)
{
    int64_t next = -1;
    for (int i = 0; i < ENTRIES; i++) {
        int64_t due = model.queues[queue].entries[i].due_ms;
        if (due > model.now_ms && (next < 0 || due < next)) next = due;
    }
    return next;
}

void model_check_entries(int queue, const model_seen_queue *seen)
{
    for (int i = 0; i < ENTRIES; i++) {
        const model_entry *entry = &model.queues[queue].entries[i];
        const char *expected = entry->kind ? definition(entry->kind & ~DEFINED) : "";
        if (strcmp(seen->entries[i].definition, expected) != 0)
            model_differ("%s is %s, not %s", entry_name(i), seen->entries[i].definition, expected);
        if (seen->entries[i].due_ms != entry->due_ms)
            model_differ("%s is due at %lld", entry_name(i), (long long)seen->entries[i].due_ms);
        if (seen->entries[i].runs != entry->runs)
            model_differ("%s made %d tasks, not %d", entry_name(i), seen->entries[i].runs, entry->runs);
        if (seen->entries[i].last != entry->last) model_differ("%s made another task last", entry_name(i));
        if (strcmp(seen->entries[i].stopped, stopped_of(entry)) != 0)
            model_differ("%s is \"%s\", not \"%s\"", entry_name(i), seen->entries[i].stopped, stopped_of(entry));
    }
}

/* ---- policy -------------------------------------------------------------------------------------------------------
 */

enum { ON = 1 };

void model_policy_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[ON] = CHOOSE(0, 1, 1);
}

void model_policy(const int arg[ARGS])
{
    model_look_again();
    (void)test_cmd(test_conn, arg[ON] ? "HSET %ssettings policy " MODEL_POLICY : "HDEL %ssettings policy",
                   model_prefix(arg[QUEUE]));
    model.queues[arg[QUEUE]].policy = arg[ON];
}

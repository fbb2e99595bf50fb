/* A death may call for a task: by the task's own word, else by the queue's. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/model.h"

static bool calls_for_one(int queue, const model_task *task)
{
    if (task->of || task->on_dead == 2) return false;
    return task->on_dead == 1 || model.queues[queue].on_dead;
}

static void forget_beliefs(int id)
{
    for (int hand = 0; hand < HANDS; hand++)
        for (int i = model.hands[hand].belief_count - 1; i >= 0; i--)
            if (model.hands[hand].beliefs[i].id == id) model_disbelieve(hand, i);
}

static bool is_free(int id)
{
    for (int queue = 0; queue < QUEUES; queue++)
        if (model_task_of(queue, id)->state != NONE) return false;
    return true;
}

/* A slot of that name, in which this queue has nothing; -1: it has. */
static int slot_of(int queue, const char *name)
{
    for (int id = IDS; id < SLOTS; id++)
        if (strcmp(model.names[id - IDS], name) == 0) return model_task_of(queue, id)->state == NONE ? id : -1;
    for (int id = IDS; id < SLOTS; id++) {
        if (!is_free(id)) continue;
        forget_beliefs(id);
        rv_copy_text(model.names[id - IDS], sizeof(model.names[0]), name);
        return id;
    }
    model.full = true;
    return IDS;
}

void model_tell_death(int queue, int id)
{
    char name[64];
    int slot = -1;
    const model_task *dead = model_task_of(queue, id);
    if (!calls_for_one(queue, dead)) return;
    (void)snprintf(name, sizeof(name), "%s:dead:%lld", model_id(id), (long long)model.now_ms);
    for (int n = 2; slot < 0; n++) {
        slot = slot_of(queue, name);
        if (slot < 0) (void)snprintf(name, sizeof(name), "%s:dead:%lld:%d", model_id(id), (long long)model.now_ms, n);
        if (slot < 0) COVER(DEATH_AGAIN);
    }
    model_task *task = model_task_of(queue, slot);
    *task = (model_task){.type = 2, .enqueued_ms = model.now_ms, .of = id + 1, .of_type = dead->type};
    task->of_failures = dead->failures;
    task->of_crashes = dead->crashes;
    task->of_error = dead->error;
    model_move(task, READY, 0);
    COVER(DEATH_TOLD);
}

void model_check_payload(const model_task *task, const char *name, const char *envelope)
{
    char texts[7][192], words[160];
    static const char *const types[] = {"t", "s", "d"};
    (void)snprintf(texts[0], sizeof(texts[0]), "\"id\":\"%s\"", model_id(task->of - 1));
    (void)snprintf(texts[1], sizeof(texts[1]), "\"kind\":\"%s\"", model_kind_name(KIND_OF(task->of_error)));
    model_error_words(task->of_error, words);
    for (char *slash = strchr(words, '/'); slash; slash = NULL) *slash = '\0'; /* (cjson escapes it) */
    (void)snprintf(texts[2], sizeof(texts[2]), "\"message\":\"%s", words);
    (void)snprintf(texts[3], sizeof(texts[3]), "\"failures\":%d", task->of_failures);
    (void)snprintf(texts[4], sizeof(texts[4]), "\"crashes\":%d", task->of_crashes);
    (void)snprintf(texts[5], sizeof(texts[5]), "\"type\":\"%s\"", types[task->of_type]);
    (void)snprintf(texts[6], sizeof(texts[6]), "\"at\":%lld", (long long)task->enqueued_ms);
    const char *payload = strchr(envelope, '\n');
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!payload || !strstr(payload, texts[i])) model_differ("%s says %s, not %s", name, envelope, texts[i]);
}

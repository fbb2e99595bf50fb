/* Chance: what the next operation is. All of it follows from the seed and from what there is. */
#include "model/model.h"

model_mood mood;

static uint64_t chance;

unsigned model_chance(unsigned below)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (unsigned)(chance >> 33) % below;
}

int model_choice(const int *from, unsigned count)
{
    return from[model_chance(count)];
}

int model_choose_queue(void)
{
    return mood.queues > 1 && model_chance(3) == 0;
}

int model_choose_id(void)
{
    return (int)model_chance(mood.ids);
}

int model_choose_hand(int queue)
{
    int chosen = (int)model_chance(mood.hands);
    for (int hand = 0; hand < HANDS && model_chance(4) > 0; hand++) {
        if (model.sessions[model.hands[hand].session[queue]].life == DYING) return hand;
        if (model.sessions[model.hands[chosen].session[queue]].life == ABSENT) chosen = hand;
    }
    return chosen;
}

/* Without these nothing happens. */
static bool is_needed(int kind)
{
    return kind == ENQUEUE || kind == TURN || kind == CLOCK || kind == MAINTAIN;
}

static void choose_results(void)
{
    static const int kinds[] = {KEEP, DELETE, SHOW, LIST, BULK_UPDATE};
    mood.dependencies = mood.limited = mood.unique = mood.contested = false;
    for (int i = 0; i < KINDS; i++)
        if (!is_needed(i)) mood.weights[i] /= 4;
    mood.weights[EVENTS] = mood.weights[WAIT] = mood.weights[DEPEND] = mood.weights[CARRY] = mood.weights[FAN] = 0;
    mood.weights[TURN] *= 2;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (model_chance(2)) mood.weights[kinds[i]] += mood.weights[TURN] / 8;
    mood.ids = IDS;
    mood.hands = 1;
}

static void choose_mood(void)
{
    for (int i = 0; i < KINDS; i++) {
        int factor = is_needed(i) ? CHOOSE(2, 2, 4) : CHOOSE(0, 0, 1, 2, 8);
        mood.weights[i] = model_kinds[i].weight * (unsigned)factor;
    }
    mood.ids = (unsigned)CHOOSE(3, 6, IDS, IDS);
    mood.hands = (unsigned)CHOOSE(1, 2, HANDS);
    mood.queues = (unsigned)CHOOSE(1, QUEUES);
    mood.unique = CHOOSE(0, 0, 1);
    mood.contested = CHOOSE(0, 0, 0, 1);
    mood.limited = CHOOSE(0, 1);
    mood.dependencies = CHOOSE(0, 1, 1);
    mood.idles = CHOOSE(0, 1, 1);
    mood.segments = CHOOSE(0, 1, 1);
    if (mood.segments) mood.weights[EVENTS] /= 4;
    if (mood.segments) mood.unique = mood.unique && model_chance(2);
    if (mood.segments && model_chance(2)) mood.weights[KEEP] += 16;
    if (mood.segments && model_chance(2)) mood.weights[DELETE] += 16;
    if (mood.segments && model_chance(2)) {
        static const int kinds[] = {CANCEL, DELETE, RESCHEDULE, BULK_UPDATE, LIST, SHOW};
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) mood.weights[kinds[i]] += 10;
        mood.weights[TURN] /= 2;
        mood.weights[ENQUEUE] *= 2;
    }
    if (mood.contested) {
        mood.unique = true;
        mood.segments = mood.idles = false;
        mood.queues = 1;
        mood.weights[DELETE] += 16;
        mood.weights[CANCEL] += 16;
        mood.weights[ONCE] += 4;
    }
    if (mood.idles && model_chance(2)) mood.limited = false;
    if (!mood.dependencies) mood.weights[DEPEND] = mood.weights[CARRY] = mood.weights[FAN] = 0;
    if (mood.dependencies && model_chance(4) == 0) {
        mood.queues = QUEUES;
        mood.weights[CARRY] += 40;
        mood.weights[DEPEND] += 10;
    }
    if (mood.idles) mood.weights[POP] = mood.weights[POP] / 2 + 24;
    if (mood.idles) mood.weights[CLOCK] /= 2;
    if (mood.idles) mood.weights[DELETE] += 8;
    mood.results = CHOOSE(0, 0, 1);
    if (mood.results) choose_results();
    mood.weights[LIMIT] = mood.limited ? 24 : 0;
    mood.weights[HOLD] = mood.limited ? (unsigned)CHOOSE(0, 8) : 0;
    if (mood.limited) mood.weights[CLOCK] /= 2;
}

void model_seed(uint64_t seed)
{
    chance = seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
    if (chance == 0) chance = 1;
    for (int i = 0; i < 8; i++) (void)model_chance(2);
    choose_mood();
    mood.restricted = seed % 4 == 3;
    mood.budget = seed % 5 == 2;
}

model_op model_make(void)
{
    model_op op = {0};
    unsigned total = 0;
    for (int i = 0; i < KINDS; i++) total += mood.weights[i];
    unsigned point = model_chance(total);
    while (point >= mood.weights[op.kind]) point -= mood.weights[op.kind++];
    model_kinds[op.kind].make(op.arg);
    return op;
}

/*
 * model_limit_state.h - limits, as the operations and the checks see them.
 */
#ifndef TEST_MODEL_LIMIT_STATE_H
#define TEST_MODEL_LIMIT_STATE_H

#include "model/model_seen.h"

enum { NO_LIMIT = -1, NOT_SAID = -2, RATES = 5 };

typedef struct model_rate {
    int count, period, burst;
} model_rate;

/* Rates go by their number in this table; 0: none. */
extern const model_rate model_rates_known[RATES];
void model_rate_text(int rate, char text[32]);

/* The types are behind the groups, and the limit keys behind these. */
extern const char *const model_types[TYPES];
int model_type_key(const model_task *task);
bool model_is_limit_key(int key);
#define MODEL_KEY_BIT(key) (1 << ((key)-GROUPS - TYPES - 1)) /* of a limit key, in limit_keys */
void model_key_text(int key, char text[16]);                 /* "g1", "type:t", "key:a" */
int model_key_of(const char *text);                          /* 0: none */
bool model_has_key(const model_task *task, int key);
bool model_limits_types(int queue); /* a type has a limit */
bool model_limits_keys(int queue);  /* a limit key has one */

int model_running(int queue, int key /* 0: all */);
/* How many tasks may start now. several: in a call for several threads. */
int model_queue_room(int queue, int want, bool several);
int model_group_room(int queue, int group);
/* Of a group of which so many tasks have been started in this turn, and before the last one so many units: they were
 * allowed to. */
bool model_may_group_start(int queue, int group, int started, int units, bool kept); /* kept: it had its slot */
bool model_may_queue_start(int queue, int units);
bool model_has_rate(int queue, const model_task *task); /* its queue, its group or its type */
/* units: of each group, and of the queue; debt: the most of one task, less 1. */
void model_count_started(int queue, const int units[KEYS + 1], int debt);

int64_t model_hold_then(int queue, int scope); /* model_breaker.c */
bool model_tries_then(int queue, int scope);
void model_note_attempt(int queue, const model_task *task, int id, bool failed);
void model_take_over_breakers(int queue, const model_seen_queue *seen);

bool model_is_strict(int queue, int group);
int model_keepers(int queue, int group, bool ready); /* which keep their slots; ready: those that are ready or parked */

/* Which ready tasks are parked, and which parked ones are called, is seen in Redis. */
void model_take_over_parked(int queue, bool may_park);

/* Which of a session's tasks went back is seen in Redis; see model_session.c. */
int model_take_back(int session, int count, bool crashed);

/* The session whose tasks go back now: the first to have expired, and not to be spared. -1: none. *ret_spared: one
 * is. */
int model_dead_session(int queue, const model_upkeep *upkeep, bool *ret_spared);

/* What a flush adds to the day. */
void model_add_stats(int queue);

bool model_is_shut(int queue, const model_seen_queue *seen);
void model_check_limit_state(int queue, const model_seen_queue *seen);

#endif

/*
 * model_look.h - what the parts of looking share: model_look.c reads all keys in one call, and each of the others knows
 * what some of them mean (model_look_tasks.c, model_look_queue.c, model_look_limit_state.c, model_look_dependencies.c).
 */
#ifndef TEST_MODEL_LOOK_H
#define TEST_MODEL_LOOK_H

#include "model/definition.h"
#include "model/model_seen.h"

extern model_seen model_now_seen;

/* What is in a key that belongs to none of ours is a difference. */
void model_stray(int queue, const char *key, const char *member);
/* Of a hash; "" when it has no such field. */
const char *model_field(const rv_reply *found, const char *name);
/* A segment's member of `ready`, behind its '+'. */
void model_see_segment(int queue, const char *p, int64_t score);
/* Other fields are a difference. */
void model_allow(int queue, const char *key, const rv_reply *found, const char *const *names);
#define COPY(target, found, name) rv_copy_text(target, sizeof(target), model_field(found, name))

/* The keys of the definition: of each, who reads it; rest is what follows a name that ends with a colon, else the
 * name. */
#define MODEL_KEY(name, type, function) void model_read_##function(int queue, const char *rest, const rv_reply *found);
MODEL_KEYS(MODEL_KEY)
#undef MODEL_KEY

#endif

/*
 * model_enqueue.h - tasks that come, whichever way: by enqueue.lua, with the end of another task, by a message.
 */
#ifndef TEST_MODEL_ENQUEUE_H
#define TEST_MODEL_ENQUEUE_H

#include "model/model_dependencies.h"

enum { MODEL_CALL_MAX = IDS }; /* tasks in a call */

/* What is to be done where another task has the key: `conflict`. */
enum { MODEL_REJECT, MODEL_REPLACE, MODEL_DEBOUNCE };

/* Its options as JSON, "": it has none. */
void model_write_options(int queue, const model_incoming *one, char text[512]);

/* ARGV[1]: in detail "0", again "1", plainly "plain" or, to somebody who may be idle, "idle"; tasks with options always
 * come in detail. */
typedef enum model_way { COME_PLAINLY, COME_TO_IDLE, COME_IN_DETAIL, COME_AGAIN, COME_CARRIED, COME_LAID } model_way;

/* Sends tasks in one call, and takes note of what comes of it. */
void model_enqueue_tasks(int queue, model_incoming *tasks, int count, model_way way);

/* Sends one that a message brings. */
void model_enqueue_carried(int queue, model_incoming *task, const model_message *by);

/* What comes of tasks of one call, in their order: it is completed_extra in the model, and with each what is to be said
 * of it (expected, holder, missing). */
void model_arrive(int queue, model_incoming *tasks, int count, model_way way);

/* No record of a task that has ended since then can have gone (lib/proof.lua). */
bool model_all_kept(int queue, int64_t elapsed_ms);

/* A script puts it there, unless its id is taken; it names neither a key nor parents. */
void model_put_one(int queue, const model_incoming *one);

#endif

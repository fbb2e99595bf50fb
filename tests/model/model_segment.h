/*
 * model_segment.h - segments: plain tasks of one call that stand in `ready` as one member, "+<p>", and in a list.
 *
 * Of each task the model knows the segment in which it came, for its envelope tells of it; whether it still stands in
 * that is seen in Redis, where each of a segment's tasks counts as ready, with the score that it would have by itself.
 */
#ifndef TEST_MODEL_SEGMENT_H
#define TEST_MODEL_SEGMENT_H

#include "model/model_seen.h"

/* Plain tasks are enqueued the common way: there are neither groups nor events. */
bool model_is_common(int queue);
/* Of these tasks no id is known or comes twice, and none is large. */
bool model_are_new(int queue, const model_incoming *tasks, int count);
/* The segment that a plain call of tasks makes, or that takes them, + 1; 0: each has a place of its own. */
int model_segment_for(int queue, const model_incoming *tasks, int count);
/* What is seen of lists of ids counts as ready, when all was read. */
void model_open_segments(model_seen *seen);
/* How many ready tasks stood in segments after the last step. */
int model_packed(int queue);
/* Segments are whole, and stand where their tasks would; what became of those of the step before is counted. */
void model_check_segments(int queue, const model_seen_queue *seen);
void model_segments_begin(void);

#endif

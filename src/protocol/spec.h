/*
 * spec.h - a producer's spec of a task: checks, and what enqueue.lua takes of it.
 */
#ifndef RV_PROTOCOL_SPEC_H
#define RV_PROTOCOL_SPEC_H

#include "protocol/envelope.h"

/* Checks everything in a spec that can be checked without Redis: under the standard size_limits, or others (chosen
 * ones). */
reeve_status rv_spec_check(const reeve_task_spec *spec, rv_error *error);
reeve_status rv_spec_check_under(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error);

/* Copies a program's spec, whatever version it was compiled with (base/layout.h). */
reeve_status rv_spec_read(reeve_task_spec *ret, const reeve_task_spec *given, size_t spec_size, rv_error *error);

/*
 * The same for an array, whose elements are spec_size apart: *ret is the array itself, or a copy that is *ret_owned
 * (rv_free; NULL: none). An element that cannot be read is refused by rv_spec_check_under. REEVE_ENOMEM.
 */
reeve_status rv_spec_read_all(const reeve_task_spec **ret, reeve_task_spec **ret_owned, const reeve_task_spec *given,
                              size_t count, size_t spec_size, rv_error *error);

/* Appends what follows '{"at":<now>,' in the envelope of a checked spec. */
void rv_spec_write_envelope(rv_buf *out, const reeve_task_spec *spec);
/* An array of JSON; a text that is given twice is one. Nothing if there is none. */
void rv_spec_write_texts(rv_buf *out, const char *const *texts, size_t count);
/* The same without the payload, which comes right behind. */
void rv_spec_write_head(rv_buf *out, const reeve_task_spec *spec);

/* Appends the options that enqueue.lua takes: JSON, or nothing when there are none. */
void rv_spec_write_options(rv_buf *out, const reeve_task_spec *spec);
bool rv_spec_has_options(const reeve_task_spec *spec);

#endif

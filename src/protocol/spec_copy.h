/*
 * spec_copy.h - a spec with all that it points to, in one block of memory.
 */
#ifndef RV_PROTOCOL_SPEC_COPY_H
#define RV_PROTOCOL_SPEC_COPY_H

#include "reeve/client.h"

/* A copy of a checked spec, with this id (NULL: that of the spec). A zero byte follows the payload. The caller frees it
 * with rv_free. NULL: no memory. */
reeve_task_spec *rv_spec_copy(const reeve_task_spec *spec, const char *id);

#endif

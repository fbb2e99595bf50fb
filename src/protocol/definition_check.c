/*
 * definition_check.c - the public headers and the definition of the protocol (protocol/definition) agree.
 */
#include "protocol/definition.h"
#include "reeve/client.h"
#include "reeve/depend.h"
#include "reeve/signal.h"
#include "reeve/task.h"

#define AGREE(defined, public_one) _Static_assert((defined) == (public_one), #public_one " and the definition differ");
RV_PUBLIC_CONSTANTS(AGREE)
#undef AGREE

/* A state of the definition that is not in reeve_state does not compile. */
#define COUNT(name, word, title) +((REEVE_STATE_##name) >= 0)
_Static_assert(RV_STATES(COUNT) == REEVE_STATE_COUNT, "reeve_state and the states of the definition differ");
#undef COUNT

/*
 * route.h - the hash slot that a command goes to: read from the command as it was built. No I/O.
 */
#ifndef RV_ROUTE_H
#define RV_ROUTE_H

#include "redis/command.h"

#define RV_ROUTE_ANY (-1) /* it has no key: any node executes it */
#define RV_ROUTE_ALL (-2) /* a subscription to a channel without a hash tag: each master is to have it */

/*
 * For each command of `commands` its slot. A command without a key goes where the next one with a key goes, or else
 * the one before it: so a clock is that of the node whose data it is for. MULTI, the commands behind it and EXEC go to
 * one slot, which the first key among them gives. WAIT goes with the command before it.
 */
void rv_route_all(const rv_commands *commands, int *ret_slots);
/* Whether it is WAIT: it is for the nodes to which this connection wrote before. */
bool rv_route_is_wait(const rv_commands *commands, size_t index);
/* Whether the command stands between MULTI and EXEC, or is one of them, for each command. */
void rv_route_mark_transactions(const rv_commands *commands, bool *ret);

#endif

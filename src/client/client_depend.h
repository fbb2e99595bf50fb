/*
 * client_depend.h - the parents of a batch's callback.
 */
#ifndef RV_CLIENT_CLIENT_DEPEND_H
#define RV_CLIENT_CLIENT_DEPEND_H

#include "client/client.h"
#include "reeve/depend.h"

/* reeve_add_dependency for the callback of a batch, which takes new members only while it is open. *ret_closed: it is
 * closed, and REEVE_ESTATE is returned. */
reeve_status rv_client_depend_add_members(reeve_client *client, const char *queue, const char *id,
                                          const reeve_parent *members, size_t count, bool *ret_closed);

#endif

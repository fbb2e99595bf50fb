/*
 * plans.c - who may do how much. (Yours stand in a database.)
 */
#include <stddef.h>
#include <string.h>

#include "tenants.h"

/* A burst of 1 spaces the starts evenly. */
static const struct plan plan_free = {"free", 1, 1, {.count = 10, .period_ms = 1000, .burst = 1}};
static const struct plan plan_team = {"team", 1, 2, {0}};
static const struct plan plan_business = {"business", 3, 3, {0}};

static const struct {
    const char *tenant;
    const struct plan *plan;
} customers[] = {
    {"acme", &plan_business},
    {"globex", &plan_team},
};

#define CUSTOMERS (sizeof(customers) / sizeof(customers[0]))

const struct plan *plan_of(const char *tenant)
{
    for (size_t i = 0; tenant != NULL && i < CUSTOMERS; i++) {
        if (strcmp(tenant, customers[i].tenant) == 0) return customers[i].plan;
    }
    return &plan_free;
}

/* The limits of a group, or of each group that has none of its own. */
static reeve_status apply(reeve_client *client, const char *group)
{
    const struct plan *plan = plan_of(group);
    const reeve_limit_change change = {.size = sizeof(change),
                                       .of = group != NULL ? REEVE_LIMIT_GROUP : REEVE_LIMIT_GROUPS,
                                       .group = group,
                                       .concurrency = plan->concurrency,
                                       .rate = &plan->rate};

    return reeve_limit(client, QUEUE, &change);
}

reeve_status plans_apply(reeve_client *client)
{
    reeve_status status = apply(client, NULL);

    for (size_t i = 0; i < CUSTOMERS && status == REEVE_OK; i++) status = apply(client, customers[i].tenant);
    return status;
}

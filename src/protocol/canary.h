/*
 * canary.h - the task by which a server measures how long a task of a queue takes (`reeve web --canary`). Every worker completes
 * it by itself, without a handler; a handler of exactly this type has precedence.
 */
#ifndef RV_CANARY_H
#define RV_CANARY_H

#define RV_CANARY_TYPE "reeve:canary"
#define RV_CANARY_ID "reeve:canary"

#endif

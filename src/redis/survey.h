/*
 * survey.h - asks once whether a Redis may lose data, for a warning.
 */
#ifndef RV_SURVEY_H
#define RV_SURVEY_H

#include "redis/conn.h"

typedef struct rv_survey {
    bool answered;   /* false: the user may not ask (CONFIG GET), or there was no answer */
    bool evicts;     /* maxmemory-policy is not noeviction: a full Redis throws keys away, and tasks with them */
    bool persists;   /* it has an append-only file or save points */
    char policy[32]; /* maxmemory-policy */
} rv_survey;

/* One round trip on an open connection. */
rv_survey rv_survey_take(rv_conn *conn, int64_t deadline);

#endif

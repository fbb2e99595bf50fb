#include "upkeep/welcome.h"

#include "base/log.h"
#include "redis/survey.h"
#include "upkeep/namesakes.h"
#include "upkeep/partition_watch.h"

#define WELCOME_MS 2000

static void warn(const reeve_worker *worker, const rv_survey *survey)
{
    const char *url = worker->target->redacted;
    if (!survey->answered || worker->embedded != NULL) return;
    if (survey->evicts)
        rv_log(REEVE_LOG_WARN, "redis.evicts",
               "Redis evicts keys when its memory is full, and loses tasks with them: set maxmemory-policy noeviction",
               "url", url, "maxmemory_policy", survey->policy, NULL);
    if (!survey->persists)
        rv_log(REEVE_LOG_WARN, "redis.volatile",
               "Redis loses its data at a restart: it has neither an append-only file nor save points", "url", url,
               NULL);
}

reeve_status rv_welcome(reeve_worker *worker)
{
    rv_conn *conn = worker->heart.thread.conn;
    int64_t deadline = rv_deadline(worker->command_ms < WELCOME_MS ? worker->command_ms : WELCOME_MS);
    if (rv_conn_open(conn, deadline) != REEVE_OK) {
        if (!rv_conn_is_denied(conn)) return REEVE_OK;
        return rv_fail(&worker->error, REEVE_ECONNECT, "%s", rv_conn_error(conn)->text);
    }
    const rv_survey survey = rv_survey_take(conn, deadline);
    warn(worker, &survey);
    rv_partition_watch_begin(worker, conn, deadline);
    rv_namesakes_warn(worker, conn, deadline);
    return REEVE_OK;
}

#include "running/failure_log.h"

#include <string.h>

#include "base/log.h"

void rv_failure_log(const char *queue, const rv_lease *lease, const rv_settlement *outcome)
{
    if (outcome->crashed) return; /* the crash was logged; Redis decides whether it is the last one */
    bool dead = outcome->outcome == REEVE_OUTCOME_FAIL;
    reeve_log_level level = dead ? REEVE_LOG_WARN : REEVE_LOG_INFO;
    if ((!dead && outcome->outcome != REEVE_OUTCOME_RETRY) || !rv_log_on(level)) return;
    char type[REEVE_TYPE_MAX + 1];
    size_t length = lease->envelope.type_length < REEVE_TYPE_MAX ? lease->envelope.type_length : REEVE_TYPE_MAX;
    memcpy(type, lease->envelope.type, length);
    type[length] = '\0';
    rv_log(level, dead ? "task.dead" : "task.retry",
           dead ? "the task is dead" : "the task failed: another attempt follows", "queue", queue, "task", outcome->id,
           "type", type, "kind", outcome->kind, "error", outcome->message, NULL);
}

#include "redis/survey.h"

#include <string.h>

static void note(rv_survey *survey, const rv_reply *name, const rv_reply *value)
{
    if (!rv_reply_is(value, RV_TEXT)) return;
    if (rv_reply_is_text(name, "maxmemory-policy")) {
        rv_copy_text(survey->policy, sizeof(survey->policy), value->text);
        survey->evicts = strcmp(value->text, "noeviction") != 0;
    } else if (rv_reply_is_text(name, "appendonly")) {
        survey->persists = survey->persists || strcmp(value->text, "yes") == 0;
    } else if (rv_reply_is_text(name, "save")) {
        survey->persists = survey->persists || value->length > 0;
    }
}

rv_survey rv_survey_take(rv_conn *conn, int64_t deadline)
{
    rv_survey survey = {0};
    const rv_reply *reply;
    rv_cmd(conn, 5);
    rv_args(conn, "CONFIG");
    rv_args(conn, "GET");
    rv_args(conn, "maxmemory-policy");
    rv_args(conn, "appendonly");
    rv_args(conn, "save");
    if (rv_conn_call(conn, deadline, &reply) != REEVE_OK || !rv_reply_is(reply, RV_ARRAY)) return survey;
    for (size_t i = 0; i + 1 < reply->count; i += 2) note(&survey, reply->items[i], reply->items[i + 1]);
    survey.answered = survey.policy[0] != '\0';
    return survey;
}

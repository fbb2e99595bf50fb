#include "web_asked.h"

#include <string.h>

#include "base/mem.h"

const char *const web_asked_actions[] = {"retry", "cancel", "delete"};

static bool read_action(web_call *call, web_asked *ret)
{
    const char *name = web_body_text(call, "action");

    for (size_t i = 0; name != NULL && i < sizeof(web_asked_actions) / sizeof(web_asked_actions[0]); i++) {
        if (strcmp(web_asked_actions[i], name) != 0) continue;
        ret->action = (reeve_action)i;
        return true;
    }
    web_refuse(call, 400, "invalid", "\"action\": expected retry, cancel or delete");
    return false;
}

bool web_asked_read(web_call *call, web_asked *ret)
{
    const cJSON *filter = cJSON_GetObjectItemCaseSensitive(call->body, "filter");
    const cJSON *expected = cJSON_GetObjectItemCaseSensitive(call->body, "expected");

    if (!read_action(call, ret)) return false;
    ret->expected = cJSON_IsNumber(expected) ? expected->valuedouble : -1;
    ret->filter = rv_zalloc(sizeof(*ret->filter));
    ret->request = filter == NULL ? NULL : cJSON_PrintUnformatted(filter);
    if (ret->filter == NULL) {
        web_refuse(call, 503, "no_memory", "no memory");
        return false;
    }
    if (!web_filter_from_object(call, filter, ret->filter)) return false;
    ret->state = ret->filter->filter.state;
    if (ret->filter->filter.has_state && !ret->filter->filter.all_states) return web_filter_resolve(call, ret->filter);
    web_refuse(call, 400, "invalid", "\"filter\" needs a \"state\"");
    return false;
}

void web_asked_free(web_asked *asked)
{
    rv_free(asked->filter);
    cJSON_free(asked->request);
}

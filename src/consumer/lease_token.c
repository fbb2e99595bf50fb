#include "consumer/lease_token.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "consumer/consumer_state.h"

void rv_lease_token_write(char ret[REEVE_TOKEN_MAX], const char *session, int64_t since_ms, const char *thread)
{
    (void)snprintf(ret, REEVE_TOKEN_MAX, "%s.%lld.%s", session, (long long)since_ms, thread);
}

bool rv_lease_token_read(rv_lease_token *ret, const char *text)
{
    char since[24];
    const char *first = strchr(text, '.'), *second = first != NULL ? strchr(first + 1, '.') : NULL;
    if (second == NULL || first - text != RV_SESSION_LENGTH || second - first > 20) return false;
    if (strspn(text, "0123456789abcdef-") != RV_SESSION_LENGTH) return false;
    memcpy(ret->session, text, RV_SESSION_LENGTH);
    ret->session[RV_SESSION_LENGTH] = '\0';
    memcpy(since, first + 1, (size_t)(second - first) - 1);
    since[second - first - 1] = '\0';
    size_t thread = strlen(second + 1);
    if (thread == 0 || thread >= sizeof(ret->thread) || strspn(second + 1, "0123456789") != thread) return false;
    if (!rv_parse_int(since, 0, INT64_MAX, &ret->since_ms)) return false;
    memcpy(ret->thread, second + 1, thread + 1);
    (void)snprintf(ret->lease, sizeof(ret->lease), "%s %s", since, ret->thread);
    return true;
}

reeve_status reeve_consumer_token(reeve_consumer *c, const reeve_task *task, char ret[REEVE_TOKEN_MAX])
{
    if (c == NULL || task == NULL || ret == NULL) return REEVE_EINVAL;
    const rv_pulled *p = rv_pulled_of(task);
    rv_lease_token_write(ret, p->session, p->since_ms, c->thread->number_text);
    return REEVE_OK;
}

/*
 * web_session.c - who the viewer is, and logging in and out.
 */
#include <stdio.h>
#include <string.h>

#include "web.h"
#include "web_users.h"

#define COOKIE "reeve_session"

/* A header "Cookie". False: it has the token. */
static bool look_for_token(void *ret_token, const char *at)
{
    char *ret = ret_token;

    while (*at != '\0') {
        at += strspn(at, "; ");
        size_t length = strcspn(at, ";"), name = strcspn(at, "=;");
        if (name == strlen(COOKIE) && memcmp(at, COOKIE, name) == 0 && length == name + WEB_TOKEN_SIZE) {
            memcpy(ret, at + name + 1, WEB_TOKEN_SIZE - 1);
            ret[WEB_TOKEN_SIZE - 1] = '\0';
            return false;
        }
        at += length;
    }
    return true;
}

bool web_session_cookie(web_call *call, char ret_token[WEB_TOKEN_SIZE])
{
    ret_token[0] = '\0';
    rv_http_server_each_header(call->http, "Cookie", look_for_token, ret_token);
    return ret_token[0] != '\0';
}

void web_run_session(web_call *call)
{
    const web_server *web = call->web;
    cli_json json;

    cli_json_begin(&json, call->out);
    cli_json_text(&json, "user", call->who.role == WEB_NOBODY ? NULL : call->who.name);
    cli_json_text(&json, "role", web_role_name(call->who.role));
    cli_json_bool(&json, "login", web->options.users != NULL);
    cli_json_bool(&json, "authentication", web->authenticates);
    cli_json_bool(&json, "read_only", web->options.read_only);
    cli_json_text(&json, "version", reeve_version());
    cli_json_end(&json);
}

/* The cookie is only for this server, and not for scripts or requests from other sites. */
static void set_cookie(web_call *call, const char *token)
{
    const char *proto = rv_http_server_header(call->http, "X-Forwarded-Proto"), *prefix = call->web->options.prefix;
    bool secure = call->http->encrypted || (proto != NULL && strcmp(proto, "https") == 0);

    (void)snprintf(call->http->cookie, sizeof(call->http->cookie), "%s=%s; Path=%.100s/; HttpOnly; SameSite=Strict%s%s",
                   COOKIE, token, prefix, secure ? "; Secure" : "", token[0] == '\0' ? "; Max-Age=0" : "");
}

void web_run_login(web_call *call)
{
    const char *user = web_body_text(call, "user"), *password = web_body_text(call, "password");
    char token[WEB_TOKEN_SIZE];
    unsigned reading;

    if (user == NULL || password == NULL || strlen(password) > 500) {
        web_refuse(call, 400, "invalid", "\"user\" and \"password\" are missing");
        return;
    }
    if (!web_users_may_try(call->web->users, call->http->peer)) {
        call->http->retry_after = 60;
        web_refuse(call, 429, "busy", "too many logins; try again in a minute");
        return;
    }
    if (!web_users_check(call->web->users, user, password, &call->who, &reading)) {
        web_refuse(call, 401, "login", "the name or the password is not right");
        return;
    }
    if (!web_users_begin(call->web->users, &call->who, reading, token)) {
        web_refuse(call, 503, "busy", "the session cannot begin; try again");
        return;
    }
    set_cookie(call, token);
    web_run_session(call);
}

void web_run_logout(web_call *call)
{
    char token[WEB_TOKEN_SIZE];

    if (web_session_cookie(call, token)) web_users_end(call->web->users, token);
    set_cookie(call, "");
    web_done(call);
}

#include "redis/sentinel_ask.h"

#include <string.h>

size_t rv_sentinel_ask_add_auth(rv_commands *commands, const rv_url *url)
{
    if (url->sentinel_password == NULL) return 0;
    rv_command_begin(commands, url->sentinel_user != NULL ? 3 : 2, NULL);
    rv_command_adds(commands, "AUTH");
    if (url->sentinel_user != NULL) rv_command_adds(commands, url->sentinel_user);
    rv_command_adds(commands, url->sentinel_password);
    return 1;
}

/* Other words of an error may quote the command, and so the password. */
bool rv_sentinel_ask_refused(const rv_reply *reply, rv_error *error)
{
    if (!rv_reply_is(reply, RV_ERROR)) return false;
    const char *words = "it refused the question";
    if (rv_reply_has_error_code(reply, "NOAUTH"))
        words = "this Sentinel wants a password of its own (NOAUTH): set sentinel_password";
    else if (rv_reply_has_error_code(reply, "WRONGPASS") || strstr(reply->text, "invalid password") != NULL)
        words = "wrong user or password for this Sentinel (WRONGPASS)";
    else if (strstr(reply->text, "without any password") != NULL)
        words = "this Sentinel has no password set, but sentinel_password gives one";
    else if (rv_reply_has_error_code(reply, "NOPERM"))
        words = "this user may not ask Sentinel (NOPERM): grant it +sentinel|get-master-addr-by-name";
    else if (strncmp(reply->text, "ERR unknown command", 19) == 0)
        words = "what listens there is no Sentinel";
    (void)rv_fail(error, REEVE_ECONNECT, "%s", words);
    return true;
}

static reeve_status say(rv_dialog *dialog, const rv_sentinel_question *question, size_t *ret_auth, rv_error *error)
{
    rv_commands commands;
    rv_command_init(&commands);
    *ret_auth = rv_sentinel_ask_add_auth(&commands, question->url);
    rv_command_begin(&commands, 3, NULL);
    rv_command_adds(&commands, "SENTINEL");
    rv_command_adds(&commands, "GET-MASTER-ADDR-BY-NAME");
    rv_command_adds(&commands, question->url->master);
    rv_command_begin(&commands, 3, NULL);
    rv_command_adds(&commands, "SENTINEL");
    rv_command_adds(&commands, "SENTINELS");
    rv_command_adds(&commands, question->url->master);
    reeve_status status = rv_dialog_send(dialog, &commands, question->deadline, question->waker, error);
    rv_command_fini(&commands);
    return status;
}

static rv_sentinel_outcome take_master(rv_sentinel_question *question, const rv_reply *reply, rv_error *error)
{
    const rv_reply *host = rv_reply_at(reply, 0);
    int64_t port = rv_reply_within(rv_reply_at(reply, 1), 1, 65535, 0);
    if (rv_sentinel_ask_refused(reply, error)) return RV_SENTINEL_REFUSED;
    if (rv_reply_is(reply, RV_NIL)) {
        (void)rv_fail(error, REEVE_ECONNECT, "it does not know this master");
        return RV_SENTINEL_UNKNOWN;
    }
    if (!rv_reply_is(host, RV_TEXT) || host->length == 0 || host->length >= sizeof(question->host) || port == 0) {
        (void)rv_fail(error, REEVE_ECONNECT, "it does not answer as Sentinel does");
        return RV_SENTINEL_REFUSED;
    }
    rv_copy_text(question->host, sizeof(question->host), host->text);
    question->port = (int)port;
    return RV_SENTINEL_ANSWERED;
}

static reeve_status next(rv_dialog *dialog, const rv_sentinel_question *question, const rv_reply **ret, rv_error *error)
{
    reeve_status status = rv_dialog_receive(dialog, question->deadline, question->waker, ret, error);
    if (status == REEVE_ETIMEOUT) status = error->status = REEVE_ECONNECT;
    return status;
}

rv_sentinel_outcome rv_sentinel_ask(rv_dialog *dialog, rv_sentinel_question *question, rv_error *error)
{
    size_t auth;
    const rv_reply *reply;
    reeve_status status = rv_dialog_open(dialog, &question->at, question->deadline, question->waker, error);
    if (status == REEVE_OK) status = say(dialog, question, &auth, error);
    if (status != REEVE_OK) return RV_SENTINEL_UNREACHED;
    if (auth > 0) {
        if (next(dialog, question, &reply, error) != REEVE_OK) return RV_SENTINEL_UNREACHED;
        if (rv_sentinel_ask_refused(reply, error)) return RV_SENTINEL_REFUSED;
    }
    if (next(dialog, question, &reply, error) != REEVE_OK) return RV_SENTINEL_UNREACHED;
    rv_sentinel_outcome outcome = take_master(question, reply, error);
    if (outcome != RV_SENTINEL_ANSWERED) return outcome;
    if (next(dialog, question, &reply, error) != REEVE_OK) return RV_SENTINEL_UNREACHED;
    if (question->on_others != NULL) question->on_others(reply, question->context);
    return RV_SENTINEL_ANSWERED;
}

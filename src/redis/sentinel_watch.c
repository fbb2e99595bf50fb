#include "redis/sentinel_watch.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "redis/sentinel.h"
#include "redis/sentinel_ask.h"

#define CHANNEL "+switch-master"
/* A Sentinel may have gone without a sign, or not have heard of a failover: after so long it is asked. */
#define SILENCE_MS 10000
#define OPEN_MS 500

bool rv_sentinel_watch_is_possible(const rv_url *url)
{
    return url->kind == RV_URL_SENTINEL && url->topology != NULL;
}

static reeve_status subscribe(const rv_url *url, rv_dialog *dialog, int64_t deadline, const rv_waker *waker,
                              rv_error *error)
{
    rv_commands commands;
    const rv_reply *reply;
    rv_command_init(&commands);
    size_t replies = rv_sentinel_ask_add_auth(&commands, url) + 1;
    rv_command_begin(&commands, 2, NULL);
    rv_command_adds(&commands, "SUBSCRIBE");
    rv_command_adds(&commands, CHANNEL);
    reeve_status status = rv_dialog_send(dialog, &commands, deadline, waker, error);
    rv_command_fini(&commands);
    while (status == REEVE_OK && replies-- > 0) {
        status = rv_dialog_receive(dialog, deadline, waker, &reply, error);
        if (status == REEVE_ETIMEOUT) status = error->status = REEVE_ECONNECT;
        if (status == REEVE_OK && rv_sentinel_ask_refused(reply, error)) status = error->status;
    }
    if (status != REEVE_OK) rv_dialog_close(dialog);
    return status;
}

/* Asks for the master, so that a failover during a silence is found, and subscribes at the Sentinel that answered. */
static reeve_status begin(const rv_url *url, rv_dialog *dialog, const rv_topology_ask *ask, bool *ret_moved,
                          rv_error *error)
{
    rv_address master, at;
    rv_sentinel_place place;
    reeve_status status = rv_topology_resolve(url, ask, &master, error);
    if (status != REEVE_OK) return status;
    rv_sentinel_first(url->topology, &place);
    rv_sentinel_address(url, &place, &at);
    int64_t until = rv_deadline(OPEN_MS);
    if (ask->deadline < until) until = ask->deadline;
    status = rv_dialog_open(dialog, &at, until, ask->waker, error);
    if (status == REEVE_OK) status = subscribe(url, dialog, until, ask->waker, error);
    if (status == REEVE_OK) *ret_moved = rv_sentinel_note_master(url->topology, url, master.host, master.port);
    return status;
}

/* "<name> <old host> <old port> <new host> <new port>" */
static bool hear(const rv_url *url, const char *words)
{
    char host[RV_HOST_SIZE];
    char figures[8];
    int64_t port;
    int end = 0;
    size_t length = strlen(url->master);
    if (strncmp(words, url->master, length) != 0 || words[length] != ' ') return false;
    if (sscanf(words + length, " %*255s %*7s %255s %7s%n", host, figures, &end) != 2) return false;
    if (words[length + (size_t)end] != '\0' || !rv_parse_int(figures, 1, 65535, &port)) return false;
    return rv_sentinel_note_master(url->topology, url, host, (int)port);
}

reeve_status rv_sentinel_watch(const rv_url *url, rv_dialog *dialog, const rv_topology_ask *ask, bool *ret_moved,
                               rv_error *error)
{
    const rv_reply *message;
    *ret_moved = false;
    if (!rv_dialog_is_open(dialog)) {
        reeve_status status = begin(url, dialog, ask, ret_moved, error);
        if (status != REEVE_OK || *ret_moved) return status;
    }
    int64_t silent = rv_deadline(SILENCE_MS), until = silent < ask->deadline ? silent : ask->deadline;
    reeve_status status = rv_dialog_receive(dialog, until, ask->waker, &message, error);
    if (status == REEVE_ETIMEOUT && rv_now_ms() >= silent) rv_dialog_close(dialog);
    const rv_reply *words = rv_reply_at(message, 2);
    if (status == REEVE_OK && rv_reply_is(words, RV_TEXT)) *ret_moved = hear(url, words->text);
    return status;
}

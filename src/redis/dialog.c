#include "redis/dialog.h"

#include <errno.h>
#include <string.h>

#define CHUNK 4096

void rv_dialog_init(rv_dialog *dialog, const rv_waker *quit)
{
    rv_transport_init(&dialog->transport, quit);
    rv_reply_reader_init(&dialog->reader);
}

void rv_dialog_close(rv_dialog *dialog)
{
    rv_transport_close(&dialog->transport, true);
    rv_reply_reader_forget(&dialog->reader);
}

void rv_dialog_fini(rv_dialog *dialog)
{
    rv_transport_close(&dialog->transport, false);
    rv_reply_reader_fini(&dialog->reader);
}

bool rv_dialog_is_open(const rv_dialog *dialog)
{
    return rv_transport_is_open(&dialog->transport);
}

reeve_status rv_dialog_open(rv_dialog *dialog, const rv_address *address, int64_t deadline, const rv_waker *waker,
                            rv_error *error)
{
    rv_dialog_close(dialog);
    return rv_transport_open(&dialog->transport, address, deadline, waker, error);
}

static reeve_status lost(rv_dialog *dialog, int failure, rv_error *error)
{
    char words[128];
    const char *reason = rv_transport_reason(&dialog->transport);
    if (reason == NULL) reason = failure == 0 ? "it closed the connection" : strerror_r(failure, words, sizeof(words));
    (void)rv_fail(error, REEVE_ECONNECT, "%s", reason);
    rv_dialog_close(dialog);
    return REEVE_ECONNECT;
}

/* REEVE_ETIMEOUT leaves the dialog as it is. */
static reeve_status wait_for(rv_dialog *dialog, short events, int64_t deadline, const rv_waker *waker, rv_error *error)
{
    short came;
    reeve_status status = rv_transport_wait(&dialog->transport, events, deadline, waker, &came);
    if (status == REEVE_ESYSTEM) return lost(dialog, errno, error);
    if (status == REEVE_EINTERRUPTED) return rv_fail(error, status, "interrupted while connecting to Redis");
    return status == REEVE_ETIMEOUT ? rv_fail(error, status, "it did not answer in time") : status;
}

reeve_status rv_dialog_send(rv_dialog *dialog, const rv_commands *commands, int64_t deadline, const rv_waker *waker,
                            rv_error *error)
{
    reeve_status status = rv_command_check(commands, error);
    size_t sent = 0;
    while (status == REEVE_OK && sent < commands->out.length) {
        ssize_t put = rv_transport_write(&dialog->transport, commands->out.data + sent, commands->out.length - sent);
        if (put >= 0)
            sent += (size_t)put;
        else if (errno != EAGAIN && errno != EWOULDBLOCK)
            return lost(dialog, errno, error);
        else
            status = wait_for(dialog, POLLOUT, deadline, waker, error);
    }
    if (status != REEVE_OK) rv_dialog_close(dialog);
    if (status == REEVE_ETIMEOUT) error->status = status = REEVE_ECONNECT;
    return status;
}

/* Reads what is there. */
static reeve_status read_some(rv_dialog *dialog, rv_error *error)
{
    char chunk[CHUNK];
    size_t room;
    char *place = rv_reply_reader_place(&dialog->reader, &room);
    if (place == NULL) room = sizeof(chunk);
    ssize_t got = rv_transport_read(&dialog->transport, place != NULL ? place : chunk, room);
    if (got > 0 && place != NULL) return rv_reply_reader_came(&dialog->reader, (size_t)got, error);
    if (got > 0) return rv_reply_reader_feed(&dialog->reader, chunk, (size_t)got, error);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return REEVE_OK;
    return lost(dialog, got == 0 ? 0 : errno, error);
}

static reeve_status receive(rv_dialog *dialog, int64_t deadline, const rv_waker *waker, const rv_reply **ret,
                            rv_error *error)
{
    for (;;) {
        reeve_status status = rv_reply_reader_next(&dialog->reader, ret, error);
        if (status != REEVE_OK || *ret != NULL) return status;
        status = wait_for(dialog, POLLIN, deadline, waker, error);
        if (status == REEVE_OK) status = read_some(dialog, error);
        if (status != REEVE_OK) return status;
    }
}

reeve_status rv_dialog_receive(rv_dialog *dialog, int64_t deadline, const rv_waker *waker, const rv_reply **ret,
                               rv_error *error)
{
    *ret = NULL;
    if (!rv_dialog_is_open(dialog)) return rv_fail(error, REEVE_ECONNECT, "the connection is closed");
    reeve_status status = receive(dialog, deadline, waker, ret, error);
    if (status == REEVE_EPROTO) {
        rv_dialog_close(dialog);
        return rv_fail(error, REEVE_ECONNECT, "it does not answer as Redis does");
    }
    if (status == REEVE_ENOMEM) rv_dialog_close(dialog);
    return status;
}

/*
 * dialog.h - a short conversation with a server at a known address: commands out, replies in, every wait with a
 * deadline. Below rv_conn, for the questions that a topology asks (topology.h). One thread at a time.
 *
 * deadline: monotonic ms. waker, which may be NULL, ends a wait: REEVE_EINTERRUPTED. Any other failure is REEVE_ECONNECT
 * with the reason alone as words, or REEVE_ENOMEM, and leaves the dialog closed.
 */
#ifndef RV_DIALOG_H
#define RV_DIALOG_H

#include "redis/command.h"
#include "redis/reply_reader.h"
#include "redis/transport.h"

typedef struct rv_dialog {
    rv_transport transport;
    rv_reply_reader reader;
} rv_dialog;

/* quit may be NULL: once rung, every deadline has passed. Cannot fail. */
void rv_dialog_init(rv_dialog *dialog, const rv_waker *quit);
reeve_status rv_dialog_open(rv_dialog *dialog, const rv_address *address, int64_t deadline, const rv_waker *waker,
                            rv_error *error);
bool rv_dialog_is_open(const rv_dialog *dialog);
reeve_status rv_dialog_send(rv_dialog *dialog, const rv_commands *commands, int64_t deadline, const rv_waker *waker,
                            rv_error *error);
/* The next reply, or message; it lives until the next call. REEVE_ETIMEOUT: nothing came until the deadline, and the
 * dialog stays open. */
reeve_status rv_dialog_receive(rv_dialog *dialog, int64_t deadline, const rv_waker *waker, const rv_reply **ret,
                               rv_error *error);
void rv_dialog_close(rv_dialog *dialog); /* it can be opened again */
void rv_dialog_fini(rv_dialog *dialog);  /* closes */

#endif

/*
 * handler_reload.h - the handlers of a worker made once more, with its plugins loaded again from their files.
 */
#ifndef RV_HANDLERS_HANDLER_RELOAD_H
#define RV_HANDLERS_HANDLER_RELOAD_H

#include "base/buf.h"
#include "handlers/handler_set.h"

/*
 * A set with the handlers, layers and policies of `present`, in the same order. A plugin whose file has changed is loaded
 * beside the version that runs; the others are shared. *ret is NULL if no file has changed. Each change is added to
 * words, "plugins.NAME.version: OLD -> NEW". REEVE_EPLUGIN: a file cannot be loaded. REEVE_EDUPLICATE, REEVE_EINVAL,
 * REEVE_ENOMEM. On failure nothing is left.
 */
reeve_status rv_handler_reload_make(rv_handler_set **ret, const rv_handler_set *present, rv_buf *words,
                                    rv_error *error);

/* The fresh set takes the place of the present one: the functions free_user of the program's own handlers and layers are
 * called when the fresh set is freed, and no more when the present one is. */
void rv_handler_reload_take_over(rv_handler_set *fresh, rv_handler_set *present);

#endif

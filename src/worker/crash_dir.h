/*
 * crash_dir.h - the flight record of a worker without a supervisor (running/flight.h), in a file of a directory that its
 * program names. When the process dies, the next start of that program settles from the file what had finished, gives
 * back what had only been leased, and reports what was running as crashed (aftermath.h).
 *
 * A file is locked (flock) as long as its process lives. Its name contains the boot id of the machine: what lay in memory
 * is not in the file after a crash of the machine, or only in part, so that such a file is removed unread.
 */
#ifndef RV_CRASH_DIR_H
#define RV_CRASH_DIR_H

#include "running/worker_state.h"

typedef struct rv_crash_dir rv_crash_dir;

/* Before rv_flight_attach, with the target known: settles what dead processes left, and makes the worker's own file.
 * Without effect if the worker has no crash_dir, or has a supervisor. REEVE_ESYSTEM, REEVE_ENOMEM. What Redis does not
 * take now stays for the next start. */
reeve_status rv_crash_dir_begin(reeve_worker *worker, rv_error *error);

/* After rv_flight_attach, before threads start: the file gets all its blocks, so that a full disk is an error now and not
 * a signal later. */
reeve_status rv_crash_dir_fill(reeve_worker *worker, rv_error *error);

/* The sessions of the worker have ended: removes its file. */
void rv_crash_dir_end(reeve_worker *worker);

/* No thread of it is left: frees its memory. */
void rv_crash_dir_free(reeve_worker *worker);

#endif

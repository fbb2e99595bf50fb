/*
 * check.h - check the data of a queue in Redis, and repair them.
 *
 * The data of a queue have invariants: each task is in exactly one state, each counter is correct, and so on. Scripts
 * preserve them, because each script is one atomic step. Another program, a script that Redis stopped halfway for lack
 * of a right, or a loss of data in Redis can violate them. reeve_check finds such violations while the queue is in use,
 * and can repair them.
 */
#ifndef REEVE_CHECK_H
#define REEVE_CHECK_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A finding: a violated invariant in the data of a queue. Texts are valid during the call of on_finding. */
typedef struct reeve_finding {
    const char *queue;
    const char *kind;    /* a stable name, such as "task_lost"; docs/guide/operations.md lists them */
    const char *subject; /* the id of a task, a key, a session or a group, depending on the kind */
    const char *detail;  /* details of the violation, or "" */
    const char *text;    /* the finding as a sentence, without its full stop */
    const char *why;     /* its consequence, as a sentence without its full stop */
    const char *repair;  /* the effect of its repair, as a sentence without its full stop */
    bool repaired;       /* true: this call repaired it */
} reeve_finding;

/* The result of reeve_check. */
typedef struct reeve_checked {
    uint64_t elements; /* elements of keys that were examined */
    uint64_t findings; /* number of findings */
    uint64_t repaired; /* number of repaired findings */
} reeve_checked;

/*
 * Checks a queue; workers and clients can use it meanwhile. The function blocks until all data of the queue are
 * checked. It calls scripts that take a few milliseconds each, so that Redis serves other clients in between. It scans
 * the names of all keys of the server, including those of other programs. Tasks that are enqueued meanwhile may be
 * omitted. Each finding is verified by a second, atomic check, so that changes in progress are not reported.
 *
 * If `repair` is true, each finding is repaired in one atomic step, which does nothing if the finding is no longer
 * true. Because a repair can reveal another finding, the queue is then checked again, at most four times in all. A
 * repair can make a task run again, or delete data that contradict other data: docs/guide/operations.md describes each
 * repair. If `repair` is false, the call writes nothing.
 *
 * on_finding, unless NULL, is called for each finding, in the calling thread; on_progress, unless NULL, is called from
 * time to time, with the number of elements that were examined and an estimate of the total. If on_progress returns
 * false, the check ends early, with REEVE_OK. Neither may use the client. `context` is passed to both. *ret is written
 * on success. REEVE_EINVAL: the name of the queue is not valid; and the errors of every call (client.h).
 */
REEVE_API reeve_status reeve_check(reeve_client *client, const char *queue, bool repair,
                                   void (*on_finding)(const reeve_finding *finding, void *context),
                                   bool (*on_progress)(uint64_t done, uint64_t total, void *context), void *context,
                                   reeve_checked *ret);

#ifdef __cplusplus
}
#endif
#endif

/*
 * check.h - check the data of a queue in Redis, and repair them.
 *
 * Scripts change the data of a queue in single steps, so that their parts always agree: each task is in one state,
 * counters count what exists, and so on. Another program, a script that was refused halfway, or a loss of data in
 * Redis can make them disagree. reeve_check finds that in a queue that is in use, and repairs it.
 */
#ifndef REEVE_CHECK_H
#define REEVE_CHECK_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Something in the data of a queue that disagrees. Texts are valid during the call of on_finding. */
typedef struct reeve_finding {
    const char *queue;
    const char *kind;    /* a stable name, as "task_lost"; docs/guide/operations.md lists them */
    const char *subject; /* what it is about: a task's id, a key, a session or a group, see the kind */
    const char *detail;  /* what was found, or "" */
    const char *text;    /* the finding as a sentence, without its full stop */
    const char *why;     /* what follows from it, the same way */
    const char *repair;  /* what a repair of it does, the same way */
    bool repaired;       /* by this call */
} reeve_finding;

/* The result of reeve_check. */
typedef struct reeve_checked {
    uint64_t elements; /* elements of keys that were examined */
    uint64_t findings; /* calls of on_finding, or as many as there would have been */
    uint64_t repaired; /* those of them that were repaired */
} reeve_checked;

/*
 * Checks a queue, while workers and clients use it. The call is made of many calls of scripts, of a few milliseconds
 * at most, so that Redis serves other clients in between. It blocks until all data of the queue are checked, and
 * looks at the name of each key of the server, also at those of other programs. Tasks that arrive meanwhile may be
 * left out. Each finding is looked at twice, each time in one step, so that no change in progress is reported.
 *
 * repair: each finding is repaired, in one step that first looks at it once more. Then the queue is checked again, as
 * a repair can reveal another finding, at most four times in all. A repair can make a task run again, or delete
 * data that contradict others: docs/guide/operations.md describes each. Without `repair`, the call writes nothing.
 *
 * on_finding, unless NULL, is called for each finding, in the calling thread; on_progress, unless NULL, from time to
 * time, with the number of elements that were examined and an estimate of all. Where on_progress returns false, the
 * check ends, with REEVE_OK. Neither may use the client. `context` is passed to both. *ret is written on success.
 * Errors: REEVE_EINVAL for a name of a queue that is not valid, and the errors of every call.
 */
REEVE_API reeve_status reeve_check(reeve_client *client, const char *queue, bool repair,
                                   void (*on_finding)(const reeve_finding *finding, void *context),
                                   bool (*on_progress)(uint64_t done, uint64_t total, void *context), void *context,
                                   reeve_checked *ret);

#ifdef __cplusplus
}
#endif
#endif

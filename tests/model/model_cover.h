/*
 * model_cover.h - the transitions of each script: a row each, counted where the model makes it.
 */
#ifndef TEST_MODEL_COVER_H
#define TEST_MODEL_COVER_H

#include <stdbool.h>

#define MODEL_TRANSITIONS(X)                                                                              \
    X(ENQUEUE_READY, "enqueue: ready")                                                                    \
    X(ENQUEUE_IN, "enqueue: scheduled, in")                                                               \
    X(ENQUEUE_AT, "enqueue: scheduled, at")                                                               \
    X(ENQUEUE_PAST, "enqueue: at a time that has passed")                                                 \
    X(ENQUEUE_TAKEN, "enqueue: the id is taken")                                                          \
    X(ENQUEUE_TAKEN_WITHIN, "enqueue: the id is taken within the call")                                   \
    X(ENQUEUE_AGAIN, "enqueue: sent again, it is ours")                                                   \
    X(ENQUEUE_LARGE, "enqueue: large")                                                                    \
    X(ENQUEUE_TOO_LONG, "enqueue: refused, its payload is longer than the queue allows")                  \
    X(PAYLOADS_LIMITED, "settings: payloads have a limit")                                                \
    X(SEGMENT_MADE, "segment: made")                                                                      \
    X(SEGMENT_BEHIND, "segment: made where another was, and something came in between")                   \
    X(SEGMENT_JOINED, "segment: joined")                                                                  \
    X(SEGMENT_NOT_NEW, "segment: none, an id is taken, or came twice")                                    \
    X(SEGMENT_GROUPS, "segment: none, there are groups")                                                  \
    X(SEGMENT_EVENTS, "segment: none, there are events")                                                  \
    X(BULK_INSERT_SEGMENT, "segment: bulk-inserted")                                                      \
    X(BULK_INSERT_TAKEN_UP, "segment: bulk-inserted, and inserted again by the fallback")                 \
    X(BULK_INSERT_UNPLACED, "segment: bulk-inserted without a place, and sent again")                     \
    X(SEGMENT_LEASED, "segment: leased wholly")                                                           \
    X(SEGMENT_LEASED_PART, "segment: leased in part")                                                     \
    X(SEGMENT_OPENED, "segment: all are taken out")                                                       \
    X(SEGMENT_OPENED_PART, "segment: some are taken out")                                                 \
    X(SEGMENT_LEFT, "segment: left by a task")                                                            \
    X(SEGMENT_LEFT_WITHIN, "segment: left by one that is not its first")                                  \
    X(SEGMENT_LEFT_BY_LAST, "segment: left by its last task")                                             \
    X(SEGMENT_BETWEEN, "segment: a task of a group stands between two of its tasks")                      \
    X(SEGMENT_SWEPT, "segment: bulk-updated")                                                             \
    X(SEGMENT_SHOWN, "segment: one of its tasks is shown")                                                \
    X(SEGMENT_LISTED, "segment: listed")                                                                  \
    X(SEGMENT_STAT, "segment: counted")                                                                   \
    X(TURN_DONE, "turn: done")                                                                            \
    X(TURN_DONE_INFO, "turn: done, with info")                                                            \
    X(TURN_RESULT, "turn: done, with a result")                                                           \
    X(TURN_RESULT_RECORD, "turn: done, with a result, by a record")                                       \
    X(TURN_DONE_UNKEPT, "turn: done, not kept")                                                           \
    X(TURN_INFO_UNKEPT, "turn: done with info, not kept")                                                 \
    X(TURN_OLD_PROGRESS_UNKEPT, "turn: done, not kept, of whose progress an earlier thread told")         \
    X(TURN_UNCOUNTED_UNKEPT, "turn: done, not kept, that was dead of what is no attempt")                 \
    X(TURN_RETRY, "turn: retry")                                                                          \
    X(TURN_FAIL, "turn: fail")                                                                            \
    X(TURN_FAIL_UNCOUNTED, "turn: fail, not an attempt")                                                  \
    X(TURN_FAIL_UNKEPT, "turn: fail, not kept")                                                           \
    X(TURN_ENDS_CANCELLED, "turn: cancelled by its handler")                                              \
    X(TURN_DISCARDS, "turn: discarded")                                                                   \
    X(TURN_SNOOZE, "turn: snooze")                                                                        \
    X(TURN_SNOOZE_NOW, "turn: back to the front")                                                         \
    X(TURN_TRIM_COMPLETED, "turn: completed trimmed by count")                                            \
    X(TURN_TRIM_DEAD, "turn: dead trimmed by count")                                                      \
    X(TURN_REFUSED, "turn: refused, not held")                                                            \
    X(TURN_REFUSED_LEASE, "turn: refused, another lease")                                                 \
    X(TURN_REFUSED_DYING, "turn: refused, the session is being reaped")                                   \
    X(TURN_NAMED, "turn: settled by lease")                                                               \
    X(TURN_HALF_HELD, "turn: some of several done are held")                                              \
    X(TURN_NOTIFIED, "turn: somebody waited")                                                             \
    X(TURN_GONE, "turn: the session is not there")                                                        \
    X(TURN_LOOKS, "turn: leases nothing behind a session that is not there")                              \
    X(TURN_GONE_DYING, "turn: the session is being reaped")                                               \
    X(TURN_LEASE, "turn: leases")                                                                         \
    X(TURN_LEASE_MARKED, "turn: leases a marked task")                                                    \
    X(TURN_LEASE_ALONE, "turn: leases a crashed task alone")                                              \
    X(TURN_LEASE_CUT, "turn: a crashed task ends the lease")                                              \
    X(TURN_LEASE_COMPANY, "turn: a crashed task waits for a turn of its own")                             \
    X(TURN_PUT_OFF, "turn: a second crashed task is put off")                                             \
    X(TURN_LEASE_BOTH, "turn: leases from two queues")                                                    \
    X(TURN_PAUSED, "turn: paused")                                                                        \
    X(TURN_EMPTY, "turn: nothing is ready")                                                               \
    X(TURN_LEASE_LARGE, "turn: leases where envelopes are large")                                         \
    X(TURN_SEVERAL, "turn: leases for a thread that does not call")                                       \
    X(TURN_SEVERAL_QUEUES, "turn: leases for several threads from both queues")                           \
    X(TURN_SEVERAL_LIMITS, "turn: leases for several threads where limits or events are in force")        \
    X(TURN_LOST, "turn: the reply is lost")                                                               \
    X(TURN_TWICE, "turn: sent twice")                                                                     \
    X(TURN_ELSEWHERE, "turn: told of one queue, leases from another")                                     \
    X(RECOVER_FINDS, "recover: a lease that a lost reply took")                                           \
    X(RECOVER_MISSES, "recover: what was wanted was settled")                                             \
    X(BEGIN_SESSION, "begin_session: begins")                                                             \
    X(BEGIN_SESSION_AGAIN, "begin_session: of one that is there")                                         \
    X(BEGIN_SESSION_DYING, "begin_session: the session is being reaped")                                  \
    X(RECOVER_GONE, "recover: the session is gone")                                                       \
    X(RECOVER_DYING, "recover: the session is being reaped")                                              \
    X(REGAIN_NOWHERE, "regain: a task that a failed turn left nowhere")                                   \
    X(REGAIN_STANDS, "regain: all that stands somewhere")                                                 \
    X(POP_TOKEN, "wake: a thread is told")                                                                \
    X(HAND_IDLE, "idle: a thread waits to be handed a task")                                              \
    X(HAND_AGAIN, "idle: it turned meanwhile")                                                            \
    X(HAND_SEVERAL, "idle: a thread that another one called for")                                         \
    X(HAND_ALREADY, "idle: it turned, and has something already")                                         \
    X(HAND_ALIEN, "idle: a thread whose worker died is handed a task")                                    \
    X(HAND_TASK, "idle: handed a task")                                                                   \
    X(HAND_FINDS, "idle: finds its task")                                                                 \
    X(HAND_LOOK, "idle: told to look")                                                                    \
    X(HAND_LOST, "idle: a connection is lost with what it was handed")                                    \
    X(HAND_RECOVER, "recover: of an idle thread")                                                         \
    X(HAND_RECOVER_LOOK, "recover: of a thread that was to look")                                         \
    X(HAND_RECOVER_TASK, "recover: a task that was handed over")                                          \
    X(HAND_LEFT, "end_session: a task that was handed over")                                              \
    X(HAND_REAPED, "maintain: reaps a task that was handed over")                                         \
    X(HAND_ROUSED, "idle: two are told to look at once")                                                  \
    X(HEARTBEAT_ALIVE, "heartbeat: alive")                                                                \
    X(HEARTBEAT_GONE, "heartbeat: gone")                                                                  \
    X(HEARTBEAT_DYING, "heartbeat: being reaped")                                                         \
    X(END_SESSION_ALL, "end_session: at once")                                                            \
    X(END_SESSION_STEP, "end_session: a step")                                                            \
    X(END_SESSION_NOTHING, "end_session: holds nothing")                                                  \
    X(END_SESSION_DYING, "end_session: being reaped")                                                     \
    X(END_SESSION_GONE, "end_session: gone")                                                              \
    X(MAINTAIN_PROMOTE, "maintain: promotes")                                                             \
    X(MAINTAIN_PROMOTE_STEP, "maintain: promotes some of them")                                           \
    X(REAP_ALL, "reap: reaps")                                                                            \
    X(REAP_STEP, "reap: reaps a step")                                                                    \
    X(REAP_ON, "reap: reaps on")                                                                          \
    X(REAP_EMPTY, "reap: reaps a session that holds nothing")                                             \
    X(REAP_ANOTHER, "reap: another session is dead")                                                      \
    X(REAP_NONE, "reap: no session is dead")                                                              \
    X(REAP_SPARED, "reap: an expired session is spared")                                                  \
    X(MAINTAIN_LEAVES, "maintain: whoever called it does not reap, or tell of ends")                      \
    X(MAINTAIN_SPARE, "maintain: an expired session is spared")                                           \
    X(UPKEEP_ON, "upkeep: the queue was left alone again while sessions are spared")                      \
    X(UPKEEP_BACK, "upkeep: the clock went back")                                                         \
    X(BACK_BLOCKED, "unblocked: it waits no longer than it was told, as the clock was set back")          \
    X(BACK_SCHEDULED, "maintain: what waits a while comes sooner, as the clock was set back")             \
    X(MAINTAIN_BACK, "maintain: the clock was set back")                                                  \
    X(TRIM_AHEAD, "trim: what ended later than now, as the clock went back")                              \
    X(RATE_BOUND, "rate: its clock was further ahead than can be")                                        \
    X(MAINTAIN_TRIM_COUNT, "maintain: trims by count")                                                    \
    X(MAINTAIN_TRIM_COMPLETED, "maintain: trims completed by age")                                        \
    X(MAINTAIN_TRIM_CANCELLED, "maintain: trims cancelled by age")                                        \
    X(MAINTAIN_TRIM_DEAD, "maintain: trims dead by age")                                                  \
    X(MAINTAIN_WAITERS, "maintain: forgets who waits no longer")                                          \
    X(BYTES_TRIM, "results: a turn trims by their bytes")                                                 \
    X(BYTES_TEND, "results: tend trims by their bytes")                                                   \
    X(BYTES_STEP, "results: tend trims some of them")                                                     \
    X(BYTES_BEFORE, "results: tend counts one from before")                                               \
    X(BYTES_NONE, "results: their bytes do not count any more")                                           \
    X(RESULT_BLOCK_MADE, "result block: made")                                                            \
    X(RESULT_BLOCK_BEHIND, "result block: put behind another of its ms")                                  \
    X(RESULT_BLOCK_PARSED, "result block: of a turn that takes the longer way")                           \
    X(RESULT_BLOCK_SWEPT, "result block: swept with the last of its tasks")                               \
    X(RESULT_BLOCK_CUT, "result block: some of its tasks trimmed")                                        \
    X(RESULT_BLOCK_CUT_NOW, "result block: some of its tasks trimmed in its ms")                          \
    X(RESULT_BLOCK_LEFT, "result block: taken apart for one that is deleted")                             \
    X(RESULT_BLOCK_FORGOT, "result block: taken apart, and some of its tasks are gone")                   \
    X(RESULT_BLOCK_APART, "result block: taken apart to be counted")                                      \
    X(RESULT_BLOCK_APART_STEP, "result block: some are taken apart to be counted")                        \
    X(RESULT_BLOCK_READ, "result block: read")                                                            \
    X(MAINTAIN_SMALL, "maintain: envelopes are small again")                                              \
    X(CANCEL_READY, "cancel: ready")                                                                      \
    X(CANCEL_SCHEDULED, "cancel: scheduled")                                                              \
    X(CANCEL_RUNNING, "cancel: running")                                                                  \
    X(TURN_CANCELLED, "turn: cancelled while it ran")                                                     \
    X(END_SESSION_CANCELLED, "end_session: cancelled while it ran")                                       \
    X(REAP_CANCELLED, "reap: reaps what was cancelled while it ran")                                      \
    X(RETRY_UNMARKED, "retry: cancelled while it ran")                                                    \
    X(CANCEL_UNKEPT, "cancel: not kept")                                                                  \
    X(CANCEL_REFUSED, "cancel: its state forbids it")                                                     \
    X(CANCEL_NONE, "cancel: no such task")                                                                \
    X(CANCEL_NOTIFIED, "cancel: somebody waited")                                                         \
    X(RETRY_DEAD, "retry: dead")                                                                          \
    X(RETRY_CANCELLED, "retry: cancelled")                                                                \
    X(RETRY_COMPLETED, "retry: a completed one")                                                          \
    X(RETRY_READ, "retry: a completed one whose result is read")                                          \
    X(MOVE_READY, "move: to ready")                                                                       \
    X(MOVE_SCHEDULED, "move: to scheduled")                                                               \
    X(MOVE_ENDED, "move: of one that has ended")                                                          \
    X(MOVE_KEY, "move: with its unique key")                                                              \
    X(MOVE_KEY_TAKEN, "move: its unique key is taken there")                                              \
    X(MOVE_TWICE, "move: its message comes twice")                                                        \
    X(MOVE_EXPIRES, "move: of one that runs, whose lease ends")                                           \
    X(MOVE_CANCELLED, "move: refused, as it was cancelled while it runs")                                 \
    X(MOVE_REFUSED, "move: refused")                                                                      \
    X(UNLOCK_FREED, "unlock: freed")                                                                      \
    X(UNLOCK_FREE, "unlock: nobody held it")                                                              \
    X(LEASE_TASK, "lease_task: a task out of its turn")                                                   \
    X(LEASE_TASK_BEFORE, "lease_task: before others that are ready")                                      \
    X(LEASE_TASK_REFUSED, "lease_task: it is not ready")                                                  \
    X(LEASE_TASK_PAUSED, "lease_task: the queue is paused")                                               \
    X(LEASE_TASK_LIMIT, "lease_task: a limit holds it back")                                              \
    X(LEASE_TASK_OFF, "lease_task: the session has another suspect")                                      \
    X(LEASE_TASK_GONE, "lease_task: its session is gone")                                                 \
    X(LEASE_TASK_LOST, "lease_task: its reply is lost")                                                   \
    X(EDIT_PLACE, "edit: it moves to another place")                                                      \
    X(EDIT_PARKED, "edit: of a parked one")                                                               \
    X(EDIT_STAYS, "edit: it stays where it is")                                                           \
    X(EDIT_ENDED, "edit: of a dead or cancelled one")                                                     \
    X(EDIT_TAGS, "edit: tags of one that runs or has completed")                                          \
    X(EDIT_SAME, "edit: nothing changes")                                                                 \
    X(EDIT_EXPIRES, "edit: of one that runs, whose lease ends")                                           \
    X(EDIT_REFUSED, "edit: refused")                                                                      \
    X(EXPIRE_BACK, "expire: ready again")                                                                 \
    X(EXPIRE_HANDED, "expire: a task that was handed over")                                               \
    X(EXPIRE_CANCELLED, "expire: it was cancelled while it ran")                                          \
    X(EXPIRE_LOST, "expire: of a session that is being reaped")                                           \
    X(EXPIRE_REFUSED, "expire: refused")                                                                  \
    X(FAIL_WAITING, "fail: a waiting one")                                                                \
    X(FAIL_BLOCKED, "fail: a blocked one")                                                                \
    X(FAIL_RUNNING, "fail: a running one")                                                                \
    X(FAIL_REFUSED, "fail: refused")                                                                      \
    X(RETRY_SCHEDULED, "retry: scheduled")                                                                \
    X(RETRY_REFUSED, "retry: its state forbids it")                                                       \
    X(RETRY_NONE, "retry: no such task")                                                                  \
    X(DELETE_READY, "delete: ready")                                                                      \
    X(DELETE_SCHEDULED, "delete: scheduled")                                                              \
    X(DELETE_COMPLETED, "delete: completed")                                                              \
    X(DELETE_DEAD, "delete: dead")                                                                        \
    X(DELETE_CANCELLED, "delete: cancelled")                                                              \
    X(DELETE_RUNNING, "delete: running")                                                                  \
    X(DELETE_LOST, "delete: being taken back")                                                            \
    X(DELETE_NONE, "delete: no such task")                                                                \
    X(PAUSE_ON, "pause: paused")                                                                          \
    X(PAUSE_OFF, "pause: resumed")                                                                        \
    X(PAUSE_SAME, "pause: as it was")                                                                     \
    X(PROGRESS_HELD, "progress: told")                                                                    \
    X(PROGRESS_REFUSED, "progress: not held")                                                             \
    X(WAIT_WAITS, "wait: waits")                                                                          \
    X(WAIT_ENDED, "wait: ended")                                                                          \
    X(WAIT_NONE, "wait: no such task")                                                                    \
    X(SHOW_TASK, "show: a task")                                                                          \
    X(SHOW_NONE, "show: no such task")                                                                    \
    X(LIST_STATE, "list: a state")                                                                        \
    X(LIST_RUNNING, "list: running")                                                                      \
    X(LIST_PAGE, "list: a page of several")                                                               \
    X(UNIQUE_REFUSED, "enqueue: the unique key is taken")                                                 \
    X(UNIQUE_AGAIN, "enqueue: sent again, the key is still ours")                                         \
    X(UNIQUE_REPLACE, "enqueue: replaces the task that has the key")                                      \
    X(UNIQUE_DEBOUNCE, "enqueue: debounces the task that has the key")                                    \
    X(UNIQUE_PLACE, "enqueue: takes the place of the task that had the key")                              \
    X(UNIQUE_FREED, "unique: free with the end of its task")                                              \
    X(UNIQUE_STARTED, "unique: free with the start of its task")                                          \
    X(UNIQUE_TIME, "unique: free with time")                                                              \
    X(REAP_GUILTY, "reap: a task that ran alone when its worker died is guilty")                          \
    X(REAP_INNOCENT, "reap: ... and the others are not")                                                  \
    X(REAP_DEADLINE, "reap: ... and a task that had not begun keeps its deadline")                        \
    X(REAP_UNBEGUN, "reap: ... nor is a suspect that had not begun")                                      \
    X(SUSPECT_CLEARED, "suspect: it has run alone to its end")                                            \
    X(ONCE_KEEPS, "once: a completed task keeps its key")                                                 \
    X(ONCE_FREED, "once: the key is free with the end of the run")                                        \
    X(ONCE_LEFT, "once: the key is free with the end of the session")                                     \
    X(DEATH_TOLD, "death: calls for a task")                                                              \
    X(DEATH_AGAIN, "death: twice at the same time")                                                       \
    X(RETRY_UNIQUE, "retry: another has the unique key")                                                  \
    X(RETRY_LOCKS, "retry: takes the unique key again")                                                   \
    X(RESCHEDULE_PRIORITY, "reschedule: another priority")                                                \
    X(RESCHEDULE_SAME, "reschedule: the same priority")                                                   \
    X(RESCHEDULE_LATER, "reschedule: to a time")                                                          \
    X(RESCHEDULE_NOW, "reschedule: now")                                                                  \
    X(RESCHEDULE_READY, "reschedule: ready, and now")                                                     \
    X(RESCHEDULE_REFUSED, "reschedule: its state forbids it")                                             \
    X(RESCHEDULE_NONE, "reschedule: no such task")                                                        \
    X(BULK_UPDATE_RETRY, "bulk_update: retries")                                                          \
    X(BULK_UPDATE_CANCEL, "bulk_update: cancels")                                                         \
    X(BULK_UPDATE_DELETE, "bulk_update: deletes")                                                         \
    X(BULK_UPDATE_UNIQUE, "bulk_update: another has the unique key")                                      \
    X(BULK_UPDATE_LEFT, "bulk_update: leaves what is not meant")                                          \
    X(BULK_UPDATE_STEPS, "bulk_update: in steps")                                                         \
    X(BULK_UPDATE_NOTHING, "bulk_update: nothing there")                                                  \
    X(BULK_UPDATE_STOPPED, "bulk_update: given up half way")                                              \
    X(FAILURES_KINDS, "failures: several kinds")                                                          \
    X(FAILURES_NONE, "failures: none")                                                                    \
    X(LIST_KIND, "list: of a kind")                                                                       \
    X(ON_DEAD_SET, "settings: deaths call for a task")                                                    \
    X(GATE_PARKS, "limits: a task is parked")                                                             \
    X(GATE_CALLS, "limits: a parked task is called")                                                      \
    X(GATE_SHUT, "limits: the queue is shut")                                                             \
    X(GATE_OFF, "limits: a suspect is put off")                                                           \
    X(GATE_FULL, "limits: a group is at its limit")                                                       \
    X(CANCEL_PARKED, "cancel: parked")                                                                    \
    X(DELETE_PARKED, "delete: parked")                                                                    \
    X(RESCHEDULE_PARKED, "reschedule: the priority of a parked task")                                     \
    X(LIMIT_CONCURRENCY, "limit: concurrency")                                                            \
    X(LIMIT_RATE, "limit: rate")                                                                          \
    X(LIMIT_GROUP_CONCURRENCY, "limit: concurrency of groups")                                            \
    X(LIMIT_GROUP_RATE, "limit: rate of groups")                                                          \
    X(LIMIT_TYPE, "limit: of a type")                                                                     \
    X(TYPE_PARKS, "limits: a task is parked under its type")                                              \
    X(LIMIT_KEY, "limit: of a limit key")                                                                 \
    X(KEY_PARKS, "limits: a task is parked under a limit key")                                            \
    X(LIMIT_OWN_CONCURRENCY, "limit: concurrency of a group")                                             \
    X(LIMIT_OWN_RATE, "limit: rate of a group")                                                           \
    X(LIMIT_COST, "limits: a task starts that costs more than a unit")                                    \
    X(RATE_DEBT, "limits: a rate is in debt for a cost")                                                  \
    X(LIMIT_NONE, "limit: none")                                                                          \
    X(LIMIT_FORGET, "limit: a group's own is forgotten")                                                  \
    X(DEPENDENCY_TOLD, "cancel: those that wait for it are told")                                         \
    X(BLOCK_WAITS, "block: a running task waits for others")                                              \
    X(BLOCK_GOES_ON, "block: ... which have ended")                                                       \
    X(BLOCK_DIES, "block: ... and dies at once")                                                          \
    X(BLOCK_CANCELLED, "block: it was cancelled meanwhile")                                               \
    X(BLOCK_REFUSED, "block: the session does not hold it")                                               \
    X(LIMIT_STRICT, "limit: groups are strict")                                                           \
    X(LIMIT_OWN_STRICT, "limit: a group is strict")                                                       \
    X(STRICT_KEEPS, "limits: a task of a strict group waits again and keeps its slot")                    \
    X(STRICT_STARTS, "limits: it starts again")                                                           \
    X(STRICT_PARKS, "limits: it is parked, by a hold or a rate")                                          \
    X(STRICT_NO_MORE, "limits: it loses its slot, as its group is not strict any more")                   \
    X(LIMIT_COUNTS, "limit: counts what runs")                                                            \
    X(HOLD_QUEUE, "hold: a queue")                                                                        \
    X(HOLD_GROUP, "hold: a group")                                                                        \
    X(HOLD_ENDS, "hold: ends")                                                                            \
    X(HOLD_KEPT, "hold: a longer one stands")                                                             \
    X(MAINTAIN_HOLD, "maintain: a hold is over")                                                          \
    X(LIMITS_TOLD, "limits: of a queue")                                                                  \
    X(LIMITS_GROUP, "limits: of a group")                                                                 \
    X(CRON_NEW, "cron: a new entry")                                                                      \
    X(CRON_CHANGED, "cron: changed")                                                                      \
    X(CRON_STARTED_AGAIN, "cron: changed after it had ended")                                             \
    X(CRON_PAUSED, "cron: paused")                                                                        \
    X(CRON_RESUMED, "cron: resumed")                                                                      \
    X(CRON_REMOVED, "cron: removed")                                                                      \
    X(CRON_NONE, "cron: no such entry")                                                                   \
    X(CRON_NEW_PAUSED, "cron: a new entry comes paused")                                                  \
    X(CRON_GOT, "cron: one entry is asked for")                                                           \
    X(CRON_LISTED, "cron: listed")                                                                        \
    X(FIRE_MAKES, "fire: makes a task")                                                                   \
    X(FIRE_LATE, "fire: another was first")                                                               \
    X(FIRE_NO_SLOT, "fire: at none of its times")                                                         \
    X(FIRE_NOW, "fire: now")                                                                              \
    X(FIRE_RUNS, "fire: makes the last task of an entry with a number of runs")                           \
    X(FIRE_OVERLAP, "fire: its last task has not ended")                                                  \
    X(MAINTAIN_DUE, "maintain: an entry is due")                                                          \
    X(BEGIN_SESSION_POLICY, "begin_session: tells of the policy")                                         \
    X(DEPENDENCY_BLOCKED, "dependency: waits for others")                                                 \
    X(DEPENDENCY_FREE, "dependency: comes and waits for none")                                            \
    X(DEPENDENCY_BLOCKED_BY_HAND, "dependency: waits from now on")                                        \
    X(DEPENDENCY_RELEASED, "dependency: its last edges are taken away")                                   \
    X(DEPENDENCY_SIGNAL, "dependency: a signal comes")                                                    \
    X(DEPENDENCY_NOT_WAITING, "depend: its state forbids it")                                             \
    X(DEPENDENCY_EDGE_FORGOTTEN, "depend: what it waited for before is forgotten")                        \
    X(DEPENDENCY_UNKNOWN, "dependency: a parent that is not known")                                       \
    X(DEPENDENCY_EXPECTED, "dependency: a parent that has yet to come")                                   \
    X(DEPENDENCY_BEHIND, "dependency: comes behind a parent that its call has later")                     \
    X(DEPENDENCY_MISSING, "dependency: refused, a parent is not known")                                   \
    X(DEPENDENCY_DIES_UNKNOWN, "dependency: dies, as a parent is not known")                              \
    X(DEPENDENCY_CHANGED, "depend: an edge that is there changes")                                        \
    X(DEPENDENCY_RESTORED, "retry: waits for its parents again")                                          \
    X(DEPENDENCY_RESTORED_DEATH, "retry: the death for which it waited was met meanwhile")                \
    X(DEPENDENCY_READY, "dependency: ready with its last parent")                                         \
    X(DEPENDENCY_SCHEDULED, "dependency: scheduled with its last parent")                                 \
    X(DEPENDENCY_DEATH, "dependency: called for by a death")                                              \
    X(DEPENDENCY_NOT_NEEDED, "dependency: there was no death")                                            \
    X(DEPENDENCY_DIES, "dependency: dies of its parent")                                                  \
    X(DEPENDENCY_CASCADE, "dependency: cancelled or deleted with what waits for it")                      \
    X(DEPENDENCY_CASCADES, "dependency: cancelled with its parent")                                       \
    X(DEPENDENCY_REFUSED, "dependency: others wait for it")                                               \
    X(DEPENDENCY_AT_ONCE, "dependency: told at once")                                                     \
    X(DEPENDENCY_MANY, "dependency: more than are told at once")                                          \
    X(DEPENDENCY_FAN, "dependency: to be told in steps")                                                  \
    X(DEPENDENCY_FANS_TOGETHER, "dependency: several ends told in one step")                              \
    X(DEPENDENCY_FAN_STEP, "dependency: told in several steps")                                           \
    X(DEPENDENCY_FORSAKEN, "dependency: the record of a dead parent goes")                                \
    X(DEPENDENCY_LATE, "dependency: told when it does not wait any more")                                 \
    X(DEPENDENCY_TWICE, "dependency: told twice, or too late")                                            \
    X(CANCEL_BLOCKED, "cancel: blocked")                                                                  \
    X(DELETE_BLOCKED, "delete: blocked")                                                                  \
    X(TURN_HANDS_ON, "turn: hands on a task")                                                             \
    X(TURN_HANDS_ACROSS, "turn: hands on a task by message")                                              \
    X(AGAIN_UNPROVEN, "enqueue: sent again, it may have run already")                                     \
    X(AGAIN_REPLACED, "enqueue: a repeated task that was replaced is not known")                          \
    X(AGAIN_MOVED_BACK, "enqueue: sent again, and the clock was set back since")                          \
    X(AGAIN_MOVED_ON, "enqueue: sent again, and the clock was set forward since")                         \
    X(AGAIN_HAS_KEY, "enqueue: sent again, it still has its key")                                         \
    X(REPLACEMENT, "enqueue: what waited for the task that is replaced waits for the new one")            \
    X(REPLACEMENT_LATER, "deliver: a task waits for the replaced one by a later message, which stands")   \
    X(REPLACEMENT_AGAIN, "link: one that waits for a task which was replaced is told who took its place") \
    X(REPLACEMENT_LAST, "link: ... and that one was replaced, too: by the last of them")                  \
    X(REPLACEMENT_PARENTS, "enqueue: what the task that is replaced waits for, the new one waits for")    \
    X(REPLACEMENT_SIGNAL, "enqueue: the new one waits for the signal of the task that is replaced")       \
    X(REPLACEMENT_IS_CHILD, "enqueue: a task that waits for the holder of its key is refused")            \
    X(REPLACEMENT_BOTH, "enqueue: what waited for both waits for the new one once")                       \
    X(REPLACEMENT_ACROSS, "enqueue: ... in another queue")                                                \
    X(REPLACEMENT_LEFT, "enqueue: ... that does not wait any more")                                       \
    X(FAN_TELLS, "fan: children are told by whoever cancelled")                                           \
    X(STEER_MORE, "cancel, delete: others are still to hear of it")                                       \
    X(READ_EDGE, "readers: a child may read a parent's record")                                           \
    X(READ_RETAINED, "readers: a record past its retention is kept")                                      \
    X(READ_LET_GO, "readers: a record goes with its last reader")                                         \
    X(READ_DROPPED, "readers: a record that is read is deleted")                                          \
    X(READ_LEFT, "readers: a reader in another queue has ended")                                          \
    X(READ_NOT, "readers: a child in another queue does not wait any more")                               \
    X(BREAKER_SET, "breaker: is set")                                                                     \
    X(BREAKER_OPENS, "breaker: of a queue opens")                                                         \
    X(BREAKER_GROUP_OPENS, "breaker: of a group opens")                                                   \
    X(BREAKER_TRIES, "breaker: a task tries")                                                             \
    X(BREAKER_CLOSES, "breaker: closes")                                                                  \
    X(KEEP_OWN, "keep: a record is kept for its own time")                                                \
    X(KEEP_OWN_SHORT, "keep: it goes before the retention of its queue ends")                             \
    X(KEEP_OWN_LONG, "keep: it goes after that")                                                          \
    X(DELETE_RETAINED, "delete: completed, past its retention")                                           \
    X(CARRY_DELIVERS, "carry: delivers")                                                                  \
    X(CARRY_REGISTERS, "carry: registers")                                                                \
    X(CARRY_UNREGISTERS, "carry: unregisters")                                                            \
    X(CARRY_ANSWERS, "carry: the parent has ended")                                                       \
    X(CARRY_UNDONE, "carry: registers what a later message took away")                                    \
    X(CARRY_TASK, "carry: a task")                                                                        \
    X(CARRY_STALLED, "carry: goes on late")                                                               \
    X(CARRY_TWICE, "carry: a message comes again")                                                        \
    X(CARRY_FORGOTTEN, "carry: what was received long ago is forgotten")                                  \
    X(CARRY_MISREAD, "carry: a message is not understood, and set aside")                                 \
    X(CARRY_BACK, "carry: messages that were set aside are put back")                                     \
    X(DEPENDENCY_EARLIER, "dependency: told of an earlier edge")                                          \
    X(CARRY_DIES, "carry: dies half way")                                                                 \
    X(CARRY_NOTHING, "carry: nothing there")                                                              \
    X(ENQUEUE_DEADLINE, "enqueue: a deadline")                                                            \
    X(EXPIRES_READY, "deadline: of a ready task is over")                                                 \
    X(EXPIRES_PARKED, "deadline: of a parked task is over")                                               \
    X(EXPIRES_SCHEDULED, "deadline: of a scheduled task is over")                                         \
    X(EXPIRES_BLOCKED, "deadline: of a blocked task is over")                                             \
    X(EXPIRES_AGAIN, "deadline: of a task that goes back unbegun, past it")                               \
    X(TURN_RUN, "turn: done, and its run is recorded")                                                    \
    X(MAINTAIN_BUDGET, "maintain: leaves tasks that are due to the next call, as it has done enough")     \
    X(DEPENDENCY_EARLIER_OPEN, "dependency: told of an earlier edge, and the later one waits")            \
    X(EXPIRES_NOT, "deadline: of a task that has begun")                                                  \
    X(TURN_DEADLINE_OVER, "turn: failed, and no deadline holds it any more")                              \
    X(CHECKPOINT_LEFT, "checkpoint: left")                                                                \
    X(CHECKPOINT_NONE, "checkpoint: none any more")                                                       \
    X(CHECKPOINT_REFUSED, "checkpoint: not held")                                                         \
    X(TURN_CHECKPOINT_GOES, "turn: done, and its checkpoint goes")                                        \
    X(LOG_LINE, "log: a line")                                                                            \
    X(LOG_AGAIN, "log: the same line again")                                                              \
    X(LOG_BOUNDED, "log: more lines than are kept")                                                       \
    X(LOG_REFUSED, "log: not held by that lease")                                                         \
    X(CANCELLED_YES, "cancelled: it was")                                                                 \
    X(CANCELLED_NO, "cancelled: it was not")                                                              \
    X(EVENTS_KEPT, "events: kept")                                                                        \
    X(EVENTS_NONE, "events: none are kept")                                                               \
    X(EVENTS_LISTEN, "events: somebody listens")                                                          \
    X(EVENTS_NOBODY, "events: nobody listens any more")                                                   \
    X(EVENTS_LOOK, "events: looked at")                                                                   \
    X(EVENTS_TELL, "events: a transition is told")                                                        \
    X(TAGS_INDEXED, "tags: a task is found by them")                                                      \
    X(TAGS_REPEATED, "tags: one of them is given twice")                                                  \
    X(TAGS_UNTIDY, "tags: one that is gone is still found")                                               \
    X(TAGS_TIDY, "tags: ... and then it is not")                                                          \
    X(TAGS_TOLD, "tags: told of")                                                                         \
    X(TAGS_FOUND, "tags: tasks are found")                                                                \
    X(TAGS_PAGE, "tags: a page of several")                                                               \
    X(HEARTBEAT_FLUSH, "heartbeat: statistics")                                                           \
    X(HEARTBEAT_FLUSH_AGAIN, "heartbeat: the same statistics again")                                      \
    X(STATS_TOLD, "stats: of a day")                                                                      \
    X(STATS_GONE, "stats: old days go")                                                                   \
    X(STATS_HOUR_GONE, "stats: old hours go")                                                             \
    X(STAT, "stat: numbers")                                                                              \
    X(CHECK, "check: finds nothing")

#define MODEL_TRANSITION(name, words) COVER_##name,
enum { MODEL_TRANSITIONS(MODEL_TRANSITION) TRANSITIONS };
#undef MODEL_TRANSITION

void model_cover(int transition);
#define COVER(name) model_cover(COVER_##name)

/* The transitions of the definition (model_transitions.c). */
bool model_made_all(void);
void model_show_unmade(void);
void model_show_made(void);

/* These and those. */
bool model_covered_all(void);
void model_show_missing(void); /* prints those that never happened */
void model_show_cover(void);   /* prints how often each happened */

#endif

/*
 * model_cover.h - the transitions of each script: a row each, counted where the model makes it.
 */
#ifndef TEST_MODEL_COVER_H
#define TEST_MODEL_COVER_H

#include <stdbool.h>

#define MODEL_TRANSITIONS(X)                                                                       \
    X(ENQUEUE_READY, "enqueue: ready")                                                             \
    X(ENQUEUE_IN, "enqueue: scheduled, in")                                                        \
    X(ENQUEUE_AT, "enqueue: scheduled, at")                                                        \
    X(ENQUEUE_PAST, "enqueue: at a time that has passed")                                          \
    X(ENQUEUE_TAKEN, "enqueue: the id is taken")                                                   \
    X(ENQUEUE_TAKEN_WITHIN, "enqueue: the id is taken within the call")                            \
    X(ENQUEUE_AGAIN, "enqueue: sent again, it is ours")                                            \
    X(ENQUEUE_LARGE, "enqueue: large")                                                             \
    X(PACKET_MADE, "packet: made")                                                                 \
    X(PACKET_BEHIND, "packet: made where another was, and something came in between")              \
    X(PACKET_JOINED, "packet: joined")                                                             \
    X(PACKET_NOT_NEW, "packet: none, an id is taken, or came twice")                               \
    X(PACKET_GROUPS, "packet: none, there are groups")                                             \
    X(PACKET_EVENTS, "packet: none, there are events")                                             \
    X(LAID_PACKET, "packet: laid")                                                                 \
    X(LAID_TAKEN_UP, "packet: laid, and taken up again")                                           \
    X(LAID_UNPLACED, "packet: laid without a place, and sent again")                               \
    X(PACKET_LEASED, "packet: leased wholly")                                                      \
    X(PACKET_LEASED_PART, "packet: leased in part")                                                \
    X(PACKET_OPENED, "packet: all are taken out")                                                  \
    X(PACKET_OPENED_PART, "packet: some are taken out")                                            \
    X(PACKET_LEFT, "packet: left by a task")                                                       \
    X(PACKET_LEFT_WITHIN, "packet: left by one that is not its first")                             \
    X(PACKET_LEFT_BY_LAST, "packet: left by its last task")                                        \
    X(PACKET_BETWEEN, "packet: a task of a group stands between two of its tasks")                 \
    X(PACKET_SWEPT, "packet: swept")                                                               \
    X(PACKET_SHOWN, "packet: one of its tasks is shown")                                           \
    X(PACKET_LISTED, "packet: listed")                                                             \
    X(PACKET_STAT, "packet: counted")                                                              \
    X(TURN_DONE, "turn: done")                                                                     \
    X(TURN_DONE_INFO, "turn: done, with info")                                                     \
    X(TURN_RESULT, "turn: done, with a result")                                                    \
    X(TURN_RESULT_RECORD, "turn: done, with a result, by a record")                                \
    X(TURN_DONE_UNKEPT, "turn: done, not kept")                                                    \
    X(TURN_INFO_UNKEPT, "turn: done with info, not kept")                                          \
    X(TURN_OLD_PROGRESS_UNKEPT, "turn: done, not kept, of whose progress an earlier thread told")  \
    X(TURN_UNCOUNTED_UNKEPT, "turn: done, not kept, that was dead of what is no attempt")          \
    X(TURN_RETRY, "turn: retry")                                                                   \
    X(TURN_FAIL, "turn: fail")                                                                     \
    X(TURN_FAIL_UNCOUNTED, "turn: fail, not an attempt")                                           \
    X(TURN_FAIL_UNKEPT, "turn: fail, not kept")                                                    \
    X(TURN_SNOOZE, "turn: snooze")                                                                 \
    X(TURN_SNOOZE_NOW, "turn: back to the front")                                                  \
    X(TURN_TRIM_COMPLETED, "turn: completed trimmed by count")                                     \
    X(TURN_TRIM_DEAD, "turn: dead trimmed by count")                                               \
    X(TURN_REFUSED, "turn: refused, not held")                                                     \
    X(TURN_REFUSED_LEASE, "turn: refused, another lease")                                          \
    X(TURN_REFUSED_DYING, "turn: refused, the session is being reaped")                            \
    X(TURN_NAMED, "turn: settled by lease")                                                        \
    X(TURN_HALF_HELD, "turn: some of several done are held")                                       \
    X(TURN_NOTIFIED, "turn: somebody waited")                                                      \
    X(TURN_BEGINS, "turn: a session begins")                                                       \
    X(TURN_GONE, "turn: the session is gone")                                                      \
    X(TURN_GONE_DYING, "turn: the session is being reaped")                                        \
    X(TURN_LEASE, "turn: leases")                                                                  \
    X(TURN_LEASE_MARKED, "turn: leases a marked task")                                             \
    X(TURN_LEASE_ALONE, "turn: leases a crashed task alone")                                       \
    X(TURN_LEASE_CUT, "turn: a crashed task ends the lease")                                       \
    X(TURN_LEASE_COMPANY, "turn: a crashed task waits for a turn of its own")                      \
    X(TURN_PUT_OFF, "turn: a second crashed task is put off")                                      \
    X(TURN_LEASE_BOTH, "turn: leases from two queues")                                             \
    X(TURN_PAUSED, "turn: paused")                                                                 \
    X(TURN_EMPTY, "turn: nothing is ready")                                                        \
    X(TURN_LEASE_LARGE, "turn: leases where envelopes are large")                                  \
    X(TURN_LOST, "turn: the reply is lost")                                                        \
    X(TURN_TWICE, "turn: sent twice")                                                              \
    X(TURN_ELSEWHERE, "turn: told of one queue, leases from another")                              \
    X(RECALL_FINDS, "recall: a lease that a lost reply took")                                      \
    X(RECALL_MISSES, "recall: what was wanted was settled")                                        \
    X(RECALL_GONE, "recall: the session is gone")                                                  \
    X(RECALL_DYING, "recall: the session is being reaped")                                         \
    X(REGAIN_NOWHERE, "regain: a task that a failed turn left nowhere")                            \
    X(REGAIN_STANDS, "regain: all that stands somewhere")                                          \
    X(POP_TOKEN, "wake: a thread is told")                                                         \
    X(HAND_IDLE, "idle: a thread waits to be handed a task")                                       \
    X(HAND_AGAIN, "idle: it turned meanwhile")                                                     \
    X(HAND_ALREADY, "idle: it turned, and has something already")                                  \
    X(HAND_ALIEN, "idle: a thread whose worker died is handed a task")                             \
    X(HAND_TASK, "idle: handed a task")                                                            \
    X(HAND_FINDS, "idle: finds its task")                                                          \
    X(HAND_LOOK, "idle: told to look")                                                             \
    X(HAND_LOST, "idle: a connection is lost with what it was handed")                             \
    X(HAND_RECALL, "recall: of an idle thread")                                                    \
    X(HAND_RECALL_LOOK, "recall: of a thread that was to look")                                    \
    X(HAND_RECALL_TASK, "recall: a task that was handed over")                                     \
    X(HAND_LEFT, "leave: a task that was handed over")                                             \
    X(HAND_REAPED, "tend: reaps a task that was handed over")                                      \
    X(HAND_ROUSED, "idle: two are told to look at once")                                           \
    X(BEAT_ALIVE, "beat: alive")                                                                   \
    X(BEAT_GONE, "beat: gone")                                                                     \
    X(BEAT_DYING, "beat: being reaped")                                                            \
    X(LEAVE_ALL, "leave: at once")                                                                 \
    X(LEAVE_STEP, "leave: a step")                                                                 \
    X(LEAVE_NOTHING, "leave: holds nothing")                                                       \
    X(LEAVE_DYING, "leave: being reaped")                                                          \
    X(LEAVE_GONE, "leave: gone")                                                                   \
    X(TEND_PROMOTE, "tend: promotes")                                                              \
    X(TEND_PROMOTE_STEP, "tend: promotes some of them")                                            \
    X(TEND_REAP, "tend: reaps")                                                                    \
    X(TEND_REAP_STEP, "tend: reaps a step")                                                        \
    X(TEND_REAP_ON, "tend: reaps on")                                                              \
    X(TEND_REAP_EMPTY, "tend: reaps a session that holds nothing")                                 \
    X(TEND_SPARE, "tend: an expired session is spared")                                            \
    X(UPKEEP_ON, "upkeep: the queue was left alone again while sessions are spared")               \
    X(UPKEEP_BACK, "upkeep: the clock went back")                                                  \
    X(BACK_BLOCKED, "unblocked: it waits no longer than it was told, as the clock was set back")   \
    X(BACK_SCHEDULED, "tend: what waits a while comes sooner, as the clock was set back")          \
    X(TEND_BACK, "tend: the clock was set back")                                                   \
    X(TRIM_AHEAD, "trim: what ended later than now, as the clock went back")                       \
    X(RATE_BOUND, "rate: its clock was further ahead than can be")                                 \
    X(TEND_TRIM_COUNT, "tend: trims by count")                                                     \
    X(TEND_TRIM_COMPLETED, "tend: trims completed by age")                                         \
    X(TEND_TRIM_CANCELLED, "tend: trims cancelled by age")                                         \
    X(TEND_TRIM_DEAD, "tend: trims dead by age")                                                   \
    X(TEND_WAITERS, "tend: forgets who waits no longer")                                           \
    X(BYTES_TRIM, "results: a turn trims by their bytes")                                          \
    X(BYTES_TEND, "results: tend trims by their bytes")                                            \
    X(BYTES_STEP, "results: tend trims some of them")                                              \
    X(BYTES_BEFORE, "results: tend counts one from before")                                        \
    X(BYTES_NONE, "results: their bytes do not count any more")                                    \
    X(BUNDLE_MADE, "bundle: made")                                                                 \
    X(BUNDLE_BEHIND, "bundle: put behind another of its ms")                                       \
    X(BUNDLE_PARSED, "bundle: of a turn that takes the longer way")                                \
    X(BUNDLE_SWEPT, "bundle: swept with the last of its tasks")                                    \
    X(BUNDLE_CUT, "bundle: some of its tasks trimmed")                                             \
    X(BUNDLE_CUT_NOW, "bundle: some of its tasks trimmed in its ms")                               \
    X(BUNDLE_LEFT, "bundle: taken apart for one that is deleted")                                  \
    X(BUNDLE_FORGOT, "bundle: taken apart, and some of its tasks are gone")                        \
    X(BUNDLE_APART, "bundle: taken apart to be counted")                                           \
    X(BUNDLE_APART_STEP, "bundle: some are taken apart to be counted")                             \
    X(BUNDLE_READ, "bundle: read")                                                                 \
    X(TEND_SMALL, "tend: envelopes are small again")                                               \
    X(CANCEL_READY, "cancel: ready")                                                               \
    X(CANCEL_SCHEDULED, "cancel: scheduled")                                                       \
    X(CANCEL_RUNNING, "cancel: running")                                                           \
    X(TURN_CANCELLED, "turn: cancelled while it ran")                                              \
    X(LEAVE_CANCELLED, "leave: cancelled while it ran")                                            \
    X(TEND_REAP_CANCELLED, "tend: reaps what was cancelled while it ran")                          \
    X(RETRY_UNMARKED, "retry: cancelled while it ran")                                             \
    X(CANCEL_UNKEPT, "cancel: not kept")                                                           \
    X(CANCEL_REFUSED, "cancel: its state forbids it")                                              \
    X(CANCEL_NONE, "cancel: no such task")                                                         \
    X(CANCEL_NOTIFIED, "cancel: somebody waited")                                                  \
    X(RETRY_DEAD, "retry: dead")                                                                   \
    X(RETRY_CANCELLED, "retry: cancelled")                                                         \
    X(RETRY_SCHEDULED, "retry: scheduled")                                                         \
    X(RETRY_REFUSED, "retry: its state forbids it")                                                \
    X(RETRY_NONE, "retry: no such task")                                                           \
    X(DELETE_READY, "delete: ready")                                                               \
    X(DELETE_SCHEDULED, "delete: scheduled")                                                       \
    X(DELETE_COMPLETED, "delete: completed")                                                       \
    X(DELETE_DEAD, "delete: dead")                                                                 \
    X(DELETE_CANCELLED, "delete: cancelled")                                                       \
    X(DELETE_RUNNING, "delete: running")                                                           \
    X(DELETE_LOST, "delete: being taken back")                                                     \
    X(DELETE_NONE, "delete: no such task")                                                         \
    X(PAUSE_ON, "pause: paused")                                                                   \
    X(PAUSE_OFF, "pause: resumed")                                                                 \
    X(PAUSE_SAME, "pause: as it was")                                                              \
    X(PROGRESS_HELD, "progress: told")                                                             \
    X(PROGRESS_REFUSED, "progress: not held")                                                      \
    X(WAIT_WAITS, "wait: waits")                                                                   \
    X(WAIT_ENDED, "wait: ended")                                                                   \
    X(WAIT_NONE, "wait: no such task")                                                             \
    X(SHOW_TASK, "show: a task")                                                                   \
    X(SHOW_NONE, "show: no such task")                                                             \
    X(LIST_STATE, "list: a state")                                                                 \
    X(LIST_RUNNING, "list: running")                                                               \
    X(LIST_PAGE, "list: a page of several")                                                        \
    X(UNIQUE_REFUSED, "enqueue: the unique key is taken")                                          \
    X(UNIQUE_AGAIN, "enqueue: sent again, the key is still ours")                                  \
    X(UNIQUE_REPLACE, "enqueue: replaces the task that has the key")                               \
    X(UNIQUE_DEBOUNCE, "enqueue: debounces the task that has the key")                             \
    X(UNIQUE_PLACE, "enqueue: takes the place of the task that had the key")                       \
    X(UNIQUE_FREED, "unique: free with the end of its task")                                       \
    X(UNIQUE_STARTED, "unique: free with the start of its task")                                   \
    X(UNIQUE_TIME, "unique: free with time")                                                       \
    X(REAP_GUILTY, "tend: a task that ran alone when its worker died is guilty")                   \
    X(REAP_INNOCENT, "tend: ... and the others are not")                                           \
    X(REAP_UNBEGUN, "tend: ... nor is a suspect that had not begun")                               \
    X(SUSPECT_CLEARED, "suspect: it has run alone to its end")                                     \
    X(ONCE_KEEPS, "once: a completed task keeps its key")                                          \
    X(ONCE_FREED, "once: the key is free with the end of the run")                                 \
    X(ONCE_LEFT, "once: the key is free with the end of the session")                              \
    X(DEATH_TOLD, "death: calls for a task")                                                       \
    X(DEATH_AGAIN, "death: twice at the same time")                                                \
    X(RETRY_UNIQUE, "retry: another has the unique key")                                           \
    X(RETRY_LOCKS, "retry: takes the unique key again")                                            \
    X(MOVE_PRIORITY, "move: another priority")                                                     \
    X(MOVE_SAME, "move: the same priority")                                                        \
    X(MOVE_LATER, "move: to a time")                                                               \
    X(MOVE_NOW, "move: now")                                                                       \
    X(MOVE_READY, "move: ready, and now")                                                          \
    X(MOVE_REFUSED, "move: its state forbids it")                                                  \
    X(MOVE_NONE, "move: no such task")                                                             \
    X(SWEEP_RETRY, "sweep: retries")                                                               \
    X(SWEEP_CANCEL, "sweep: cancels")                                                              \
    X(SWEEP_DELETE, "sweep: deletes")                                                              \
    X(SWEEP_UNIQUE, "sweep: another has the unique key")                                           \
    X(SWEEP_LEFT, "sweep: leaves what is not meant")                                               \
    X(SWEEP_STEPS, "sweep: in steps")                                                              \
    X(SWEEP_NOTHING, "sweep: nothing there")                                                       \
    X(SWEEP_STOPPED, "sweep: given up half way")                                                   \
    X(FAILURES_KINDS, "failures: several kinds")                                                   \
    X(FAILURES_NONE, "failures: none")                                                             \
    X(LIST_KIND, "list: of a kind")                                                                \
    X(ON_DEAD_SET, "settings: deaths call for a task")                                             \
    X(GATE_PARKS, "limits: a task is parked")                                                      \
    X(GATE_CALLS, "limits: a parked task is called")                                               \
    X(GATE_SHUT, "limits: the queue is shut")                                                      \
    X(GATE_OFF, "limits: a suspect is put off")                                                    \
    X(GATE_FULL, "limits: a group is at its limit")                                                \
    X(CANCEL_PARKED, "cancel: parked")                                                             \
    X(DELETE_PARKED, "delete: parked")                                                             \
    X(MOVE_PARKED, "move: the priority of a parked task")                                          \
    X(LIMIT_CONCURRENCY, "limit: concurrency")                                                     \
    X(LIMIT_RATE, "limit: rate")                                                                   \
    X(LIMIT_GROUP_CONCURRENCY, "limit: concurrency of groups")                                     \
    X(LIMIT_GROUP_RATE, "limit: rate of groups")                                                   \
    X(LIMIT_OWN_CONCURRENCY, "limit: concurrency of a group")                                      \
    X(LIMIT_OWN_RATE, "limit: rate of a group")                                                    \
    X(LIMIT_NONE, "limit: none")                                                                   \
    X(LIMIT_FORGET, "limit: a group's own is forgotten")                                           \
    X(LIMIT_STRICT, "limit: groups are strict")                                                    \
    X(LIMIT_OWN_STRICT, "limit: a group is strict")                                                \
    X(STRICT_KEEPS, "limits: a task of a strict group waits again and keeps its slot")             \
    X(STRICT_STARTS, "limits: it starts again")                                                    \
    X(STRICT_PARKS, "limits: it is parked, by a hold or a rate")                                   \
    X(STRICT_NO_MORE, "limits: it loses its slot, as its group is not strict any more")            \
    X(LIMIT_COUNTS, "limit: counts what runs")                                                     \
    X(HOLD_QUEUE, "hold: a queue")                                                                 \
    X(HOLD_GROUP, "hold: a group")                                                                 \
    X(HOLD_ENDS, "hold: ends")                                                                     \
    X(HOLD_KEPT, "hold: a longer one stands")                                                      \
    X(TEND_HOLD, "tend: a hold is over")                                                           \
    X(LIMITS_TOLD, "limits: of a queue")                                                           \
    X(LIMITS_GROUP, "limits: of a group")                                                          \
    X(CRON_NEW, "cron: a new entry")                                                               \
    X(CRON_CHANGED, "cron: changed")                                                               \
    X(CRON_PAUSED, "cron: paused")                                                                 \
    X(CRON_RESUMED, "cron: resumed")                                                               \
    X(CRON_REMOVED, "cron: removed")                                                               \
    X(CRON_NONE, "cron: no such entry")                                                            \
    X(CRON_NEW_PAUSED, "cron: a new entry comes paused")                                           \
    X(CRON_GOT, "cron: one entry is asked for")                                                    \
    X(CRON_LISTED, "cron: listed")                                                                 \
    X(FIRE_MAKES, "fire: makes a task")                                                            \
    X(FIRE_LATE, "fire: another was first")                                                        \
    X(FIRE_NO_SLOT, "fire: at none of its times")                                                  \
    X(FIRE_NOW, "fire: now")                                                                       \
    X(FIRE_OVERLAP, "fire: its last task has not ended")                                           \
    X(TEND_DUE, "tend: an entry is due")                                                           \
    X(TURN_POLICY, "turn: a session is told of the policy")                                        \
    X(KIN_BLOCKED, "kin: waits for others")                                                        \
    X(KIN_FREE, "kin: comes and waits for none")                                                   \
    X(KIN_BLOCKED_BY_HAND, "kin: waits from now on")                                               \
    X(KIN_RELEASED, "kin: its last edges are taken away")                                          \
    X(KIN_NOT_WAITING, "depend: its state forbids it")                                             \
    X(KIN_EDGE_FORGOTTEN, "depend: what it waited for before is forgotten")                        \
    X(KIN_UNKNOWN, "kin: a parent that is not known")                                              \
    X(KIN_EXPECTED, "kin: a parent that has yet to come")                                          \
    X(KIN_MISSING, "kin: refused, a parent is not known")                                          \
    X(KIN_DIES_UNKNOWN, "kin: dies, as a parent is not known")                                     \
    X(KIN_CHANGED, "depend: an edge that is there changes")                                        \
    X(KIN_RESTORED, "retry: waits for its parents again")                                          \
    X(KIN_RESTORED_DEATH, "retry: the death for which it waited was met meanwhile")                \
    X(KIN_READY, "kin: ready with its last parent")                                                \
    X(KIN_SCHEDULED, "kin: scheduled with its last parent")                                        \
    X(KIN_DEATH, "kin: called for by a death")                                                     \
    X(KIN_NOT_NEEDED, "kin: there was no death")                                                   \
    X(KIN_DIES, "kin: dies of its parent")                                                         \
    X(KIN_CASCADE, "kin: cancelled or deleted with what waits for it")                             \
    X(KIN_CASCADES, "kin: cancelled with its parent")                                              \
    X(KIN_REFUSED, "kin: others wait for it")                                                      \
    X(KIN_AT_ONCE, "kin: told at once")                                                            \
    X(KIN_MANY, "kin: more than are told at once")                                                 \
    X(KIN_FAN, "kin: to be told in steps")                                                         \
    X(KIN_FANS_TOGETHER, "kin: several ends told in one step")                                     \
    X(KIN_FAN_STEP, "kin: told in several steps")                                                  \
    X(KIN_FORSAKEN, "kin: the record of a dead parent goes")                                       \
    X(KIN_LATE, "kin: told when it does not wait any more")                                        \
    X(KIN_TWICE, "kin: told twice, or too late")                                                   \
    X(CANCEL_BLOCKED, "cancel: blocked")                                                           \
    X(DELETE_BLOCKED, "delete: blocked")                                                           \
    X(TURN_HANDS_ON, "turn: hands on a task")                                                      \
    X(TURN_HANDS_ACROSS, "turn: hands on a task by message")                                       \
    X(AGAIN_UNPROVEN, "enqueue: sent again, it may have run already")                              \
    X(AGAIN_MOVED_BACK, "enqueue: sent again, and the clock was set back since")                   \
    X(AGAIN_MOVED_ON, "enqueue: sent again, and the clock was set forward since")                  \
    X(AGAIN_HAS_KEY, "enqueue: sent again, it still has its key")                                  \
    X(HEIR, "enqueue: what waited for the task that is replaced waits for the new one")            \
    X(HEIR_LATER, "deliver: a task waits for the replaced one by a later message, which stands")   \
    X(HEIR_AGAIN, "link: one that waits for a task which was replaced is told who took its place") \
    X(HEIR_LAST, "link: ... and that one was replaced, too: by the last of them")                  \
    X(HEIR_PARENTS, "enqueue: what the task that is replaced waits for, the new one waits for")    \
    X(HEIR_IS_CHILD, "enqueue: a task that waits for the holder of its key is refused")            \
    X(HEIR_BOTH, "enqueue: what waited for both waits for the new one once")                       \
    X(HEIR_ACROSS, "enqueue: ... in another queue")                                                \
    X(HEIR_LEFT, "enqueue: ... that does not wait any more")                                       \
    X(FAN_TELLS, "fan: children are told by whoever cancelled")                                    \
    X(STEER_MORE, "cancel, delete: others are still to hear of it")                                \
    X(READ_EDGE, "readers: a child may read a parent's record")                                    \
    X(READ_RETAINED, "readers: a record past its retention is kept")                               \
    X(READ_LET_GO, "readers: a record goes with its last reader")                                  \
    X(READ_DROPPED, "readers: a record that is read is deleted")                                   \
    X(READ_LEFT, "readers: a reader in another queue has ended")                                   \
    X(READ_NOT, "readers: a child in another queue does not wait any more")                        \
    X(DELETE_RETAINED, "delete: completed, past its retention")                                    \
    X(CARRY_DELIVERS, "carry: delivers")                                                           \
    X(CARRY_REGISTERS, "carry: registers")                                                         \
    X(CARRY_UNREGISTERS, "carry: unregisters")                                                     \
    X(CARRY_ANSWERS, "carry: the parent has ended")                                                \
    X(CARRY_UNDONE, "carry: registers what a later message took away")                             \
    X(CARRY_TASK, "carry: a task")                                                                 \
    X(CARRY_STALLED, "carry: goes on late")                                                        \
    X(CARRY_TWICE, "carry: a message comes again")                                                 \
    X(CARRY_FORGOTTEN, "carry: what was received long ago is forgotten")                           \
    X(CARRY_MISREAD, "carry: a message is not understood, and set aside")                          \
    X(CARRY_BACK, "carry: messages that were set aside are put back")                              \
    X(KIN_EARLIER, "kin: told of an earlier edge")                                                 \
    X(CARRY_DIES, "carry: dies half way")                                                          \
    X(CARRY_NOTHING, "carry: nothing there")                                                       \
    X(ENQUEUE_DEADLINE, "enqueue: a deadline")                                                     \
    X(EXPIRES_READY, "deadline: of a ready task is over")                                          \
    X(EXPIRES_PARKED, "deadline: of a parked task is over")                                        \
    X(EXPIRES_SCHEDULED, "deadline: of a scheduled task is over")                                  \
    X(EXPIRES_BLOCKED, "deadline: of a blocked task is over")                                      \
    X(EXPIRES_AGAIN, "deadline: of a task that goes back unbegun, past it")                        \
    X(TURN_RUN, "turn: done, and its run is recorded")                                             \
    X(TEND_BUDGET, "tend: leaves tasks that are due to the next call, as it has done enough")      \
    X(KIN_EARLIER_OPEN, "kin: told of an earlier edge, and the later one waits")                   \
    X(EXPIRES_NOT, "deadline: of a task that has begun")                                           \
    X(TURN_DEADLINE_OVER, "turn: failed, and no deadline holds it any more")                       \
    X(CHECKPOINT_LEFT, "checkpoint: left")                                                         \
    X(CHECKPOINT_NONE, "checkpoint: none any more")                                                \
    X(CHECKPOINT_REFUSED, "checkpoint: not held")                                                  \
    X(TURN_CHECKPOINT_GOES, "turn: done, and its checkpoint goes")                                 \
    X(LOG_LINE, "log: a line")                                                                     \
    X(LOG_AGAIN, "log: the same line again")                                                       \
    X(LOG_BOUNDED, "log: more lines than are kept")                                                \
    X(LOG_REFUSED, "log: not held by that lease")                                                  \
    X(CANCELLED_YES, "cancelled: it was")                                                          \
    X(CANCELLED_NO, "cancelled: it was not")                                                       \
    X(EVENTS_KEPT, "events: kept")                                                                 \
    X(EVENTS_NONE, "events: none are kept")                                                        \
    X(EVENTS_LISTEN, "events: somebody listens")                                                   \
    X(EVENTS_NOBODY, "events: nobody listens any more")                                            \
    X(EVENTS_LOOK, "events: looked at")                                                            \
    X(EVENTS_TELL, "events: a transition is told")                                                 \
    X(TAGS_INDEXED, "tags: a task is found by them")                                               \
    X(TAGS_REPEATED, "tags: one of them is given twice")                                           \
    X(TAGS_UNTIDY, "tags: one that is gone is still found")                                        \
    X(TAGS_TIDY, "tags: ... and then it is not")                                                   \
    X(TAGS_TOLD, "tags: told of")                                                                  \
    X(TAGS_FOUND, "tags: tasks are found")                                                         \
    X(TAGS_PAGE, "tags: a page of several")                                                        \
    X(BEAT_FLUSH, "beat: statistics")                                                              \
    X(BEAT_FLUSH_AGAIN, "beat: the same statistics again")                                         \
    X(STATS_TOLD, "stats: of a day")                                                               \
    X(STATS_GONE, "stats: old days go")                                                            \
    X(STAT, "stat: numbers")

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

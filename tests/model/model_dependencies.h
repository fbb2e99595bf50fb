/*
 * model_dependencies.h - tasks that wait for others, as the model has them: edges, whom a parent has to tell, whom it
 * tells in steps (fans), and messages to other queues.
 */
#ifndef TEST_MODEL_DEPENDENCIES_H
#define TEST_MODEL_DEPENDENCIES_H

#include "model/model_seen.h"

/* A handle as a number: OPEN is the parent that is none. */
#define HANDLE(queue, id) ((queue)*IDS + (id))
#define QUEUE_OF(handle) ((handle) / IDS)
#define ID_OF(handle) ((handle) % IDS)
const char *model_handle(int handle);
int model_handle_of(const char *text); /* -1: none of ours */
model_task *model_task_at(int handle);

/*
 * An edge as a number of an operation, 0: none. Only parents that come before their children are taken (by their ids,
 * then by their queues), so that there are no circles.
 */
#define EDGE(policy, parent) (1 + (policy) + 4 * (parent))
#define EDGE_BASE 512 /* several in one number are its digits */
enum { FAILS, GOES_ON, WAITS, ON_DEATH_OF };
/* Added: what holds for a parent that is not known: refused when nothing is added. */
#define MODE 128
enum { OR_GONE = MODE, EXPECTED = 2 * MODE };
/* As scripts take it. */
const char *model_edge_word(const model_edge_sent *edge);
enum { EDGES_SENT = 3 };
int model_choose_edges(void);
/* In the order that keeps circles away. */
bool model_may_be_parent(int parent, int child);
int model_edges_of(int edges, int child, model_edge_sent ret[EDGES_SENT]);

/* ---- what happens ---------------------------------------------------------------------------------------------- */

/* The states of a queue's tasks as one call looked them up (enqueue.lua). */
typedef struct model_states {
    model_state of[IDS];
    bool known[IDS];
} model_states;

typedef struct model_attached {
    int pending; /* how many have not ended */
    int died;    /* the first parent that has died, + 1 */
    int how;
    char decides; /* the policy of that edge */
} model_attached;

/* anew: none of these is there in its parent's queue. */
model_attached model_attach(int queue, int id, const model_edge_sent *edges, int count, model_states *states,
                            bool anew);
/* A retried task waits for its parents again: for how many. */
int model_restore(int queue, int id);
/* The first parent of this queue that is not known, and must be; -1. */
int model_missing_parent(int queue, const model_edge_sent *edges, int count, const bool comes[SLOTS]);
/* Of a task that came with parents and is `blocked` in the model: it stays so, or dies, or goes. True: it waits for
 * none. */
bool model_link(int queue, int id, const model_edge_sent *edges, int count, model_states *states);
/* A retained one has completed. states: as the call knows them, which it then does; NULL: as they are. */
model_state model_state_of(int parent, model_states *states);
/* How the parent has ended (UNKNOWN_STATE and GONE_STATE, too), NONE: the child is told later. number: of the edge. */
int model_how_ended(int parent, const model_edge_sent *edge, model_states *states);
int model_register(int parent, int child, const model_edge_sent *edge, int64_t number, model_states *states);
/* What was registered before (of another queue: by an earlier message). */
void model_unregister(int parent, int child, int64_t before);

/* States are COMPLETED, DEAD, CANCELLED, and these. */
enum { DELETED_STATE = STATES, CASCADE, UNKNOWN_STATE, GONE_STATE };
const char *model_end_word(int state);
int model_end_of(const char *word);
char model_end_letter(int state); /* of an edge; NONE: it has not ended */
/*
 * The numbers of edges that a step makes are known when it has been looked at: until then they count from
 * MODEL_NUMBER on, of each task that gets edges in a queue one, which is beyond those of Redis's clock.
 */
#define MODEL_NUMBER INT64_C(4000000000000000)
int64_t model_new_number(void);
/* One that was made in this step is, as seen in Redis, this one. */
void model_know_number(int64_t *number, int64_t seen);
void model_know_place(int64_t *place, int64_t seen); /* the same of a place in children:<id>, in parts (PLACES) */

/* number: as model_edge has it; 0: it is not told. Whether the child may read the parent's record from now on. */
bool model_deliver(int child, int parent, int state, int64_t number);
/* A task has ended and all of that is done: its children hear of it. */
void model_tell_ended(int queue, int id, int state);
void model_tell_children(int queue, int id, int state); /* it has some */
/* Its record goes. */
void model_forsake(int queue, int id);
int model_children(int queue, int id);
/* The child is registered with none of its open parents any more; nor does it wait. */
void model_unlink(int queue, const model_task *task);
void model_leave_parents(int queue, model_task *task);
void model_unblock(int queue, int id);
/* What it waited for before it was let go is not waited for again. */
void model_forget_open_edges(int queue, int id);
/* A task dies that waits, or that runs and is ended by hand. */
void model_die_waiting(int queue, model_task *task, int error);
void model_die_of(int queue, int id, int parent, int state);
/* It waited for a death, and there was none. */
void model_not_needed(int queue, int id);
void model_remove_edge(int queue, int id, int parent);
/* What waits past its deadline dies, at most so many; true when there may be more. */
bool model_expire_some(int queue, int max);
/* A step of the fans; true when there is more. */
bool model_fan_some(int queue, int max);
bool model_is_linked_any(int queue);
void model_send(int queue, char letter, const char *format, ...) __attribute__((format(printf, 3, 4)));

enum { MODEL_CARRY_BACK = 64 }; /* a carry puts those back that were set aside */

/* What waits for a task waits for the one that takes its place. */
void model_hand_over(int queue, int id, int replacement);
/* Who took its place, -1: that is not known. */
int model_replacement(int queue, int id);
/* The same, and who took that one's place where it is gone, and so on. */
int model_last_replacement(int queue, int id);
/* The edges of a blocked task as the one that takes its place has them; their number. */
int model_heritage(int queue, int id, int replacement, model_edge_sent ret[OPEN + 1]);
/* The same, by a message; number: as model_edge has it. */
void model_inherit(int child, int parent, int64_t number, int replacement);

/* Who may read the record of a completed task, which is kept until then; number: of the message that registered the
 * edge, 0 in the same queue. */
void model_read(int child, int parent, int64_t number);
void model_add_reader(int parent, int child, int64_t number);
bool model_is_to_be_read(int queue, int id);
void model_keep_own(int queue, int id, int64_t keep_ms);
int model_drop_own(int queue, int max, bool *ret_more); /* those whose own time is over */
bool model_has_readers(int queue, int id);              /* other than its own time */
void model_drop_early(int queue, model_task *task);     /* a completed one goes before its retention */
void model_retain(int queue, model_task *task);         /* it is past its retention */
void model_let_go(int parent);                          /* if nobody reads it */
void model_drop_readers(int queue, int id);             /* it goes all the same */
void model_unread(int child, int parent);
void model_release(int queue, int id); /* it reads nothing any more */
/* It has heard that a parent in another queue has completed, and may not read that if it does not. */
void model_heard(int child, int parent, int64_t number);
void model_reader_leaves(int parent, int child, int64_t number);
void model_check_readers(int queue, const model_seen_queue *seen);
bool model_is_read_any(int queue);

/* Messages of a queue: it was received; it is received, and was not before. */
bool model_was_received(int queue, int source, int64_t number);
bool model_receive(int queue, int source, int64_t number, int64_t floor);
/* A message took the edge away; one with this number was, by a later one. */
void model_undone(int queue, int source, int child, int parent, int64_t number);
bool model_is_undone(int queue, int source, int child, int parent, int64_t number);
/* What was answered to the last of them; and to one of them, whenever it comes again (NONE: nothing). */
void model_answered(int queue, int source, int answer);
int model_answer(int queue, int source, int64_t number);
void model_check_received(int queue, const model_seen_queue *seen);

/* Redis as it is, compared; and each edge that has not ended will be told of. */
void model_check_dependencies(int queue, const model_seen_queue *seen);

#endif

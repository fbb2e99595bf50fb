/*
 * model.h - a model of the protocol, and what drives it and the scripts through the same random operations
 * (ct_model.c).
 *
 * An operation is a kind and a few small numbers, made from a seed. A run carries out a list of them from an empty
 * Redis whose clock stands still; after each step all that is in Redis is read and compared with the model. Every
 * operation means something in every state, so that a list that fails can be shrunk by leaving operations out.
 *
 * Not predicted, but checked and then taken over from Redis: which ready task a lease gives (a rule says which may be
 * given), in which order a session's tasks are taken back, and when an envelope is marked.
 *
 *     model_ops.c           the kinds of operations: a row each
 *     model_chance.c        which of them comes next
 *     model_paths.c         some lists that lead to places where chance seldom goes
 *     model_task.h          what is known of a task
 *     model_seen.h          Redis as it is: model_look*.c read all of it, model_check*.c compare it with the model
 *     model_dependencies.h  tasks that wait for others
 *     model_segment.h        plain tasks that came together
 *     model_limit_state.h   limits
 *     model_turn.h          a thread's turn; model_hand.c: idle threads, and what they are handed
 *     model_cover.h         which transitions happened
 *     model_run.c           runs, shrinks, prints
 */
#ifndef TEST_MODEL_H
#define TEST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model_cover.h"
#include "model/model_task.h"
#include "protocol/scripts.h"
#include "redis/reply.h"

/* ---- operations ------------------------------------------------------------------------------------------------ */

typedef struct model_op {
    int kind;
    int arg[ARGS];
} model_op;

/* Operations that are known to lead somewhere; see model_paths.c. */
typedef struct model_path {
    const char *words;
    const model_op *ops;
    size_t count;
} model_path;

extern const model_path model_paths[];
extern const size_t model_path_count;
/* No random sequence begins with these: what they lead to is of no interest later. */
extern const model_path model_paths_alone[];
extern const size_t model_path_alone_count;

typedef struct model_kind {
    const char *name;
    unsigned weight; /* how often, among all */
    void (*make)(int arg[ARGS]);
    void (*run)(const int arg[ARGS]);
} model_kind;

#define MODEL_KINDS(X)                  \
    X(ENQUEUE, enqueue, 16)             \
    X(TURN, turn, 40)                   \
    X(LEASE_TASK, lease_task, 5)        \
    X(RECOVER, recover, 6)              \
    X(POP, pop, 6)                      \
    X(HEARTBEAT, heartbeat, 6)          \
    X(END_SESSION, end_session, 4)      \
    X(ONCE, once, 3)                    \
    X(SUSPECT, suspect, 5)              \
    X(DIE, die, 2)                      \
    X(MAINTAIN, maintain, 16)           \
    X(REAP, reap, 4)                    \
    X(CLOCK, clock, 14)                 \
    X(CANCEL, cancel, 4)                \
    X(RETRY, retry, 5)                  \
    X(RESCHEDULE, reschedule, 5)        \
    X(EDIT, edit, 4)                    \
    X(MOVE, move_task, 3)               \
    X(FREE_KEY, free_key, 1)            \
    X(EXPIRE, expire, 3)                \
    X(FAIL_TASK, fail, 3)               \
    X(BULK_UPDATE, bulk_update, 4)      \
    X(ON_DEAD, on_dead, 2)              \
    X(FAILURES, failures, 2)            \
    X(LIMIT, limit, 5)                  \
    X(HOLD, hold, 2)                    \
    X(LIMITS, limits_read, 1)           \
    X(CRON, cron, 5)                    \
    X(FIRE, fire, 6)                    \
    X(POLICY, policy, 1)                \
    X(DELETE, delete, 4)                \
    X(DEPEND, depend, 6)                \
    X(BLOCK, block, 4)                  \
    X(CARRY, carry, 8)                  \
    X(FAN, fan_step, 4)                 \
    X(PAUSE, pause, 3)                  \
    X(KEEP, keep, 5)                    \
    X(PROGRESS, progress, 4)            \
    X(CHECKPOINT, checkpoint, 4)        \
    X(LOG, log, 4)                      \
    X(CANCELLED_READ, ask_cancelled, 2) \
    X(WAIT, wait, 3)                    \
    X(STATS, stats, 1)                  \
    X(EVENTS, events, 3)                \
    X(TAGS, tags, 3)                    \
    X(SHOW, show, 2)                    \
    X(LIST, list, 2)                    \
    X(STAT, stat, 4)                    \
    X(CHECK, check_data, 2)

#define MODEL_KIND(name, function, weight) name,
enum { MODEL_KINDS(MODEL_KIND) KINDS };
#undef MODEL_KIND
#define MODEL_KIND(name, function, weight)       \
    void model_##function##_make(int arg[ARGS]); \
    void model_##function(const int arg[ARGS]);
MODEL_KINDS(MODEL_KIND)
#undef MODEL_KIND

extern const model_kind model_kinds[KINDS];

/* What a sequence is made of: each has some of the kinds more often, or not at all, and its own number of ids, hands
 * and queues; so that different sequences go to different places. */
typedef struct model_mood {
    unsigned weights[KINDS];
    unsigned ids, hands, queues;
    bool unique;
    bool contested;    /* one unique key, which most tasks name: some hold it no more, while others do */
    bool limited;      /* limits, and groups to be limited */
    bool dependencies; /* tasks wait for others */
    bool segments;     /* plain tasks come together, and what hinders that comes seldom */
    bool idles;        /* threads wait to be handed tasks */
    bool results;      /* many are left by turns, and little keeps them apart */
    bool budget;       /* tend has none: it does the least of each kind of work in a call */
    bool restricted;   /* scripts are called by a user without rights to channels */
} model_mood;

extern model_mood mood;

void model_seed(uint64_t seed); /* begins a sequence */
model_op model_make(void);      /* its next operation */
unsigned model_chance(unsigned below);
int model_choice(const int *from, unsigned count);
int model_choose_queue(void);
int model_choose_id(void);
/* Mostly one whose session in the queue lives, or is being taken back. */
int model_choose_hand(int queue);
#define CHOOSE(...) \
    model_choice((const int[]){__VA_ARGS__}, (unsigned)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))

/* ---- what the model knows -------------------------------------------------------------------------------------- */

typedef enum model_life { ABSENT, ALIVE, DYING } model_life; /* dying: its tasks are being taken back */

typedef struct model_session {
    int queue;
    model_life life;
    int64_t expiry_ms;
    int flushed;     /* the number of the last flush of statistics */
    int suspect;     /* the crashed task that it leased last, + 1; 0: none */
    bool alone;      /* ... which runs alone */
    bool beside;     /* ... or runs beside others */
    int kept[SLOTS]; /* the unique keys that its tasks keep while they run at most once; 0: none */
    bool ended;      /* ... or ends, in steps; one that begins again then does not know who waits in it */
} model_session;

/* A recurring entry. */
typedef struct model_entry {
    int kind;       /* what it makes; 0: there is none */
    int64_t due_ms; /* 0: it is paused or has ended */
    bool paused, ended;
    int last; /* the last task that it made, + 1 */
    int runs; /* how many it made of those that it may */
} model_entry;

/* (model_limit_state.h) */
typedef struct model_limits {
    int concurrency, rate, group_concurrency, group_rate;
    bool group_strict;
    int own_concurrency[KEYS + 1], own_rate[KEYS + 1], own_strict[KEYS + 1];
    int64_t hold_ms, holds_ms[KEYS + 1]; /* 0: no hold */
    double clock, clocks[KEYS + 1];      /* of rates */
    int debt;                            /* how many steps further ahead they may be, for costs */
    bool counting;                       /* what ran before is not all counted */
    bool breaks[2];                      /* there are breakers: of the queue, of groups */
    char breakers[KEYS + 1][64];         /* their states, as last seen (model_breaker.c) */
    bool failed[KEYS + 1], done[SLOTS];  /* what ended since */
} model_limits;

/* What was left by tasks that ended then (model_result_block.c). */
typedef struct model_result_block {
    int64_t at_ms;
    int count;          /* of results */
    int results[SLOTS]; /* the last of each; 0: none */
    bool holds, listed; /* seen in `results`, in `result_blocks` */
} model_result_block;

/* Who looked after a queue, and sessions that are spared (lib/upkeep.lua). */
typedef struct model_upkeep {
    int64_t last_ms, life_ms, since_ms, ends_ms; /* last: 0: nobody looked yet */
} model_upkeep;

typedef struct model_queue {
    model_result_block result_blocks[SLOTS];
    int result_block_count;
    bool trimmed; /* completed tasks have gone since result_blocks were last swept */
    model_limits limits;
    model_entry entries[ENTRIES];
    model_parent parents[IDS];
    model_fan fans[FANS];
    int fan_count;
    model_message messages[MESSAGES];
    int message_count;
    model_message unread[MESSAGES]; /* which were set aside */
    int unread_count;
    model_received received[QUEUES];
    struct {
        int64_t day;
        int sum; /* of what was flushed; 0: nothing */
    } stats[STAT_DAYS];
    struct {
        int64_t hour; /* since the epoch */
        int sum;      /* waits in its minutes; 0: none */
    } hours[STAT_HOURS];
    int events_kept;      /* how many; 0: none */
    int64_t listening_ms; /* somebody listens until then; 0: nobody */
    bool telling;         /* there were events before this step */
    char last_event[48];
    model_state before[SLOTS]; /* where tasks stood then */
    int64_t given_ms;          /* when tags were last given (all at once) */
    bool untidy[SLOTS];        /* may still stand under its tags, and is gone */
    model_upkeep upkeep;
    bool policy;
    model_task tasks[SLOTS];
    bool paused, large, waiters;
    bool payloads_limited; /* large tasks are refused */
    bool kept[2];          /* whether that was ever set, and to what: [0] completed and cancelled, [1] dead */
    int64_t keep_age[2], keep_count[2];
    int keep_bytes;     /* of results; 0: as many as there are */
    bool bytes_counted; /* those of all that had ended before, too */
    int counters[4];
    int enqueued;          /* ever */
    int64_t unrecorded_ms; /* when a task last went without a record, but by the retention */
    struct {
        int holder;      /* + 1; 0: free */
        int64_t ends_ms; /* 0: with its task */
    } locks[UNIQUES + 1];
    struct {
        int id; /* + 1; 0: it has none */
        int64_t ends_ms;
    } replacements[SLOTS]; /* the tasks that took their places */
    bool on_dead;
    int64_t kinds_ms[KINDS_OF_ERRORS + 1]; /* when a task last died of it */
    bool more;                             /* what the last tend said */
    int64_t next_ms;
    bool token_lost; /* a thread had the wake-up, and died or, unsaid, turned to another queue; until tend */
} model_queue;

/* A task that a thread believes to hold. */
typedef struct model_belief {
    int queue, id, thread;
    int64_t since_ms;
    bool knows_info; /* it must look after info:<id> */
    bool unique;     /* ... and after its unique key */
    bool deadline, checkpoint;
    int lines; /* how many it has logged */
} model_belief;

/* A worker: a session in each queue, two threads. It knows only what it was told. */
typedef struct model_hand {
    int session[QUEUES];
    bool begun[QUEUES];
    int flush[QUEUES]; /* the number of the last one that was answered */
    model_belief beliefs[BELIEFS];
    int belief_count;
    bool unsure[THREADS]; /* a reply was lost */
    int told[THREADS];    /* the queue whose wake-up it has taken and not yet followed, + 1; 0: none */
    int wait[THREADS];    /* ... and the queues that it waited for, as in POP */
    bool woken[THREADS];  /* ... that it is, by a token */
    int idle[THREADS];    /* the queue in which it waits to be handed a task, or may when it is unsure, + 1; 0: none */
} model_hand;

typedef struct model_world {
    model_queue queues[QUEUES];
    model_session sessions[SESSIONS];
    int session_count;
    model_message stalled[STALLED]; /* which a carrier has that is frozen */
    int stalled_count;
    model_hand hands[HANDS];
    int serial; /* of the last task that came; also numbers errors and results */
    char names[SLOTS - IDS][64];
    bool full; /* there are more tasks than slots, or too many sessions */
    int64_t last_order, first_order;
    bool grouped; /* there was a group */
    int64_t now_ms;
    bool went_back;               /* the time */
    int64_t numbers[NEW_NUMBERS]; /* of edges that this step made, as seen (model_dependencies.h); 0: not yet */
    int number_count;
    int told;               /* to children in this call, in units of lib/dependency_edges.lua */
    char words[2048];       /* the first difference; "" while there is none */
    const char *difference; /* of which kind it is: two of the same kind have the same pointer */
} model_world;

extern model_world model;
extern const char *const model_state_names[STATES];

/* Keeps the first difference; what follows it does not count. */
void model_differ(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- a script called ------------------------------------------------------------------------------------------- */

void model_begin(const rv_script *script);
const char *model_script_name(void); /* of the script that was begun last */
void model_key(int queue);
void model_arg(const char *format, ...) __attribute__((format(printf, 1, 2)));
void model_arg_text(const char *text); /* of any length */
const rv_reply *model_call(void);      /* NULL, and a difference, when it fails; may be called again for the same */
void model_keep_reply(void); /* the last one stays until the next that is kept; else it goes with the next look */
/* A script with one queue and the arguments given. */
#define CALL(script, queue, ...)                                                     \
    model_call_words(&rv_script_##script, queue, (const char *const[]){__VA_ARGS__}, \
                     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
const rv_reply *model_call_words(const rv_script *script, int queue, const char *const *words, size_t count);

const char *model_prefix(int queue);      /* "reeve:{a}:" */
const char *model_id(int id);             /* "t03" */
int model_id_of(const char *text);        /* -1: none of ours */
bool model_is_before(int one, int other); /* by its name */
const char *model_session_id(int session);
int model_session_of(const char *text);
const char *model_number(int64_t number); /* text; valid for eight calls */

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

model_task *model_task_of(int queue, int id);
/* The envelope without its beginning ('"type":...'), and as a whole, cut after CUT bytes. Valid until the next call. */
#define CUT 300
const char *model_rest(const model_task *task);
const char *model_envelope(const model_task *task);
bool model_has_info(const model_task *task);
/* It has begun: no deadline holds it any more. */
void model_has_begun(model_task *task);
/* Something was done to it that its history has. */
void model_note(model_task *task);

int model_slot(int queue, const model_task *task);
/* The only place that changes a task's state (model_transitions.c). */
void model_enter(model_task *task, model_state state);
void model_move(model_task *task, model_state state,
                int64_t at_ms);        /* out of anybody's hands; the last where it is ready */
void model_to_front(model_task *task); /* it is ready, the first of all */
void model_put_off(model_task *task);  /* it waits as somebody wishes */
void model_forget(model_task *task);   /* the task goes, with all of it */
/* Chooses a queue and, most of the time, a task in one of some states: the first three arguments of an operation. */
void model_prefer(int arg[ARGS], unsigned states);
/* What users do, one by one or in a sweep. */
void model_revive(int queue, model_task *task);
void model_cancel_waiting(int queue, model_task *task);
void model_remove(int queue, model_task *task);
/* The lease of a running task ends by hand. Then its worker says that no outcome of it is on its way: the session may
 * lease the task again. */
void model_expire_lease(int queue, model_task *task);
void model_expire_answer(int queue, int id, int session);
/* It ends; trims by count. */
void model_end(int queue, model_task *task, model_state state);
/* The oldest ended tasks past the count, or past the age, at most `max` of them. Returns how many went. */
int model_trim_count(int queue, model_state state, int max);
int model_trim_age(int queue, model_state state, int max);
int64_t model_keep_age(int queue, model_state state);
/* Results by their bytes: a task has completed with one; tend. As above; *ret_left: there are too many still. */
void model_count_result(int queue, model_task *task);
int model_trim_bytes(int queue, int max, bool *ret_left);
int model_trim_results(int queue, int max, bool counts, bool *ret_left); /* counts: those from before first */
/* These are left in a result_block of now. One is taken apart: returns how many it told of; the oldest: until they told
 * of so many; whether there are more. Oldest ones go with their tasks, where some were trimmed. What a reader is
 * told. */
void model_result_block_results(int queue, const int *ids, const int *results, int count);
int model_split_result_block(int queue, int64_t at_ms);
bool model_split_result_block_some(int queue, int max);
void model_bulk_update_result_blocks(int queue);
int model_result_read(int queue, const model_task *task);
/* Somebody looks after the queue, and knows how long sessions live; 0: does not. Until when sessions are spared that
 * expired after model.queues[].upkeep.since_ms. */
bool model_look_after(int queue, int64_t life_ms);
/* By tend; forgotten where there are no sessions. True: the clock was set back, and limits are looked at anew. */
bool model_maintain_upkeep(int queue, int64_t life_ms, bool *ret_changed);
/* What it would be if somebody looked now. */
model_upkeep model_upkeep_now(int queue, int64_t life_ms);
/* Then: changed: what it says may have, or something that had a time has gone. */
void model_maintain_upkeep_end(int queue, bool changed);
/* What settings.upkeep says; "" while nobody looked. */
const char *model_upkeep_words(int queue);
int model_count(int queue, model_state state);
int model_held(int session);

/* ---- unique keys and deaths ------------------------------------------------------------------------------------- */

int model_holder(int queue, int key); /* -1: it is free */
void model_lock(int queue, int id);   /* it has its key from now on */
void model_unlock(int queue, int id, bool by_hand);
/* A session has ended: the keys that its tasks kept are free. */
void model_free_kept(int session);
bool model_is_kept(int queue, int id, int key);
/* Who has the task's key; -1: it may have it, or names none. */
int model_other_holder(int queue, int id);

void model_tell_death(int queue, int id);
/* Of a task for a death: compares what it says. */
void model_check_payload(const model_task *task, const char *name, const char *envelope);

int model_new_session(int queue);
void model_renew(int hand, int queue); /* the hand begins again there */
/* The hand's session begins there, unless it is being taken back. */
void model_begin_session(int hand, int queue);
void model_believe(int hand, model_belief belief);
void model_disbelieve(int hand, int index);
void model_disbelieve_queue(int hand, int queue);

/* ---- runs ------------------------------------------------------------------------------------------------------ */

/* As many random sequences as REEVE_TEST_ROUNDS says, from REEVE_TEST_SEED on (a number, or "random"); the test fails
 * at the first that does. When nothing is said: the same ones every time, `rounds`, and some more as long as there is a
 * transition that has not happened. */
void model_rounds(int rounds);
/* Carries out a list; the test fails when it does. */
void model_replay(const model_path *list);

#endif

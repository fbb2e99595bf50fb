/*
 * model_task.h - how many there are of everything, and what the model knows of a task: its envelope, where it stands,
 * what it has to tell, for whom it waits.
 */
#ifndef TEST_MODEL_TASK_H
#define TEST_MODEL_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/definition.h"
#include "protocol/definition.h"

enum { QUEUES = 2, HANDS = 3, THREADS = 2, SESSIONS = 512, BELIEFS = 128, ARGS = 12 };

/* Ids: those that come from outside, then those of tasks that are enqueued for a death, while there is one. */
enum { IDS = 10, SLOTS = IDS + 44 };

/* Tasks that may wait for others, and for which others may (model_dependencies.h): those that come from outside, of
 * both queues. */
enum {
    HANDLES = QUEUES * IDS,
    OPEN = HANDLES,
    FANS = 64,
    MESSAGES = 128,
    STALLED = 4,
    RECEIVED = 1024,
    NEW_NUMBERS = 256
};

#define EPOCH 1700000000000
#define DAY RV_ONE_DAY_MS
#define HOUR (DAY / 24)
#define TTL 10000 /* how long a session lives without a heartbeat */
#define LARGE RV_LARGE
#define MODEL_POLICY "{\"attempts\":3}"
#define LATEST RV_LATEST
#define PLACES RV_PLACES      /* of those that come to a set in one millisecond */
#define PUT_OFF RV_PUT_OFF_MS /* how long a crashed task waits whose session has another */

enum {
    NUMBERED_KINDS = 3,
    PARENT_KIND,
    UNKNOWN_KIND,
    EXPIRED_KIND,
    KINDS_OF_ERRORS = EXPIRED_KIND,
    UNIQUES = 3,
    GROUPS = 3,
    TYPES = 3,
    LIMIT_KEYS = 2,
    KEYS = GROUPS + TYPES + LIMIT_KEYS, /* what limits count by: the groups, then the types, then the limit keys */
    ENTRIES = 2
};
/* An error is a number, or this: the task died of a parent, or of its deadline. */
#define DIED_OF(parent, state) (-(1 + 8 * (parent) + (state)-COMPLETED))
#define DIED_OF_UNKNOWN(error) ((error) < 0 && (-(error)-1) % 8 == 6)
#define EXPIRED (-1000000)
#define KIND_OF(error)                                       \
    ((error) > 0              ? 1 + (error) % NUMBERED_KINDS \
     : (error) == EXPIRED     ? EXPIRED_KIND                 \
     : DIED_OF_UNKNOWN(error) ? UNKNOWN_KIND                 \
     : (error) < 0            ? PARENT_KIND                  \
                              : 0)
const char *model_kind_name(int kind); /* "": none */
void model_error_words(int error, char text[160]);

/* How long a task's unique key is its own. */
enum { TO_END, TO_START, FOR_A_TIME };

/* What an envelope says of when it is due. */
enum { UNTIMED, DUE, DELAY };

/* In the order of the definition: those that wait, RUNNING, those that have ended. RETAINED: completed, past its
 * retention, and read. */
#define MODEL_STATE(name, word, shown) name,
typedef enum model_state { MODEL_STATES(MODEL_STATE) STATES } model_state;
#undef MODEL_STATE

/* A set of states as bits: those in which a task waits. */
#define WAITING ((1u << RUNNING) - (2u << NONE))
static inline bool model_waits(model_state state)
{
    return (WAITING >> state & 1) != 0;
}

#define HISTORY RV_HISTORY_MAX
enum { LOG_LINES = 3, TAGS_KNOWN = 2, STAT_DAYS = 8, STAT_HOURS = 32 };

typedef struct model_edge {
    char policy, how; /* as in parents:<id> */
    int place;
    int64_t number; /* of the message that registers it, of a parent in another queue; -1: it was just sent */
    char mode;      /* what that message says of a parent that is not known */
} model_edge;

typedef struct model_task {
    model_state state;
    int64_t at_ms; /* scheduled: when it is due; completed, dead, cancelled: when it ended; running: since when */
    int session;   /* running: who holds it; -1 */
    int thread;
    bool handed; /* running: its thread has yet to find it in its list */
    /* the envelope */
    int64_t enqueued_ms;
    int priority;
    int group; /* 0: none */
    int type;
    int serial;
    int segment; /* in which it came, + 1; 0: in none */
    bool large, tagged;
    int timing; /* UNTIMED, or what it says of its time */
    int64_t timing_ms;
    int64_t named_ms; /* somebody rescheduled it to this time; 0: nobody did */
    int unique;       /* its key; 0: none */
    int held;         /* until when */
    int64_t hold_ms;
    int64_t keep_ms;     /* how long its record is kept; 0: as the queue says */
    int cost;            /* units of rates; 0: not said, 1 */
    int limit_keys;      /* a bit for each that it has */
    int on_dead;         /* what its death calls for; 0: not said, 1: a task, 2: nothing */
    int64_t deadline_ms; /* it must have begun by then; 0: at any time */
    int64_t expires_ms;  /* ... and whoever tends the queue knows */
    bool flagged;
    bool told; /* it was cancelled while it ran */
    /* of a task for a death: whose, + 1, and what it says of it */
    int of;
    int of_failures, of_crashes, of_error, of_type;
    /* among those of its group and priority: they start in this order; 0: not known */
    int64_t order;
    int64_t arrived;   /* of all tasks that came, which it was */
    int64_t scheduled; /* scheduled: of all that were, which it was; those of one time become ready in this order */
    /* what it has to tell */
    int failures;
    int crashes;
    bool alone;        /* it crashed while it ran alone */
    int error;         /* of the last failure, as a number; 0: none. KIND_OF(it) is its kind */
    int64_t failed_ms; /* when that was */
    int progress;      /* percent + 1; 0: none */
    int result;        /* as a number; 0: none */
    int field;         /* ... of its own; 0: it has none, or its result stands in a result_block */
    int counted;       /* its bytes, where results are kept by these; 0: not counted */
    int history;       /* how many entries; at most HISTORY */
    bool old_progress; /* an earlier thread told of it */
    int checkpoint;    /* as a number; 0: none */
    int logged;        /* how many lines */
    char run[64];      /* completed: its last lease and the session, where runs are recorded */
    struct {
        int number;
        int64_t at_ms;
    } log[LOG_LINES];
    char logging[96];  /* the last one: its lease and its number there */
    bool called;       /* it was parked, and is called */
    bool placed;       /* it was put off and keeps its place */
    int slot;          /* the group whose slot it had, as last seen; 0: none */
    int parked_in;     /* the group or type under which it is parked, as last seen; 0: none */
    bool keeps;        /* it has started, waits again, and keeps its slot: its group is strict */
    int64_t waited_ms; /* somebody waits for it until then; 0: nobody */
    /* the tasks that it waits for, by their handles */
    model_edge edges[OPEN + 1];
    bool waits; /* it says for how many it waits */
    int pending;
    int64_t due_ms; /* when it may run, then; 0: at once */
    bool for_death;
    int64_t reads[HANDLES]; /* the parents whose records it may read (model_readers.c); 0: does not */
} model_task;

/* A task that comes. */
/* An edge as it is sent. */
typedef struct model_edge_sent {
    int parent;
    char policy;
    char mode; /* 0, 'g', 'e'; 'r', 'd' when it is made again, lib/dependency_register.lua */
} model_edge_sent;

typedef struct model_incoming {
    int id;
    int64_t due_ms, delay_ms;        /* 0: now */
    int64_t deadline_ms, expires_ms; /* how long it may wait; 0: for ever */
    bool at;
    int conflict;
    int edges;          /* see model_dependencies.h */
    int64_t elapsed_ms; /* it comes again: the first copy was sent so long ago; 0: that is not said */
    bool says_clock;    /* and what Redis's clock said then, */
    int64_t moved_ms;   /* which was moved by so much since */
    model_task task;
    /* what is to be answered */
    int expected;
    int holder;  /* it is refused, for this one has its key; -1 */
    int missing; /* it is refused, for this parent is not known; -1 */
    bool too_long;
    /* it takes the place of one that had its key */
    model_state state;
    int64_t at_ms, order, scheduled;
    bool inherits; /* ... which was blocked, and its parents, in the order in which they were given */
    int inherited_count;
    model_edge_sent inherited[OPEN + 1];
} model_incoming;

/* Who waits for a task, by their handles: since when, in parts of a ms (PLACES); 0: does not. */
typedef struct model_parent {
    int64_t children[HANDLES], awaiting_retry[HANDLES];
    bool linked;
    int64_t readers[HANDLES]; /* who may read its record; 0: does not */
    int guards;               /* how many fans have some that will */
    int64_t own_ms;           /* it is kept until then, whatever the queue says; 0: not */
    bool own;                 /* ... as its readers say */
    bool read;
} model_parent;

/* Children that are to be told in steps. */
typedef struct model_fan {
    int id, state;
    int64_t children[HANDLES];
    bool guards; /* the record that these may read */
} model_fan;

/* The messages of a queue that another one has received. */
typedef struct model_received {
    int64_t numbers[RECEIVED];
    int answers[RECEIVED];        /* R: what was answered; NONE: nothing */
    int64_t undone[HANDLES][IDS]; /* the last U of a child and a parent; 0: none */
    int count;
    int64_t last_ms; /* when the last came */
    int64_t floor;
} model_received;

/* To another queue: what it says behind its serial number. */
typedef struct model_message {
    char letter;
    char words[640];
    char text[672];          /* all of it, as it is in Redis */
    model_incoming incoming; /* T: the task, of that queue */
    int queue;
    int source;
    int64_t floor; /* as its carrier knows it */
} model_message;

#endif

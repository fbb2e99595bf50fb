/*
 * flight.h - the flight record: what each thread of a worker leased, began and finished, in memory that is shared with
 * a supervising process. When the worker's process dies, its supervisor settles from it what had finished, gives back
 * what had only been leased, and reports the crash (worker/aftermath.h).
 *
 * The supervisor makes the memory (a memfd) with room for the header, and the worker enlarges it. There is room for more
 * queues and threads than the worker begins with, since they come and go while it runs; what is not used takes no
 * memory. A thread has a slot while it runs. Threads and queues beyond the room are not recorded. The memory contains numbers and offsets, no pointers. Only the thread of a slot writes the slot, without a
 * lock: an entry is valid by its `state`, which is written last. The supervisor reads it after the process has died,
 * and checks every number of it.
 *
 * Without a supervisor there is no record, and each of the functions that threads call costs one comparison.
 */
#ifndef RV_RUNNING_FLIGHT_H
#define RV_RUNNING_FLIGHT_H

#include <stdatomic.h>

#include "base/error.h"
#include "base/id.h"
#include "protocol/keys.h"
#include "protocol/settlement.h"
#include "running/queue_session.h"

#define RV_FLIGHT_MAGIC 0x72766631u
#define RV_FLIGHT_LAYOUT 3u
#define RV_FLIGHT_FRAMES 64
#define RV_FLIGHT_MAPS_MAX (128 * 1024)
#define RV_FLIGHT_DATA_MAX (256 * 1024) /* bytes of the outcomes that a thread has finished and not settled */
#define RV_FLIGHT_NONE UINT32_MAX
#define RV_FLIGHT_HOOK (UINT32_MAX - 1) /* of a crash: in the load or unload hook of a plugin, for which no task ran */

/* Of a crash: written by the signal handler of the thread that crashed, or by the thread that called exit
 * (rv_flight_note_crash). */
typedef struct rv_flight_crash {
    atomic_uint stage; /* RV_CRASH_*; the members of a stage are valid from then on */
    int32_t signal;    /* 0: the thread has called exit */
    int32_t code;      /* si_code */
    uint64_t address;
    uint64_t pc;
    uint64_t sp;
    int64_t at_ms; /* on the wall clock */
    uint32_t slot; /* of the thread; RV_FLIGHT_NONE: it runs no tasks; RV_FLIGHT_HOOK */
    char thread[16];
    char type[REEVE_TYPE_MAX + 1]; /* of the task that it ran; "": none */
    uint32_t frame_count;
    uint64_t frames[RV_FLIGHT_FRAMES]; /* return addresses, the innermost first */
    uint32_t maps_length;
    char maps[RV_FLIGHT_MAPS_MAX]; /* as /proc/self/maps */
} rv_flight_crash;

enum { RV_CRASH_NONE, RV_CRASH_TAKEN, RV_CRASH_SIGNAL, RV_CRASH_FRAMES, RV_CRASH_MAPS };

/* A thread's stack, written by the thread itself in a signal handler of the program when it is asked for it. */
typedef struct rv_flight_stack {
    atomic_uint state; /* of the program */
    int32_t thread;    /* its number in the system (gettid) */
    char name[16];     /* of a thread that runs tasks; "" */
    char queue[REEVE_QUEUE_MAX + 1];
    char id[REEVE_ID_MAX]; /* of the task that it runs; "": none */
    char type[REEVE_TYPE_MAX + 1];
    int64_t since_ms; /* monotonic */
    uint32_t frame_count;
    uint64_t frames[RV_FLIGHT_FRAMES];
} rv_flight_stack;

#define RV_FLIGHT_STACKS_MAX 640

typedef struct rv_flight_stacks {
    atomic_int signal;  /* that asks for a stack; 0: none can be asked for */
    atomic_uint rounds; /* how often they were asked for */
    atomic_uint last;   /* 1: threads do not run on when they have written, as the process is about to be killed */
    rv_flight_stack list[RV_FLIGHT_STACKS_MAX];
} rv_flight_stacks;

/* The memory that a runner shares with its worker (isolated.h): it records its crash, and its threads their stacks. */
typedef struct rv_flight_runner {
    rv_flight_crash crash;
    rv_flight_stacks stacks;
} rv_flight_runner;

typedef struct rv_flight_header {
    uint32_t magic;
    uint32_t layout;
    uint64_t size; /* of the whole; 0: the worker has not started */
    uint32_t queue_count;
    uint32_t slot_count;
    uint64_t queues_at; /* offsets */
    uint64_t slots_at;
    char worker[RV_RANDOM_LENGTH + 1];
    atomic_uint turned;   /* 1: a thread has received the reply of a turn */
    atomic_uint ended;    /* 1: the process ends in good order, or has not begun to work */
    atomic_uint told;     /* how often the supervisor has told the process to end */
    atomic_uint renews;   /* 1: when it ends in good order, another one is to take its place */
    atomic_llong tick_ms; /* when its main thread was last known to work, on the monotonic clock; 0: not yet */
    rv_flight_crash crash;
    rv_flight_stacks stacks;
} rv_flight_header;

/* A queue's session; it changes when it was lost. */
struct rv_flight_queue {
    char queue[REEVE_QUEUE_MAX + 1];
    atomic_uint present; /* how often it was written; the session is sessions[present % 2] */
    rv_session_text sessions[2];
};
typedef struct rv_flight_queue rv_flight_queue;

typedef enum rv_flight_state {
    RV_FLIGHT_FREE,
    RV_FLIGHT_LEASED,
    RV_FLIGHT_BEGUN,
    RV_FLIGHT_FINISHED,
    RV_FLIGHT_UNKEPT /* it finished with an outcome too large to be kept here: it runs again */
} rv_flight_state;

/* The flags of an outcome: the booleans of rv_settlement. */
enum {
    RV_FLIGHT_INFO = 1,
    RV_FLIGHT_CHECKPOINT = 2,
    RV_FLIGHT_UNIQUE = 4,
    RV_FLIGHT_KEEPS_KEY = 8,
    RV_FLIGHT_FAILED = 16,
    RV_FLIGHT_RESULT = 32,
    RV_FLIGHT_DEADLINE = 64,
    RV_FLIGHT_RECORDS_RUN = 128,
    RV_FLIGHT_DID_BEGIN = 256,
    RV_FLIGHT_COUNTS = 512,
    RV_FLIGHT_PLAIN = 1024, /* it has no delay and no data: these members are not set */
    RV_FLIGHT_KEEPS_RECORD = 2048
};

typedef struct rv_flight_record {
    atomic_uint state; /* rv_flight_state */
    uint16_t queue;
    uint8_t id_length;
    uint8_t outcome; /* reeve_outcome; from here on once it has finished */
    int64_t since_ms;
    rv_session_text session;
    char id[REEVE_ID_MAX];
    uint32_t max_crashes; /* once it has begun */
    uint32_t flags;
    int64_t delay_ms;
    uint64_t data_at; /* in the thread's data: kind, message (each with its zero byte), result, chained tasks */
    uint32_t kind_length;
    uint32_t message_length;
    uint32_t result_length;
    uint32_t chained_length;
    uint32_t chained_count;
} rv_flight_record;

typedef struct rv_flight_slot {
    uint32_t number; /* the thread's name in Redis */
    uint32_t record_count;
    uint64_t records_at;
    uint64_t data_at;
    uint64_t data_size;
    atomic_uint current; /* the record that its handler runs, or is about to; RV_FLIGHT_NONE */
} rv_flight_slot;

/* ---- for the worker -------------------------------------------------------------------------------------------- */

struct rv_item;
struct rv_thread;
struct reeve_worker;

/* A thread's view of its slot; of that thread alone. */
typedef struct rv_flight_thread {
    rv_flight_header *header;
    rv_flight_slot *slot;
    rv_flight_record *records;
    char *data;
    size_t used; /* bytes of data */
    uint32_t next;
} rv_flight_thread;

/* A worker's record. */
typedef struct rv_flight {
    int fd;
    rv_flight_header *header;
    rv_flight_thread *threads; /* by slot; without a header: the slot is free. Guarded by the worker's lock */
    uint32_t slot_max;
    uint32_t queue_max;
    uint32_t records_each; /* of a slot */
    uint64_t records_at;   /* of the first slot */
    uint64_t data_at;
    bool is_small;           /* room for few more threads and queues than the worker begins with */
    void (*on_thread)(void); /* of the program: called on each thread that runs handlers, before it runs any */
} rv_flight;

/* Before the worker starts its threads: enlarges the memory, and gives each queue its place. Without effect when
 * worker->flight is NULL; also of the next three. */
reeve_status rv_flight_attach(struct reeve_worker *worker, rv_error *error);
void rv_flight_detach(struct reeve_worker *worker);

/* A thread is about to start, or has ended, with an empty batch: with the worker's lock. */
void rv_flight_seat(struct rv_thread *t);
void rv_flight_unseat(struct rv_thread *t);

/* A queue session is new; before a thread serves it. One caller at a time. */
void rv_flight_add_queue(struct reeve_worker *worker, rv_queue_session *queue_session);

/* The calling thread runs t from now on. */
void rv_flight_enter_thread(struct rv_thread *t);

/* The items of t's batch from `first` on were leased. */
void rv_flight_lease(struct rv_thread *t, size_t first, size_t count);

/* The thread is about to run the item: of a crash from now on it is the cause. NULL: it runs none. */
void rv_flight_run(struct rv_thread *t, const struct rv_item *item);

/* Its handler is called. */
void rv_flight_begin(const struct rv_item *item, unsigned max_crashes);

/* Its outcome is known: item->settlement. */
void rv_flight_finish(struct rv_thread *t, const struct rv_item *item);

/* It has left the batch, or was settled. */
void rv_flight_clear(struct rv_item *item);

/* No item of the batch has an outcome any more. */
void rv_flight_forget_data(rv_flight_thread *flight);

/* Which session a queue has, from now on. */
void rv_flight_note_session(rv_flight_queue *queue, const char *session);

/* A turn was answered. */
static inline void rv_flight_note_turn(const rv_flight_thread *flight)
{
    if (flight == NULL || atomic_load_explicit(&flight->header->turned, memory_order_relaxed) != 0) return;
    atomic_store_explicit(&flight->header->turned, 1, memory_order_relaxed);
}

/* ---- for a signal handler -------------------------------------------------------------------------------------- */

/* Writes which thread calls, and the type of the task that it runs. Safe in a signal handler. */
void rv_flight_note_crash(rv_flight_crash *crash);

#endif

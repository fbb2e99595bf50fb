/*
 * model_seen.h - Redis as it is, and what must hold of it after each step.
 */
#ifndef TEST_MODEL_SEEN_H
#define TEST_MODEL_SEEN_H

#include "model/model.h"

enum { SEGMENTS = 32, SPACING = RV_SCORE_STEP /* from a task's place to the next */ };

typedef struct model_seen_task {
    bool exists;
    char envelope[CUT + 32];
    int places;        /* in how many places it stands */
    model_state state; /* the last of these */
    bool lost;         /* running: in a lost: hash */
    int64_t score;
    int segment; /* ready: the segment in which it stands, + 1; 0: in none */
    int session;
    char lease[64];
    bool has_info, has_place, has_parents, completed_extra;
    int parked, called, slot, holder; /* in which group, or in which type: parked and called; 0: none */
    int type_slot;                    /* in which type */
    int key_slots;                    /* in which limit keys: a bit for each */
    int64_t parked_at;
    int history;
    bool alone;
    int failures, crashes, progress;
    int indexed;      /* in how many indexes of failures it stands */
    int indexed_kind; /* the last of these */
    int64_t indexed_ms;
    char error[64], message[160], result[64], words[64];
    int64_t failed_ms;
    int64_t waited_ms;
    unsigned events;            /* which happened to it since the last look: bits */
    int64_t tagged[TAGS_KNOWN]; /* in parts of a ms (PLACES) */
    int64_t expires_ms;
    char checkpoint[32], has[8], run[64], logging[96], log[LOG_LINES][64];
    int logged;
    int counted;
    bool waits, for_death;
    int pending;
    int64_t due_ms;
    model_edge edges[OPEN + 1];
    int64_t reads[HANDLES];
} model_seen_task;

typedef struct model_seen_session {
    bool listed, running, lost;
    int64_t expiry_ms;
    char flushed[24];
    int kept[SLOTS]; /* see model_session */
    struct {
        int idle;     /* how often it stands in `idle` */
        int elements; /* of its list */
        int looks;
        int task; /* that it is handed, + 1 */
        int64_t since_ms;
        bool woken;
    } threads[THREADS];
} model_seen_session;

typedef struct model_seen_segment {
    int p;
    bool ready, listed; /* it is a member of `ready`, and of `segments` */
    int64_t score;
    int ids[SLOTS], count; /* its list */
} model_seen_segment;

typedef struct model_seen_queue {
    model_seen_task tasks[SLOTS];
    bool paused, large, waiters, grouped;
    char keep[4][32];
    int counters[4];
    int ends[2]; /* counters: cancelled, enqueued_extra */
    int64_t unrecorded_ms;
    int tokens, groups;
    int keep_bytes, result_bytes;
    bool sizes, bytes_counted;
    model_result_block result_blocks[SLOTS];
    int result_block_count;
    int idle[SESSIONS * THREADS]; /* session * THREADS + thread, the next one first */
    int idle_count;
    int64_t next, last; /* of its order */
    char newest[64];    /* segment, as its order says */
    model_seen_segment segments[SEGMENTS];
    int segment_count;
    int crashed;                           /* by the statistics of days, which are forgotten */
    int64_t kinds_ms[KINDS_OF_ERRORS + 1]; /* of failures that are indexed */
    int holders[UNIQUES + 1];              /* + 1 */
    int replacements[SLOTS];               /* + 1 */
    int64_t replacements_left_ms[SLOTS];
    int64_t left_ms[UNIQUES + 1]; /* -1: no end */
    /* limits */
    char concurrency[16], group_concurrency[16], rate[32], group_rate[32], hold[32], limit_state[16], running[16],
        debt[16], upkeep[96];
    char own_concurrency[KEYS + 1][16], own_rate[KEYS + 1][32], own_strict[KEYS + 1][8], group_strict[8];
    char breakers[KEYS + 1][64];
    bool has_own_rate[KEYS + 1], limited[KEYS + 1], counting, again, limit_dirty[KEYS + 1];
    bool holds_up[KEYS + 1];
    int64_t holds_ms[KEYS + 1], limit_due_ms[KEYS + 1], opens_ms;
    int taken[KEYS + 1];
    struct {
        char definition[512];
        int64_t due_ms;
        int last;
        int runs;
        char stopped[8];
    } entries[ENTRIES];
    bool policy;
    double clock, clocks[KEYS + 1];
    bool on_dead;
    struct {
        int64_t day;
        int sum, retried;
    } stats[STAT_DAYS];
    int stat_days;
    struct {
        int64_t hour;
        int sum;
    } hours[STAT_HOURS];
    int stat_hours;
    int events_kept;
    int64_t listening_ms;
    bool events_ordered; /* order says that there are events */
    bool payload_max;    /* ... and that payloads have a limit */
    bool payload_limited, payload_setting;
    char last_event[48];
    int event_count;
    int64_t given_ms[TAGS_KNOWN];
    int64_t serial;
    int reads; /* how many edges are read */
    model_received received[QUEUES];
    model_parent parents[IDS];
    model_fan fans[FANS]; /* in their order */
    int64_t fan_numbers[FANS];
    int fan_count;
    struct {
        int64_t number;
        int64_t children[HANDLES];
    } fan_sets[FANS];
    int fan_set_count;
    char messages[MESSAGES][672];
    int message_count;
    char unread[MESSAGES][672];
    int unread_count;
} model_seen_queue;

typedef struct model_seen {
    model_seen_queue queues[QUEUES];
    model_seen_session sessions[SESSIONS];
    bool unnamed; /* there is a task for a death that the model does not know (yet) */
} model_seen;

/* Reads everything, once between two calls. NULL when that failed. */
const model_seen *model_look(void);
void model_look_again(void); /* something was sent: what was seen is old */

/* Compares Redis with the model, and checks what holds at all times. */
void model_check(void);
void model_check_data_always(void); /* with REEVE_TEST_CHECK: reeve_check, too */

/* Each transition is told where there are events. */
void model_check_events(int queue, const model_seen_queue *seen);
void model_check_result_blocks(int queue, const model_seen_queue *seen);
void model_check_stats(int queue, const model_seen_queue *seen);
void model_check_tags(int queue, const model_seen_queue *seen);

/* Idle threads, and what they are handed: who takes a plain task that comes alone (session * THREADS + thread; -1:
 * nobody does), whether a thread stands there, whether anybody has yet to find that he is to look. */
int model_taker(int queue);
bool model_is_idle(int queue, int session, int thread);
bool model_is_look_on_its_way(int queue, const model_seen *seen);
void model_check_hands(int queue, const model_seen *seen);

/* What tend says of recurring entries, and when the next one is due; -1: none is. */
void model_check_due(int queue, const rv_reply *actual);
int64_t model_next_entry(int queue);
void model_check_entries(int queue, const model_seen_queue *seen);

/* Lets time pass and all tasks run; nothing may stay for ever. */
void model_wind_up(void);
void model_limits_begin(void);

#endif

/*
 * web_snapshot.c - one snapshot for all who ask: who asks first reads it, the others wait for it. A thread reads one a second while
 * somebody looks.
 */
#include "web_snapshot.h"

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "web_reader.h"

#define FRESH_MS 900
#define INTERVAL_MS 1000
#define RECENT_MS (3 * INTERVAL_MS)

struct web_snapshots {
    web_server *web;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool started;
    bool stopping;
    bool reading; /* single flight */
    unsigned viewers;
    uint64_t sequence;
    web_snapshot *newest;      /* a reference of its own; changed only by who reads */
    struct web_reader *reader; /* only for who reads */
};

/* ---- references ------------------------------------------------------------------------------------------------ */

/* The lock is held. */
static bool drop(web_snapshot *snapshot)
{
    return snapshot != NULL && --snapshot->refs == 0;
}

void web_snapshots_release(struct web_snapshots *snapshots, web_snapshot *snapshot)
{
    if (snapshot == NULL) return;
    rv_lock(&snapshots->lock);
    bool gone = drop(snapshot);
    rv_unlock(&snapshots->lock);
    if (gone) web_snapshot_free(snapshot);
}

/* The lock is held, nobody reads. Reads without the lock; the newest one in the end, which is the caller's too. */
static web_snapshot *refresh(struct web_snapshots *snapshots, int64_t age_max)
{
    web_snapshot *old = snapshots->newest, *made;

    snapshots->reading = true;
    uint64_t sequence = ++snapshots->sequence;
    rv_unlock(&snapshots->lock);
    made = web_reader_read(snapshots->reader, old, age_max);
    if (made != NULL) made->sequence = sequence;
    if (made != NULL && !web_snapshot_write(snapshots->web, made)) {
        web_snapshot_free(made);
        made = NULL;
    }
    rv_lock(&snapshots->lock);
    snapshots->reading = false;
    bool gone = made != NULL && drop(old);
    if (made != NULL) {
        made->refs++;
        snapshots->newest = made;
    }
    (void)pthread_cond_broadcast(&snapshots->changed);
    if (gone) web_snapshot_free(old);
    return made;
}

/* ---- getting --------------------------------------------------------------------------------------------------- */

web_snapshot *web_snapshots_get(struct web_snapshots *snapshots, int64_t age_max)
{
    web_snapshot *found = NULL;

    rv_lock(&snapshots->lock);
    uint64_t before = snapshots->sequence;
    while (found == NULL && !snapshots->stopping) {
        web_snapshot *newest = snapshots->newest;
        int64_t now = rv_now_ms();
        bool fresh = newest != NULL && (newest->sequence > before || now - newest->read_at < FRESH_MS) &&
                     now - newest->whole_at < age_max + FRESH_MS;
        if (fresh) {
            found = newest;
            found->refs++;
        } else if (snapshots->reading) {
            before = snapshots->sequence - 1; /* the one that is being read will do */
            (void)pthread_cond_wait(&snapshots->changed, &snapshots->lock);
        } else {
            found = refresh(snapshots, age_max);
            break;
        }
    }
    rv_unlock(&snapshots->lock);
    return found;
}

web_snapshot *web_snapshots_recent(struct web_snapshots *snapshots)
{
    rv_lock(&snapshots->lock);
    web_snapshot *newest = snapshots->newest;
    bool recent = newest != NULL && newest->workers != NULL && rv_now_ms() - newest->read_at < RECENT_MS;
    if (recent) newest->refs++;
    rv_unlock(&snapshots->lock);
    return recent ? newest : NULL;
}

static void wait_until(struct web_snapshots *snapshots, int64_t deadline)
{
    struct timespec at = {.tv_sec = deadline / 1000, .tv_nsec = deadline % 1000 * 1000000};

    (void)pthread_cond_timedwait(&snapshots->changed, &snapshots->lock, &at);
}

web_snapshot *web_snapshots_next(struct web_snapshots *snapshots, uint64_t sequence, int64_t wait_ms)
{
    int64_t deadline = rv_deadline(wait_ms);
    web_snapshot *found = NULL;

    rv_lock(&snapshots->lock);
    while (!snapshots->stopping && (snapshots->newest == NULL || snapshots->newest->sequence <= sequence) &&
           rv_now_ms() < deadline)
        wait_until(snapshots, deadline);
    if (!snapshots->stopping && snapshots->newest != NULL && snapshots->newest->sequence > sequence) {
        found = snapshots->newest;
        found->refs++;
    }
    rv_unlock(&snapshots->lock);
    return found;
}

/* ---- the thread ------------------------------------------------------------------------------------------------ */

static void *run(void *user)
{
    struct web_snapshots *snapshots = user;

    rv_lock(&snapshots->lock);
    while (!snapshots->stopping) {
        if (snapshots->viewers == 0 || snapshots->reading) {
            (void)pthread_cond_wait(&snapshots->changed, &snapshots->lock);
            continue;
        }
        int64_t next = snapshots->newest == NULL ? 0 : snapshots->newest->read_at + INTERVAL_MS;
        if (rv_now_ms() < next) {
            wait_until(snapshots, next);
            continue;
        }
        web_snapshot *made = refresh(snapshots, WEB_ANY_AGE);
        if (drop(made)) web_snapshot_free(made);
        if (made == NULL) wait_until(snapshots, rv_deadline(INTERVAL_MS));
    }
    rv_unlock(&snapshots->lock);
    return NULL;
}

void web_snapshots_look(struct web_snapshots *snapshots, int change)
{
    rv_lock(&snapshots->lock);
    snapshots->viewers = (unsigned)((int)snapshots->viewers + change);
    (void)pthread_cond_broadcast(&snapshots->changed);
    rv_unlock(&snapshots->lock);
}

unsigned web_snapshots_viewers(struct web_snapshots *snapshots)
{
    rv_lock(&snapshots->lock);
    unsigned viewers = snapshots->viewers;
    rv_unlock(&snapshots->lock);
    return viewers;
}

void web_snapshots_stop(struct web_snapshots *snapshots)
{
    rv_lock(&snapshots->lock);
    snapshots->stopping = true;
    (void)pthread_cond_broadcast(&snapshots->changed);
    rv_unlock(&snapshots->lock);
}

bool web_snapshots_stopping(struct web_snapshots *snapshots)
{
    rv_lock(&snapshots->lock);
    bool stopping = snapshots->stopping;
    rv_unlock(&snapshots->lock);
    return stopping;
}

struct web_snapshots *web_snapshots_open(web_server *web)
{
    struct web_snapshots *snapshots = rv_zalloc(sizeof(*snapshots));
    pthread_condattr_t monotonic;

    if (snapshots == NULL) return NULL;
    snapshots->web = web;
    rv_lock_init(&snapshots->lock);
    rv_lock_check(pthread_condattr_init(&monotonic));
    rv_lock_check(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC));
    rv_lock_check(pthread_cond_init(&snapshots->changed, &monotonic));
    (void)pthread_condattr_destroy(&monotonic);
    snapshots->reader = web_reader_open(web);
    snapshots->started = snapshots->reader != NULL && pthread_create(&snapshots->thread, NULL, run, snapshots) == 0;
    if (snapshots->started) return snapshots;
    web_snapshots_close(snapshots);
    return NULL;
}

void web_snapshots_close(struct web_snapshots *snapshots)
{
    if (snapshots == NULL) return;
    web_snapshots_stop(snapshots);
    if (snapshots->started) (void)pthread_join(snapshots->thread, NULL);
    if (snapshots->newest != NULL) web_snapshot_free(snapshots->newest);
    web_reader_close(snapshots->reader);
    (void)pthread_cond_destroy(&snapshots->changed);
    rv_lock_fini(&snapshots->lock);
    rv_free(snapshots);
}

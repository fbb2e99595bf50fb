/*
 * watch.c - waiting for the tasks, five looks a second, and the line that shows it.
 */
#include <unistd.h>

#include "tree.h"

#define LOOK_MS 200
#define LINE_MS 5000    /* between lines that are not replaced */
#define HINT_MS 5000    /* without any movement, before it is worth a word */
#define COLLECT_MS 2000 /* between two rounds through the outcomes */

static uint64_t ended(const reeve_queue_info *info)
{
    return info->count[REEVE_STATE_COMPLETED] + info->count[REEVE_STATE_DEAD] + info->count[REEVE_STATE_CANCELLED];
}

static uint64_t waiting(const reeve_queue_info *info)
{
    return info->count[REEVE_STATE_BLOCKED] + info->count[REEVE_STATE_SCHEDULED] + info->count[REEVE_STATE_READY] +
           info->count[REEVE_STATE_PARKED] + info->count[REEVE_STATE_RUNNING];
}

/* Tasks of this tree that have ended; others in the same queue may blur it, so it is never more than there are. */
static uint64_t ended_here(const struct tree *tree, const reeve_queue_info *info)
{
    uint64_t now = ended(info);
    uint64_t here = now > tree->ended_before ? now - tree->ended_before : 0;

    return here < tree->sent ? here : tree->sent;
}

/* ---- the line -------------------------------------------------------------------------------------------------- */

static int64_t shown_ms = -LINE_MS;

static void show_line(const struct tree *tree, const reeve_queue_info *info)
{
    char a[NUMBER_MAX], b[NUMBER_MAX], c[NUMBER_MAX];
    uint64_t here = ended_here(tree, info);
    int64_t took = now_ms() - tree->began_ms;
    uint64_t rate = took > 0 ? here * 1000 / (uint64_t)took : 0;

    say_in_place("%s of %s files   %llu %%   %llu running   %llu to retry   %s/s", grouped(a, here),
                 grouped(b, tree->file_count),
                 (unsigned long long)(tree->file_count > 0 ? here * 100 / tree->file_count : 100),
                 (unsigned long long)info->count[REEVE_STATE_RUNNING],
                 (unsigned long long)info->count[REEVE_STATE_SCHEDULED], grouped(c, rate));
    shown_ms = now_ms();
}

void show_progress(struct tree *tree, const reeve_queue_info *info)
{
    int64_t pause = isatty(STDERR_FILENO) == 1 ? LOOK_MS : LINE_MS;
    char room[NUMBER_MAX];

    if (!tree->progress || now_ms() - shown_ms < pause) return;
    if (info != NULL) {
        show_line(tree, info);
        return;
    }
    say_in_place("%s files found", grouped(room, tree->file_count));
    shown_ms = now_ms();
}

/* ---- the wait -------------------------------------------------------------------------------------------------- */

static bool look(struct tree *tree, reeve_queue_info *ret)
{
    reeve_status status;

    do status = reeve_queue(tree->client, tree->queue, ret);
    while (patience_again(tree, status));
    return status == REEVE_OK;
}

/* Nothing has moved for a while: say why, if it can be seen. True when there was something to say. */
static bool hint(struct tree *tree, const reeve_queue_info *info)
{
    reeve_worker_info *workers = NULL;
    size_t count = 0;

    if (info->paused) {
        say("the queue %s is paused; `reeve resume %s` lets it go on", tree->queue, tree->queue);
        return true;
    }
    if (reeve_workers(tree->client, &workers, &count) != REEVE_OK) return false;
    reeve_workers_free(workers, count);
    if (count > 0) return false;
    say("no worker is running; one with the checksum plugin and a pool for the queue %s is needed", tree->queue);
    return true;
}

/* What the wait has seen so far. */
struct sight {
    uint64_t ended;
    int64_t moved_ms; /* when ended last changed */
    int64_t collected_ms;
    bool hinted;
};

static void note_sight(struct tree *tree, struct sight *sight, const reeve_queue_info *info)
{
    if (ended(info) != sight->ended) {
        sight->ended = ended(info);
        sight->moved_ms = now_ms();
        sight->hinted = false;
    }
    if (!sight->hinted && info->count[REEVE_STATE_RUNNING] == 0 && info->count[REEVE_STATE_READY] > 0 &&
        now_ms() - sight->moved_ms >= HINT_MS) {
        sight->hinted = hint(tree, info);
        sight->moved_ms = now_ms();
    }
}

/* Whether the outcomes are worth a look: enough tasks have ended, and the last look is not just over. */
static bool is_time_to_collect(const struct tree *tree, const struct sight *sight, const reeve_queue_info *info)
{
    if (waiting(info) == 0) return true;
    return ended_here(tree, info) >= tree->sent && now_ms() - sight->collected_ms >= COLLECT_MS;
}

static void end_progress(struct tree *tree, const reeve_queue_info *info)
{
    if (!tree->progress) return;
    show_line(tree, info);
    leave_place();
}

bool watch(struct tree *tree)
{
    struct sight sight = {.ended = 0, .moved_ms = now_ms(), .collected_ms = -COLLECT_MS};
    reeve_queue_info info;

    tree->missing = tree->file_count;
    while (tree->missing > 0) {
        if (!look(tree, &info) || stop_signal != 0) return false;
        note_sight(tree, &sight, &info);
        show_progress(tree, &info);
        if (is_time_to_collect(tree, &sight, &info)) {
            if (!collect(tree)) return false;
            sight.collected_ms = now_ms();
            if (tree->missing == 0 || waiting(&info) == 0) end_progress(tree, &info);
            if (waiting(&info) == 0) return true; /* what is missing now will not come any more */
        }
        if (tree->missing > 0) nap(LOOK_MS);
    }
    return true;
}

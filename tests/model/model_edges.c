/* Handles and ends by their names, and the edges of operations. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/model_dependencies.h"

const char *model_handle(int handle)
{
    static char texts[8][16];
    static unsigned turn;
    char *text = texts[turn++ % 8];
    if (handle == OPEN)
        rv_copy_text(text, sizeof(texts[0]), "!s"); /* a signal */
    else
        (void)snprintf(text, sizeof(texts[0]), "%c/t%02d", "ab"[QUEUE_OF(handle)], ID_OF(handle));
    return text;
}

int model_handle_of(const char *text)
{
    for (int handle = 0; handle <= OPEN; handle++)
        if (strcmp(model_handle(handle), text) == 0) return handle;
    return -1;
}

static const char *const end_words[] = {[COMPLETED] = "completed",   [DEAD] = "dead",       [CANCELLED] = "cancelled",
                                        [DELETED_STATE] = "deleted", [CASCADE] = "cascade", [UNKNOWN_STATE] = "unknown",
                                        [GONE_STATE] = "gone"};

const char *model_end_word(int state)
{
    return end_words[state];
}

int model_end_of(const char *word)
{
    for (int state = COMPLETED; state <= GONE_STATE; state++)
        if (end_words[state] && strcmp(end_words[state], word) == 0) return state;
    return -1;
}

/* ---- edges of operations --------------------------------------------------------------------------------------- */

int model_choose_edges(void)
{
    int edges = 0;
    if (!mood.dependencies) return 0;
    for (int i = CHOOSE(0, 1, 1, 1, 2, EDGES_SENT); i > 0; i--) {
        int parent = model_chance(12) ? HANDLE(model_choose_queue(), model_choose_id()) : OPEN;
        edges = edges * EDGE_BASE + EDGE(CHOOSE(FAILS, FAILS, GOES_ON, WAITS, ON_DEATH_OF), parent) +
                CHOOSE(0, 0, 0, OR_GONE, OR_GONE, OR_GONE, EXPECTED);
    }
    return edges;
}

/* As is_before, of handles in the order that keeps circles away. */
bool model_may_be_parent(int parent, int child)
{
    int one = ID_OF(parent) * QUEUES + QUEUE_OF(parent), other = ID_OF(child) * QUEUES + QUEUE_OF(child);
    return parent == OPEN || (parent < OPEN && one < other);
}

int model_edges_of(int edges, int child, model_edge_sent ret[EDGES_SENT])
{
    int count = 0;
    for (int i = 0; i < EDGES_SENT; i++, edges /= EDGE_BASE) {
        int edge = edges % EDGE_BASE % MODE - 1, mode = edges % EDGE_BASE / MODE;
        if (edge < 0 || !model_may_be_parent(edge / 4, child)) continue;
        ret[count++] = (model_edge_sent){edge / 4, "fgwx"[edge % 4], "\0ge"[mode % 3]};
    }
    return count;
}

const char *model_edge_word(const model_edge_sent *edge)
{
    static char words[8][4];
    static unsigned turn;
    char *word = words[turn++ % 8];
    word[0] = edge->policy;
    word[1] = edge->mode;
    word[2] = '\0';
    return word;
}

/*
 * top_model.h - what `reeve top` shows: the rows of a tab, as they were at the last refresh, and what the user chose of them.
 *
 * The model knows neither the screen nor keys: top_view.c makes lines of it, top_input.c changes it. One thread.
 */
#ifndef CLI_TOP_MODEL_H
#define CLI_TOP_MODEL_H

#include "cli.h"
#include "table.h"

#define CLI_TOP_COLUMNS 12
#define CLI_TOP_KEY (REEVE_HANDLE_MAX + 1)

typedef enum cli_top_tab {
    CLI_TOP_QUEUES,
    CLI_TOP_TASKS,
    CLI_TOP_WORKERS,
    CLI_TOP_DEAD,
    CLI_TOP_CRON,
    CLI_TOP_LOG,
    CLI_TOP_TABS
} cli_top_tab;

typedef struct cli_top_row {
    char key[CLI_TOP_KEY]; /* what commands name it: a queue, a handle, a worker, QUEUE/NAME; "": nothing */
    char *cells[CLI_TOP_COLUMNS];
    double number[CLI_TOP_COLUMNS]; /* what the cell sorts by; NAN: its text */
} cli_top_row;

typedef struct cli_top_rows {
    cli_top_row *list;
    size_t count, capacity;
    bool failed; /* out of memory */
} cli_top_rows;

/* Of all queues, for the head; rates are per second since the refresh before. */
typedef struct cli_top_totals {
    uint64_t ready, running, scheduled, dead, queues, workers;
    uint64_t completed, failed;
    double done_rate, failed_rate; /* -1: unknown */
    int64_t oldest_ready_ms;       /* -1: none is ready */
    double utilisation;            /* -1: unknown */
    int64_t at_ms;                 /* of the monotonic clock; 0: nothing was read yet */
    int64_t cost_us;               /* how long the calls of the last refresh took */
} cli_top_totals;

typedef struct cli_top {
    cli_context *cli;
    cli_top_tab tab;
    char queue[REEVE_QUEUE_MAX + 1]; /* the one whose tasks and events are shown; "": none was chosen */
    reeve_state state;               /* of the tasks that the tab Tasks shows */
    cli_top_rows rows;
    cli_top_rows events; /* of the tab Log, the last one first */
    cli_top_totals totals;
    size_t selected; /* the row under the cursor */
    size_t first;    /* the first row on the screen */
    size_t visible;  /* rows that the screen has room for */
    char **marks;    /* keys */
    size_t mark_count;
    size_t sort; /* column + 1; 0: as Redis gives them */
    bool descending, follow, help, shows_command;
    char filter[80];
    char note[400];     /* the last line: what an action did, or what went wrong */
    char command[400];  /* the command line that does what the last action did */
    reeve_watch *watch; /* of `queue`, while the tab Log is shown */
    bool away;          /* the last refresh failed, as the note says */
    unsigned refreshes;
} cli_top;

/* top_model.c */
void cli_top_init(cli_top *top, cli_context *cli);
void cli_top_fini(cli_top *top);

/* Reads the rows of the tab anew; what cannot be read is told by the note. One call of a script (client/overview.h), and
 * with the tab Log one that reads the stream of events. */
void cli_top_refresh(cli_top *top);

/* Changes the tab; the rows are those of the next refresh. */
void cli_top_show(cli_top *top, cli_top_tab tab);
const cli_column *cli_top_columns(const cli_top *top, size_t *ret_count);
const char *cli_top_tab_name(cli_top_tab tab);
const cli_top_row *cli_top_at_cursor(const cli_top *top);
void cli_top_move(cli_top *top, long by);

bool cli_top_is_marked(const cli_top *top, const char *key);
void cli_top_toggle_mark(cli_top *top, const char *key);
void cli_top_clear_marks(cli_top *top);

/* top_rows.c: builds rows. A row begins with its key; cells are copied. */
void cli_top_rows_add(cli_top_rows *rows, const char *key);
void cli_top_rows_cell(cli_top_rows *rows, size_t column, const char *text, double number);
void cli_top_rows_clear(cli_top_rows *rows);
void cli_top_rows_sort(cli_top_rows *rows, size_t column, bool descending);
/* Keeps the rows with a cell that contains the text, in any case of letters. */
void cli_top_rows_filter(cli_top_rows *rows, const char *text);

/* top_fetch.c: fills top->rows, and the totals with the tab Queues. */
reeve_status cli_top_fetch(cli_top *top);

/* top_view.c: the screen as text: `lines` lines of at most `columns` columns, each ended by a line feed. ret_cursor: the line
 * of the row under the cursor, or -1. NULL: out of memory. Free it with free(). */
char *cli_top_view(cli_top *top, size_t columns, size_t lines, long *ret_cursor);

/* top_action.c: what the keys of capital letters do in this tab; NULL: nothing. */
typedef struct cli_top_action {
    cli_top_tab tab;
    char key;
    const char *words; /* the command, before the keys of rows */
    const char *about;
} cli_top_action;

const cli_top_action *cli_top_find_action(const cli_top *top, char key);

/* The command of an action without its tasks: "cancel", or with a place for the key, "signal KEY quiet". Returns ret. */
const char *cli_top_action_text(const cli_top_action *action, const char *key, char *ret, size_t size);
/* All actions; a NULL `words` ends them. */
extern const cli_top_action cli_top_actions[];
/* How many rows it would be for: those marked, or the one under the cursor. */
size_t cli_top_chosen(const cli_top *top);
/* Runs it as the command line, and notes what that printed. */
void cli_top_act(cli_top *top, const cli_top_action *action);
/* Runs a command line of the user's on the terminal. Returns its exit status, or -1. */
int cli_top_run_words(const cli_top *top, const char *words);

#endif

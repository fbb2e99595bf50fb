#include "top_input.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define ESCAPE 27

static cli_top_want show(cli_top *top, cli_top_tab tab)
{
    cli_top_show(top, tab);
    return CLI_TOP_REFRESH;
}

/* Into the queue under the cursor. */
static cli_top_want enter(cli_top *top)
{
    const cli_top_row *row = cli_top_at_cursor(top);

    if (top->tab != CLI_TOP_QUEUES || row == NULL) return CLI_TOP_NOTHING;
    rv_copy_text(top->queue, sizeof(top->queue), row->key);
    cli_top_rows_clear(&top->events);
    return show(top, CLI_TOP_TASKS);
}

static cli_top_want back(cli_top *top)
{
    if (top->help)
        top->help = false;
    else if (top->filter[0] != '\0')
        top->filter[0] = '\0';
    else if (top->tab != CLI_TOP_QUEUES)
        return show(top, CLI_TOP_QUEUES);
    return CLI_TOP_REFRESH;
}

static cli_top_want sort_by(cli_top *top, int step)
{
    size_t count;

    (void)cli_top_columns(top, &count);
    /* (0 is none; column 1 has the marks.) */
    if (step > 0)
        top->sort = top->sort == 0 ? 2 : top->sort >= count ? 0 : top->sort + 1;
    else
        top->sort = top->sort == 0 ? count : top->sort == 2 ? 0 : top->sort - 1;
    return CLI_TOP_REFRESH;
}

static cli_top_want next_state(cli_top *top)
{
    if (top->tab != CLI_TOP_TASKS) return CLI_TOP_NOTHING;
    top->state = (reeve_state)((top->state + 1) % REEVE_STATE_COUNT);
    return CLI_TOP_REFRESH;
}

static void mark(cli_top *top)
{
    const cli_top_row *row = cli_top_at_cursor(top);

    if (row != NULL && row->key[0] != '\0') cli_top_toggle_mark(top, row->key);
    cli_top_move(top, 1);
}

/* Keys that move the cursor. False: it is none. */
static bool move(cli_top *top, int key)
{
    long page = (long)top->visible;

    switch (key) {
    case 'j':
    case CLI_TOP_DOWN:
        cli_top_move(top, 1);
        return true;
    case 'k':
    case CLI_TOP_UP:
        cli_top_move(top, -1);
        return true;
    case CLI_TOP_PAGE_DOWN:
        cli_top_move(top, page);
        return true;
    case CLI_TOP_PAGE_UP:
        cli_top_move(top, -page);
        return true;
    case 'g':
    case CLI_TOP_HOME:
        cli_top_move(top, -1000000000);
        return true;
    case 'G':
    case CLI_TOP_END:
        cli_top_move(top, 1000000000);
        return true;
    default:
        return false;
    }
}

/* Keys that change what is shown. */
static cli_top_want choose(cli_top *top, int key)
{
    switch (key) {
    case ' ':
        mark(top);
        return CLI_TOP_NOTHING;
    case 'u':
        cli_top_clear_marks(top);
        return CLI_TOP_NOTHING;
    case 's':
        return next_state(top);
    case 'r':
        top->descending = !top->descending;
        return CLI_TOP_REFRESH;
    case 'F':
        top->follow = !top->follow;
        return CLI_TOP_NOTHING;
    case '<':
        return sort_by(top, -1);
    case '>':
        return sort_by(top, 1);
    case '?':
        top->help = !top->help;
        return CLI_TOP_NOTHING;
    default:
        return CLI_TOP_NOTHING;
    }
}

cli_top_want cli_top_key(cli_top *top, int key)
{
    top->note[0] = '\0';
    if (move(top, key)) return CLI_TOP_NOTHING;
    if (key >= '1' && key < '1' + CLI_TOP_TABS) return show(top, (cli_top_tab)(key - '1'));
    if (key > 0 && key < 128 && isupper(key) && cli_top_find_action(top, (char)key) != NULL)
        return cli_top_chosen(top) > 0 ? CLI_TOP_ASK_ACTION : CLI_TOP_NOTHING;
    switch (key) {
    case 'q':
        return CLI_TOP_QUIT;
    case '\t':
        return show(top, (cli_top_tab)((top->tab + 1) % CLI_TOP_TABS));
    case '\r':
    case '\n':
        return enter(top);
    case ESCAPE:
        return back(top);
    case '/':
        return CLI_TOP_ASK_FILTER;
    case ':':
        return CLI_TOP_ASK_COMMAND;
    default:
        return choose(top, key);
    }
}

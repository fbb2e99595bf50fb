/*
 * top_screen.c - draws the lines of top_view.c, and reads keys. ncurses sends the terminal only what has changed since the last
 * drawing, and takes care of Ctrl-Z and of changes of the size. No colours are used, so that nothing depends on them.
 */
#include "top_screen.h"

#include <ctype.h>
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "top_input.h"

#define ESCAPE 27

static bool is_utf8;

/* ---- drawing ------------------------------------------------------------------------------------------------------------ */

/* A terminal without UTF-8 gets a question mark for each other character. */
static void add_line(const char *line, int length)
{
    for (int i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)line[i];

        if (is_utf8)
            (void)addnstr(line + i, length - i);
        else if (byte < 0x80)
            (void)addch(byte);
        else if (byte >= 0xc0)
            (void)addch('?');
        if (is_utf8) return;
    }
}

static void draw(cli_top *top)
{
    long cursor = -1;
    char *text = cli_top_view(top, (size_t)COLS, (size_t)LINES, &cursor);
    int y = 0;

    (void)erase();
    for (const char *line = text; line != NULL && *line != '\0' && y < LINES; y++) {
        int length = (int)strcspn(line, "\n");

        if (y == cursor || y == 0) (void)attron(y == 0 ? A_BOLD : A_REVERSE);
        (void)move(y, 0);
        add_line(line, length);
        (void)attrset(A_NORMAL);
        line += length + (line[length] == '\n');
    }
    (void)move(LINES - 1, 0);
    (void)refresh();
    free(text);
}

/* ---- questions ---------------------------------------------------------------------------------------------------------- */

/* Reads a line behind `prompt` at the bottom. False: the user has left it by Escape. */
static bool ask_line(const char *prompt, char *ret, size_t size)
{
    size_t length = 0;
    int key;

    ret[0] = '\0';
    timeout(-1);
    do {
        (void)mvprintw(LINES - 1, 0, "%s%s", prompt, ret);
        (void)clrtoeol();
        (void)refresh();
        key = getch();
        if (key == KEY_BACKSPACE || key == 127 || key == '\b')
            length -= length > 0;
        else if (key >= ' ' && key < 256 && key != 127 && length + 1 < size)
            ret[length++] = (char)key;
        ret[length] = '\0';
    } while (key != '\n' && key != '\r' && key != ESCAPE && key != KEY_ENTER && key != ERR);
    return key != ESCAPE && key != ERR;
}

static void ask_filter(cli_top *top)
{
    char text[sizeof(top->filter)];

    if (ask_line("/", text, sizeof(text))) memcpy(top->filter, text, sizeof(text));
    top->selected = top->first = 0;
}

#define ANSWER_COLUMNS 4

/* The command and the question, on one line if it has room for both, else the command on the line before. */
static void make_prompt(const cli_top *top, const cli_top_action *action, char *ret, size_t size)
{
    const cli_top_row *row = cli_top_at_cursor(top);
    const char *key = top->mark_count > 0 ? "..." : row == NULL ? "" : row->key;
    bool has_key = strstr(action->words, "%s") == NULL;
    char words[300], command[400], question[160];

    (void)snprintf(command, sizeof(command), "reeve %s%s%s: ", cli_top_action_text(action, key, words, sizeof(words)),
                   has_key ? " " : "", has_key ? key : "");
    (void)snprintf(question, sizeof(question), "%s, %zu of them? (y/n, Enter) ", action->about, cli_top_chosen(top));
    bool fits = strlen(command) + strlen(question) + ANSWER_COLUMNS <= (size_t)COLS;
    (void)snprintf(ret, size, "%s%s", fits ? command : "", question);
    if (fits) return;
    (void)mvprintw(LINES - 2, 0, "%.*s", COLS, command);
    (void)clrtoeol();
}

/* The count, the command, and a key that is no other command's. */
static void ask_action(cli_top *top, int key)
{
    const cli_top_action *action = cli_top_find_action(top, (char)key);
    char prompt[600], answer[16];

    make_prompt(top, action, prompt, sizeof(prompt));
    if (ask_line(prompt, answer, sizeof(answer)) && tolower((unsigned char)answer[0]) == 'y')
        cli_top_act(top, action);
    else
        (void)snprintf(top->note, sizeof(top->note), "nothing was changed");
}

static void ask_command(cli_top *top)
{
    char words[200];
    int status, key;

    if (!ask_line(":", words, sizeof(words)) || words[strspn(words, " ")] == '\0') return;
    (void)def_prog_mode();
    (void)endwin();
    (void)printf("$ reeve %s\n", words);
    (void)fflush(stdout);
    status = cli_top_run_words(top, words);
    (void)printf("[status %d; Enter goes back to top] ", status);
    (void)fflush(stdout);
    do key = getchar();
    while (key != '\n' && key != EOF);
    (void)reset_prog_mode();
    (void)clearok(stdscr, TRUE);
    (void)snprintf(top->note, sizeof(top->note), "status %d   [reeve %s]", status, words);
}

/* ---- keys --------------------------------------------------------------------------------------------------------------- */

static int key_of(int key)
{
    switch (key) {
    case KEY_UP:
        return CLI_TOP_UP;
    case KEY_DOWN:
        return CLI_TOP_DOWN;
    case KEY_PPAGE:
        return CLI_TOP_PAGE_UP;
    case KEY_NPAGE:
        return CLI_TOP_PAGE_DOWN;
    case KEY_HOME:
        return CLI_TOP_HOME;
    case KEY_END:
        return CLI_TOP_END;
    case KEY_ENTER:
        return '\n';
    default:
        return key < 256 ? key : 0;
    }
}

/* Returns false at the end; *ret_refresh: the rows must be read anew. */
static bool take_key(cli_top *top, int key, bool *ret_refresh)
{
    cli_top_want want;

    if (key == 'L' - '@') (void)clearok(stdscr, TRUE);
    if (key == KEY_RESIZE || key == 'L' - '@') return true;
    want = cli_top_key(top, key_of(key));
    *ret_refresh = want != CLI_TOP_NOTHING;
    if (want == CLI_TOP_ASK_FILTER) ask_filter(top);
    if (want == CLI_TOP_ASK_COMMAND) ask_command(top);
    if (want == CLI_TOP_ASK_ACTION) ask_action(top, key);
    return want != CLI_TOP_QUIT;
}

#define SHARE 20 /* of the time, refreshes take one in so many parts at most */

/* With thousands of queues a refresh takes long: then they become rare. */
static int64_t interval_after(const cli_top *top, int64_t interval_ms)
{
    int64_t rest_ms = SHARE * top->totals.cost_us / 1000;

    return rest_ms > interval_ms ? rest_ms : interval_ms;
}

static void show(cli_top *top, int64_t interval_ms)
{
    bool goes_on = true, refresh_now = true;
    int64_t next_ms = 0;

    while (goes_on) {
        int64_t left_ms = next_ms - rv_now_ms();
        int key;

        if (refresh_now || left_ms <= 0) {
            cli_top_refresh(top);
            left_ms = interval_after(top, interval_ms);
            next_ms = rv_now_ms() + left_ms;
        }
        refresh_now = false;
        draw(top);
        timeout((int)(left_ms < 1 ? 1 : left_ms));
        key = getch();
        if (key != ERR) goes_on = take_key(top, key, &refresh_now);
    }
}

int cli_top_on_screen(cli_top *top, int64_t interval_ms)
{
    SCREEN *screen;
    const char *cup;

    if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1)
        return cli_usage(top->cli, "this is no terminal; --once prints what it would show");
    (void)setlocale(LC_CTYPE, "");
    is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    screen = newterm(NULL, stdout, stdin);
    cup = screen == NULL ? NULL : tigetstr("cup");
    if (cup == NULL || cup == (char *)-1) { /* NOLINT(performance-no-int-to-ptr): what terminfo says for "unknown" */
        if (screen != NULL) (void)endwin();
        return cli_fail(top->cli, CLI_REFUSED, "the terminal \"%s\" cannot show it; --once prints it",
                        getenv("TERM") == NULL ? "" : getenv("TERM"));
    }
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)set_escdelay(25);
    (void)curs_set(0);
    show(top, interval_ms);
    (void)endwin();
    delscreen(screen);
    return CLI_DONE;
}

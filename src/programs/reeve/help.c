#include "help.h"

#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/exits.h"
#include "cli/verbs.h"
#include "help_fill.h"

#define HELP_COLUMN 27
#define USAGE_COLUMN 7 /* behind "usage: " */
#define FORM_COLUMN 11

static void print_option(const cli_option *option)
{
    const char *argument = option->argument == NULL ? "" : option->argument;
    const char *between = argument[0] == '\0' || argument[0] == '[' ? "" : " ";
    char left[64];

    /* "[TIMEOUT]" is written as "--wait[=TIMEOUT]" */
    if (argument[0] == '[')
        (void)snprintf(left, sizeof(left), "--%s[=%s", option->name, argument + 1);
    else
        (void)snprintf(left, sizeof(left), "--%s%s%s", option->name, between, argument);
    int length = printf("  %-*s  ", HELP_COLUMN - 4, left);
    cli_help_fill(option->help, strlen(option->help), length > 0 ? (size_t)length : 0, HELP_COLUMN);
}

/* The row of a table with the name of `option`; without it, `option` itself. */
static const cli_option *find_other(const cli_option *option, const cli_option *others)
{
    for (; others != NULL && others->name != NULL; others++)
        if (strcmp(others->name, option->name) == 0) return others;
    return option;
}

static void print_options(const char *title, const cli_option *options, const cli_option *others)
{
    if (options == NULL) return;
    (void)printf("\n%s:\n", title);
    for (; options->name != NULL; options++) {
        const cli_option *option = find_other(options, others);

        if (option->help != NULL) print_option(option);
    }
}

void cli_verb_exits(const cli_verb *verb, char *ret, size_t size)
{
    const char *own = verb->exits == NULL ? "0 done, 1 refused or not found" : verb->exits;
    bool all = own[strlen(own) - 1] == '.';

    (void)snprintf(ret, size, "%s%s", own, all ? "" : ", 2 wrong usage, 3 no Redis.");
}

/* All of them, for `reeve --help`. */
static void print_exit_table(void)
{
    (void)printf("\nExit status:\n");
    for (const cli_exit *row = cli_exits; row->name != NULL; row++)
        (void)printf("  %3d  %s\n", row->status, row->meaning);
}

const char *cli_section_title(cli_section section)
{
    static const char *const titles[CLI_SECTIONS] = {"Tasks", "Changing tasks", "Queues", "Workers and Redis",
                                                     "Trying and measuring"};

    return titles[section];
}

static void print_verbs(cli_section section)
{
    (void)printf("\n%s:\n", cli_section_title(section));
    for (const cli_verb *const *verb = cli_verbs; *verb != NULL; verb++)
        if ((*verb)->section == section && !(*verb)->hidden)
            (void)printf("  %-10s  %s\n", (*verb)->name, (*verb)->summary);
}

const char cli_help_terms[] =
    "Terms: a task is in a QUEUE and has a TYPE, which selects the handler, the function that runs it. Its\n"
    "HANDLE is QUEUE/ID. A worker leases a task, that is, takes the right to run it, and then makes an attempt:\n"
    "one call of the handler. After a failed attempt the task is retried, and after the last one it is dead. An\n"
    "error has a KIND, a short text such as \"timeout\". A crash is the death of a worker, or the\n"
    "expiry of its session, while it held the task. The tasks of a queue can be in groups. Tasks of different\n"
    "groups alternate, and a group can have limits. docs/glossary.md defines more terms. A DURATION is a number\n"
    "of seconds, or has a unit: 90, 1.5, 500ms, 5m, 1h, 2d.\n";

void cli_print_help(void)
{
    (void)printf("usage: reeve [--redis URL] [--ns NAME] [--json] COMMAND ...\n"
                 "\n"
                 "Enqueues, inspects and controls background tasks in Redis.\n");
    for (int section = 0; section < CLI_SECTIONS; section++) print_verbs((cli_section)section);
    print_options("Options, before or after the command", cli_global_options, NULL);
    (void)printf("\n%s", cli_help_terms);
    print_exit_table();
    (void)printf("\n`reeve COMMAND --help` describes a command; `man reeve-COMMAND` has the same text.\n");
}

/* Each line of the synopsis is a form of the command. */
static void print_synopsis(const cli_verb *verb)
{
    const char *form = verb->synopsis;
    int column = printf("usage: reeve %s%s", verb->name, form[0] == '\0' ? "" : " ");

    for (;;) {
        size_t length = strcspn(form, "\n");

        cli_help_fill(form, length, column > 0 ? (size_t)column : 0, FORM_COLUMN);
        if (form[length] == '\0') return;
        form += length + 1;
        column = printf("%*s", USAGE_COLUMN, "");
    }
}

void cli_print_verb_help(const cli_verb *verb)
{
    static const char exit_title[] = "Exit status: ";
    char exits[CLI_EXITS_TEXT];

    print_synopsis(verb);
    (void)printf("\n%s.\n", verb->summary);
    print_options("Options (defaults are in parentheses)", verb->options, NULL);
    print_options("Global options", cli_global_options, verb->other_globals);
    if (verb->notes != NULL) {
        (void)putchar('\n');
        cli_help_fill_notes(verb->notes);
    }
    cli_verb_exits(verb, exits, sizeof(exits));
    (void)printf("\n%s", exit_title);
    cli_help_fill(exits, strlen(exits), sizeof(exit_title) - 1, 0);
}

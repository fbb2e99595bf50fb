/*
 * verb_complete.c - `reeve complete -- WORD...`: what can stand in place of the last word, for the completion of shells.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/verbs.h"
#include "complete.h"

#define TIME_LIMIT_MS 1500

void cli_complete_offer(const cli_complete *complete, const char *text, const char *description)
{
    if (strncmp(text, complete->current, strlen(complete->current)) != 0 || strpbrk(text, "\n\t") != NULL) return;
    if (description == NULL || description[0] == '\0')
        (void)printf("%s\n", text);
    else
        (void)printf("%s\t%s\n", text, description);
}

/* ---- the words --------------------------------------------------------------------------------------------------- */

static const cli_option *find_option(const cli_option *table, const char *name, size_t length)
{
    for (; table != NULL && table->name != NULL; table++)
        if (strlen(table->name) == length && strncmp(table->name, name, length) == 0) return table;
    return NULL;
}

static void take_global(cli_complete *complete, const char *name, const char *value)
{
    if (strcmp(name, "redis") == 0) complete->globals.redis = value;
    if (strcmp(name, "redis-file") == 0) complete->globals.redis_file = value;
    if (strcmp(name, "ns") == 0) complete->globals.ns = value;
}

/* An option among the words; sets `pending` if the next word is its argument. */
static void take_option(cli_complete *complete, const char *word)
{
    size_t length = strcspn(word + 2, "=");
    const cli_option *option = NULL;

    if (complete->verb != NULL) option = find_option(complete->verb->options, word + 2, length);
    if (option == NULL) option = find_option(cli_global_options, word + 2, length);
    if (option == NULL || option->argument == NULL) return;
    if (word[2 + length] == '=')
        take_global(complete, option->name, word + length + 3);
    else if (option->argument[0] != '[')
        complete->pending = option;
}

static void take_word(cli_complete *complete, const char *word)
{
    if (complete->pending != NULL) {
        take_global(complete, complete->pending->name, word);
        complete->pending = NULL;
    } else if (strncmp(word, "--", 2) == 0) {
        take_option(complete, word);
    } else if (complete->verb == NULL) {
        complete->verb = cli_find_verb(word);
        if (complete->verb == NULL) complete->count = CLI_COMPLETE_WORDS; /* nothing is known of its arguments */
    } else if (complete->count < CLI_COMPLETE_WORDS) {
        complete->words[complete->count++] = word;
    }
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

static void offer_options(const cli_complete *complete, const cli_option *table, const cli_option *others)
{
    char name[64];

    for (; table != NULL && table->name != NULL; table++) {
        const cli_option *other = find_option(others, table->name, strlen(table->name));

        if (table->help == NULL || (other != NULL && other->help == NULL)) continue;
        (void)snprintf(name, sizeof(name), "--%s", table->name);
        cli_complete_offer(complete, name, other == NULL ? table->help : other->help);
    }
}

static void offer_verbs(const cli_complete *complete)
{
    for (size_t i = 0; cli_verbs[i] != NULL; i++)
        if (!cli_verbs[i]->hidden) cli_complete_offer(complete, cli_verbs[i]->name, cli_verbs[i]->summary);
}

static void offer(const cli_complete *complete)
{
    if (complete->count == CLI_COMPLETE_WORDS) return;
    if (complete->pending != NULL) {
        cli_complete_placeholder(complete, complete->pending->argument, strlen(complete->pending->argument));
    } else if (complete->current[0] == '-') {
        if (complete->verb != NULL) offer_options(complete, complete->verb->options, NULL);
        offer_options(complete, cli_global_options, complete->verb == NULL ? NULL : complete->verb->other_globals);
    } else if (complete->verb == NULL) {
        offer_verbs(complete);
    } else {
        if (strcmp(complete->verb->name, "help") == 0 && complete->count == 0) offer_verbs(complete);
        cli_complete_argument(complete);
    }
}

/* What was found until then is printed. */
static void end_now(int signal)
{
    (void)signal;
    _exit(0);
}

/* A shell waits for the end: whatever hangs (a name server, a connection), that is soon. */
static void limit_time(void)
{
    const struct itimerval timer = {
        .it_value = {.tv_sec = TIME_LIMIT_MS / 1000, .tv_usec = TIME_LIMIT_MS % 1000 * 1000}};

    (void)signal(SIGALRM, end_now);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
}

static int complete(cli_context *cli, void *options)
{
    cli_complete complete = {.current = ""};

    (void)options;
    limit_time();
    for (size_t i = 0; i + 1 < cli->count; i++) take_word(&complete, cli->rest[i]);
    if (cli->count > 0) complete.current = cli->rest[cli->count - 1];
    offer(&complete);
    return CLI_DONE;
}

const cli_verb cli_verb_complete = {
    .name = "complete",
    .section = CLI_TOOLS,
    .synopsis = "-- WORD...",
    .summary = "Prints the possible completions of the last word, for tab completion in shells",
    .max = CLI_ANY_NUMBER,
    .run = complete,
    .hidden = true,
    .notes =
        "The words are those after `reeve`; the last one may be empty. Each line is a candidate, and after a tab its\n"
        "description; the line \":files\" stands for names of files. The command ends within two seconds, and never\n"
        "starts a private Redis.\n"
        "\n"
        "Example:\n"
        "  reeve complete -- list ma\n",
};

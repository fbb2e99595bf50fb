/*
 * help_json.c - the table of the verbs as JSON: for programs, and for the manual pages (packaging/man).
 */
#include <string.h>

#include "cli/args.h"
#include "cli/exits.h"
#include "cli/json.h"
#include "cli/verbs.h"
#include "help.h"

static const char *kind_name(const cli_option *option)
{
    static const char *const names[] = {"flag", "text", "whole", "whole", "duration", "time", "other"};

    return names[option->kind];
}

static void print_option(cli_json *json, const cli_option *option)
{
    bool optional = option->argument != NULL && option->argument[0] == '[';
    char name[64];

    cli_json_open(json, NULL);
    cli_json_text(json, "name", option->name);
    (void)snprintf(name, sizeof(name), "%.*s",
                   option->argument == NULL ? 0 : (int)strcspn(option->argument + optional, "]"),
                   option->argument == NULL ? "" : option->argument + optional);
    cli_json_text(json, "argument", option->argument == NULL ? NULL : optional ? name : option->argument);
    cli_json_bool(json, "argument_optional", optional);
    cli_json_text(json, "kind", kind_name(option));
    cli_json_text(json, "help", option->help);
    cli_json_close(json);
}

static const cli_option *find_other(const cli_option *option, const cli_option *others)
{
    for (; others != NULL && others->name != NULL; others++)
        if (strcmp(others->name, option->name) == 0) return others;
    return option;
}

static void print_options(cli_json *json, const char *key, const cli_option *options, const cli_option *others)
{
    cli_json_open_array(json, key);
    for (; options != NULL && options->name != NULL; options++) {
        const cli_option *option = find_other(options, others);

        if (option->help != NULL) print_option(json, option);
    }
    cli_json_close_array(json);
}

/* A synopsis has a line for each form, the first without "reeve VERB"; a line that begins otherwise continues one. */
static void print_synopses(cli_json *json, const cli_verb *verb)
{
    char form[1024];

    cli_json_open_array(json, "synopsis");
    for (const char *at = verb->synopsis; at != NULL;) {
        const char *end = strstr(at, "\n       reeve ");
        int length = (int)(end == NULL ? strlen(at) : (size_t)(end - at));
        const char *rest = end == NULL ? NULL : end + strlen("\n       ");

        if (at == verb->synopsis)
            (void)snprintf(form, sizeof(form), "reeve %s%s%.*s", verb->name, length > 0 ? " " : "", length, at);
        else
            (void)snprintf(form, sizeof(form), "%.*s", length, at);
        cli_json_text(json, NULL, form);
        at = rest;
    }
    cli_json_close_array(json);
}

static void print_members(cli_json *json, const cli_verb *verb)
{
    char exits[CLI_EXITS_TEXT];

    cli_verb_exits(verb, exits, sizeof(exits));
    cli_json_text(json, "verb", verb->name);
    cli_json_text(json, "section", cli_section_title(verb->section));
    cli_json_text(json, "summary", verb->summary);
    print_synopses(json, verb);
    cli_json_uint(json, "arguments_min", verb->min);
    cli_json_maybe(json, "arguments_max", verb->max == CLI_ANY_NUMBER ? -1 : (int64_t)verb->max);
    print_options(json, "options", verb->options, NULL);
    print_options(json, "global_options", cli_global_options, verb->other_globals);
    cli_json_text(json, "notes", verb->notes);
    cli_json_text(json, "exits", exits);
}

static void print_all(cli_json *json)
{
    cli_json_text(json, "version", reeve_version());
    cli_json_open_array(json, "verbs");
    for (const cli_verb *const *verb = cli_verbs; *verb != NULL; verb++) {
        if ((*verb)->hidden) continue;
        cli_json_open(json, NULL);
        print_members(json, *verb);
        cli_json_close(json);
    }
    cli_json_close_array(json);
    print_options(json, "global_options", cli_global_options, NULL);
    cli_json_text(json, "terms", cli_help_terms);
    cli_json_open_array(json, "exit_statuses");
    for (const cli_exit *row = cli_exits; row->name != NULL; row++) {
        cli_json_open(json, NULL);
        cli_json_int(json, "status", row->status);
        cli_json_text(json, "name", row->name);
        cli_json_text(json, "meaning", row->meaning);
        cli_json_close(json);
    }
    cli_json_close_array(json);
}

void cli_print_help_json(const cli_verb *verb)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    if (verb == NULL)
        print_all(&json);
    else
        print_members(&json, verb);
    cli_json_end(&json);
}

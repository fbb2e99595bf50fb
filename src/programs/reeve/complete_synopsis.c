/*
 * complete_synopsis.c - which kind of argument stands where, from the synopsis of a verb.
 *
 * A synopsis has forms: lines that begin with "reeve VERB", and parts around a lone '|'. The words of a form that are
 * neither options nor arguments of options are its arguments; those in lower case are literal.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "complete.h"

#define FORM_MAX 16

typedef struct name_token {
    const char *text;
    size_t length;
} name_token;

typedef struct synopsis_form {
    name_token arguments[FORM_MAX];
    size_t count;
    int depth; /* of brackets */
    bool skip; /* the next token is the argument of an option */
} synopsis_form;

static bool token_is(name_token token, const char *text)
{
    return strlen(text) == token.length && strncmp(token.text, text, token.length) == 0;
}

static name_token next_token(const char **at)
{
    name_token token;

    *at += strspn(*at, " \n");
    token.text = *at;
    token.length = strcspn(*at, " \n");
    *at += token.length;
    return token;
}

/* Without brackets and dots. */
static name_token bare(name_token token)
{
    while (token.length > 0 && token.text[0] == '[') token.text++, token.length--;
    while (token.length > 0 && strchr("].", token.text[token.length - 1]) != NULL) token.length--;
    return token;
}

static bool takes_argument(const cli_verb *verb, name_token name)
{
    for (const cli_option *option = verb->options; option != NULL && option->name != NULL; option++)
        if (token_is((name_token){name.text + 2, name.length - 2}, option->name))
            return option->argument != NULL && option->argument[0] != '[';
    return true;
}

static void add_token(const cli_verb *verb, synopsis_form *form, name_token raw)
{
    bool closes = memchr(raw.text, ']', raw.length) != NULL, skip = form->skip;
    name_token token = bare(raw);

    for (size_t i = 0; i < raw.length; i++) form->depth += raw.text[i] == '[' ? 1 : raw.text[i] == ']' ? -1 : 0;
    form->skip = false;
    if (skip || token.length == 0 || token_is(token, "|")) return;
    if (token.length > 2 && strncmp(token.text, "--", 2) == 0)
        form->skip = !closes && takes_argument(verb, token);
    else if (token_is(token, "<"))
        form->skip = true;
    else if (!token_is(token, "OPTION") && !token_is(token, "FILTER") && form->count < FORM_MAX)
        form->arguments[form->count++] = raw;
}

/* ---- a form and the words ---------------------------------------------------------------------------------------- */

static bool is_literal(name_token token)
{
    return token.length > 0 && islower((unsigned char)token.text[0]);
}

static bool is_among(name_token alternatives, const char *word)
{
    while (alternatives.length > 0) {
        const char *bar = memchr(alternatives.text, '|', alternatives.length);
        size_t length = bar == NULL ? alternatives.length : (size_t)(bar - alternatives.text);

        if (token_is((name_token){alternatives.text, length}, word)) return true;
        alternatives.text += length + (bar != NULL);
        alternatives.length -= length + (bar != NULL);
    }
    return false;
}

static void offer_form(const cli_complete *complete, const synopsis_form *form)
{
    size_t place = complete->count;
    name_token last;

    if (form->count == 0) return;
    for (size_t i = 0; i < place && i < form->count; i++) {
        name_token argument = bare(form->arguments[i]);

        if (is_literal(argument) && !is_among(argument, complete->words[i])) return;
    }
    last = form->arguments[form->count - 1];
    if (place >= form->count && memmem(last.text, last.length, "...", 3) == NULL) return;
    last = bare(form->arguments[place < form->count ? place : form->count - 1]);
    cli_complete_placeholder(complete, last.text, last.length);
}

void cli_complete_argument(const cli_complete *complete)
{
    const cli_verb *verb = complete->verb;
    const char *at = verb->synopsis;
    synopsis_form form = {0};
    name_token token;

    while ((token = next_token(&at)).length > 0) {
        bool begins = token_is(token, "reeve"), ends = begins || (token_is(token, "|") && form.depth == 0);

        if (ends) {
            offer_form(complete, &form);
            memset(&form, 0, sizeof(form));
        }
        if (begins) (void)next_token(&at);
        if (!ends) add_token(verb, &form, token);
    }
    offer_form(complete, &form);
}

/* ---- what a name stands for --------------------------------------------------------------------------------------- */

static void offer_states(const cli_complete *complete)
{
    for (int state = 0; state < REEVE_STATE_COUNT; state++)
        cli_complete_offer(complete, reeve_state_name((reeve_state)state), NULL);
    cli_complete_offer(complete, "all", NULL);
}

static void ask_for_files(const cli_complete *complete)
{
    (void)complete;
    (void)fputs(":files\n", stdout);
}

static const struct {
    const char *name;
    void (*offer)(const cli_complete *complete);
} kinds[] = {
    {"QUEUE", cli_complete_queues}, {"Q", cli_complete_queues},       {"HANDLE", cli_complete_handles},
    {"TYPE", cli_complete_types},   {"WORKER", cli_complete_workers}, {"QUEUE/NAME", cli_complete_entries},
    {"STATE", offer_states},        {"FILE", ask_for_files},          {"@FILE", ask_for_files},
    {"PLUGIN", ask_for_files},      {"DIR", ask_for_files},
};

static void offer_one(const cli_complete *complete, name_token name)
{
    char literal[64];

    if (is_literal(name) && name.length < sizeof(literal)) {
        memcpy(literal, name.text, name.length);
        literal[name.length] = '\0';
        cli_complete_offer(complete, literal, NULL);
        return;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (token_is(name, kinds[i].name)) kinds[i].offer(complete);
}

void cli_complete_placeholder(const cli_complete *complete, const char *name, size_t length)
{
    name_token rest = {name, length};

    while (rest.length > 0) {
        const char *bar = memchr(rest.text, '|', rest.length);
        size_t size = bar == NULL ? rest.length : (size_t)(bar - rest.text);
        name_token one = bare((name_token){rest.text, size});
        const char *bracket = memchr(one.text, '[', one.length); /* "HANDLE[:RULE]" */

        if (bracket != NULL) one.length = (size_t)(bracket - one.text);
        offer_one(complete, bare(one));
        rest.text += size + (bar != NULL);
        rest.length -= size + (bar != NULL);
    }
}

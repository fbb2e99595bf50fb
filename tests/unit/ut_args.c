/* ut_args.c - options by table: kinds, ranges, global options anywhere. What is said goes to a file that is looked at.
 */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/handle.h"

struct options {
    bool flag;
    const char *text;
    int number;
    int64_t count;
    int64_t span_ms;
    int64_t time_ms;
    const char *other;
    bool other_given;
};

static int read_other(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct options *options = pointer;

    if (value != NULL && strcmp(value, "bad") == 0) return cli_bad_value(cli, option, value, "something good");
    options->other = value;
    options->other_given = true;
    return CLI_DONE;
}

#define AT(field) offsetof(struct options, field)

static const cli_option table[] = {
    {"flag", NULL, "", CLI_FLAG, AT(flag), 0, 0, NULL},
    {"text", "TEXT", "", CLI_TEXT, AT(text), 0, 0, NULL},
    {"number", "N", "", CLI_INT, AT(number), -5, 5, NULL},
    {"count", "N", "", CLI_COUNT, AT(count), 1, INT64_MAX, NULL},
    {"span", "DURATION", "", CLI_DURATION, AT(span_ms), 1, 0, NULL},
    {"time", "TIME", "", CLI_TIME, AT(time_ms), 0, 0, NULL},
    {"other", "[WORD]", "", CLI_OTHER, 0, 0, 0, read_other},
    {0},
};
static const cli_verb verb = {.name = "verb", .synopsis = "A [B]", .options = table, .min = 1, .max = 2};

/* Runs the whole reading over "reeve" and the words of a line; *ret_said holds what went to standard error. */
static int read_line(const char *line, cli_context *cli, struct options *options, char said[1024])
{
    static char text[512];
    static char *argv[32];
    char *save = NULL;
    int argc = 0, status, kept = dup(STDERR_FILENO);
    FILE *file = tmpfile();

    (void)snprintf(text, sizeof(text), "reeve %s", line);
    for (char *word = strtok_r(text, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) argv[argc++] = word;
    argv[argc] = NULL;
    memset(cli, 0, sizeof(*cli));
    memset(options, 0, sizeof(*options));
    (void)fflush(stderr);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    status = cli_read_globals(cli, argc, argv);
    if (status == CLI_DONE && cli->argc > 0) {
        cli->verb = &verb;
        status = cli_read_options(cli, options);
    }
    (void)fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    (void)close(kept);
    rewind(file);
    said[fread(said, 1, 1023, file)] = '\0';
    (void)fclose(file);
    return status;
}

static void every_kind(void **state)
{
    (void)state;
    struct options options;
    cli_context cli;
    char said[1024];

    assert_int_equal(read_line("--redis r verb a --flag --text t --number -5 --count=7 b --span 1.5 --time 12 --other "
                               "--json --ns=n",
                               &cli, &options, said),
                     CLI_DONE);
    assert_string_equal(said, "");
    assert_true(options.flag && cli.json && options.other_given);
    assert_string_equal(options.text, "t");
    assert_int_equal(options.number, -5);
    assert_int_equal(options.count, 7);
    assert_int_equal(options.span_ms, 1500);
    assert_int_equal(options.time_ms, 12000);
    assert_null(options.other);
    assert_string_equal(cli.redis, "r");
    assert_string_equal(cli.ns, "n");
    assert_int_equal(cli.given, 7);
    assert_int_equal(cli.count, 2);
    assert_string_equal(cli.rest[0], "a");
    assert_string_equal(cli.rest[1], "b");
}

static void dashes_end_the_options(void **state)
{
    (void)state;
    struct options options;
    cli_context cli;
    char said[1024];

    assert_int_equal(read_line("verb -- --flag -x", &cli, &options, said), CLI_DONE);
    assert_false(options.flag);
    assert_string_equal(cli.rest[0], "--flag");
    assert_string_equal(cli.rest[1], "-x");
    assert_int_equal(read_line("verb - --flag", &cli, &options, said), CLI_DONE);
    assert_string_equal(cli.rest[0], "-");
}

static void help_needs_no_arguments(void **state)
{
    (void)state;
    struct options options;
    cli_context cli;
    char said[1024];

    assert_int_equal(read_line("verb --help", &cli, &options, said), CLI_DONE);
    assert_true(cli.help);
    assert_int_equal(read_line("-h", &cli, &options, said), CLI_DONE);
    assert_true(cli.help);
    assert_int_equal(cli.argc, 0);
    assert_int_equal(read_line("verb --text --help a", &cli, &options, said), CLI_DONE);
    assert_false(cli.help);
}

static void what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"verb", "reeve: verb: an argument is missing: reeve verb A [B]"},
        {"verb a b c", "reeve: verb: \"c\" is one argument too many"},
        {"verb a --number 6", "reeve: verb: --number \"6\": expected a whole number from -5 to 5"},
        {"verb a --number x", "reeve: verb: --number \"x\": expected a whole number"},
        {"verb a --count 0", "reeve: verb: --count \"0\": expected a whole number, at least 1"},
        {"verb a --span 0", "reeve: verb: --span \"0\": expected a duration above zero"},
        {"verb a --span soon", "reeve: verb: --span \"soon\": expected a duration"},
        {"verb a --time soon", "reeve: verb: --time \"soon\": expected a time"},
        {"verb a --other=bad", "reeve: verb: --other \"bad\": expected something good"},
        {"verb a --flag=1", "reeve: verb: --flag takes no argument"},
        {"verb a --text", "reeve: verb: --text needs an argument: TEXT"},
        {"verb a --nunber 1", "reeve: verb: unknown option \"--nunber\"; did you mean \"--number\"?"},
        {"verb a --nunber=1", "reeve: verb: unknown option \"--nunber\"; did you mean \"--number\"?"},
        {"verb a --zzzzzzzz", "reeve: verb: unknown option \"--zzzzzzzz\"\n"},
        {"verb a -q", "reeve: verb: unknown option \"-q\""},
        {"--jsno verb a", "reeve: unknown option \"--jsno\"; did you mean \"--json\"?"},
        {"--redis", "reeve: --redis needs an argument: URL"},
    };
    struct options options;
    cli_context cli;
    char said[1024];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(read_line(cases[i].line, &cli, &options, said), CLI_USAGE);
        if (strncmp(said, cases[i].words, strlen(cases[i].words)) != 0)
            fail_msg("%s: said \"%s\"", cases[i].line, said);
        assert_non_null(strstr(said, "--help"));
    }
}

static void handles(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "/", "a", "a/", "/b", "a/b/c", "a b/c", "a/b c", "a/b\n", "\xc3\xbc/b"};
    char text[REEVE_HANDLE_MAX + 1], longest[REEVE_HANDLE_MAX + 8];
    cli_handle handle;

    assert_true(cli_handle_parse(&handle, "emails.x/order:17"));
    assert_string_equal(handle.queue, "emails.x");
    assert_string_equal(handle.id, "order:17");
    cli_handle_text(&handle, text);
    assert_string_equal(text, "emails.x/order:17");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) assert_false(cli_handle_parse(&handle, wrong[i]));
    (void)snprintf(longest, sizeof(longest), "%0*d/%0*d", REEVE_QUEUE_MAX, 0, REEVE_ID_LENGTH_MAX, 0);
    assert_true(cli_handle_parse(&handle, longest));
    (void)snprintf(longest, sizeof(longest), "%0*d/%0*d", REEVE_QUEUE_MAX, 0, REEVE_ID_LENGTH_MAX + 1, 0);
    assert_false(cli_handle_parse(&handle, longest));
    (void)snprintf(longest, sizeof(longest), "%0*d/1", REEVE_QUEUE_MAX + 1, 0);
    assert_false(cli_handle_parse(&handle, longest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(dashes_end_the_options),
        cmocka_unit_test(help_needs_no_arguments),
        cmocka_unit_test(what_is_wrong),
        cmocka_unit_test(handles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * cli.h - what the verbs of `reeve` share: the description of a verb, the context it runs in, and the ways to say
 * something.
 *
 * A verb is one row: its options and the number of its arguments are checked before its run function is called.
 * Standard output carries what was asked for, standard error the words about it. main() closes the client and checks
 * that standard output took everything.
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "reeve/reeve.h"

/* Exit statuses; the numbers are part of the command line's contract. exits.c has what they mean, for help, manual pages
 * and `reeve help --json`. */
enum {
    CLI_DONE = 0,
    CLI_REFUSED = 1, /* refused, not found */
    CLI_USAGE = 2,
    CLI_NO_REDIS = 3,
    CLI_UNKNOWN = 4, /* enqueue: whether it was carried out is not known */
    CLI_DEAD = 5,    /* the task that was waited for is dead, */
    CLI_CANCELLED = 6,
    CLI_TIMED_OUT = 7,  /* or did not end in time */
    CLI_SIGNALLED = 128 /* plus the signal's number */
};

struct cli_context;
struct cli_option;

/* What an option's argument is, and so what stands at its place in the verb's options struct. */
typedef enum cli_kind {
    CLI_FLAG,     /* bool; takes no argument */
    CLI_TEXT,     /* const char * */
    CLI_INT,      /* int, within min and max */
    CLI_COUNT,    /* int64_t, within min and max */
    CLI_DURATION, /* int64_t, milliseconds, at least least */
    CLI_TIME,     /* int64_t, milliseconds since the epoch */
    CLI_OTHER     /* read decides */
} cli_kind;

typedef struct cli_option {
    const char *name;     /* NULL ends a table */
    const char *argument; /* its name for --help; "[WORD]": optional, after '='; NULL: takes none */
    const char *help;
    cli_kind kind;
    size_t at; /* offset in the options struct */
    int64_t min, max;
    /* CLI_OTHER: value is NULL when an optional argument is absent. CLI_DONE, or CLI_USAGE after words. */
    int (*read)(const struct cli_context *cli, const struct cli_option *option, void *options, char *value);
} cli_option;

#define CLI_ANY_NUMBER SIZE_MAX

/* The sections of `reeve --help`, in their order. */
typedef enum cli_section { CLI_TASKS, CLI_CHANGES, CLI_QUEUES, CLI_SERVERS, CLI_TOOLS } cli_section;
#define CLI_SECTIONS 5

typedef struct cli_verb {
    const char *name;
    cli_section section;
    const char *synopsis;      /* what follows "reeve NAME" */
    const char *summary;       /* one line */
    const cli_option *options; /* NULL: none of its own */
    size_t options_size;       /* of the options struct */
    const void *defaults;      /* what it starts as; NULL: zero */
    size_t min, max;           /* how many arguments */
    int (*run)(struct cli_context *cli, void *options);
    /* Rows that replace rows of cli_global_options in the help, by name: their defaults do not hold for this verb.
     * help NULL: the option is not printed. NULL: none */
    const cli_option *other_globals;
    const char *notes; /* examples and more for --help; whole lines */
    const char *exits; /* what 0 and 1 mean here, or with a final '.' all; NULL: the usual */
    bool hidden;       /* for programs, not for people: `reeve --help` does not list it */
} cli_verb;

typedef struct cli_context {
    const cli_verb *verb; /* NULL before it is known */
    int argc;
    char **argv; /* argv[0] is the verb's name */
    const char *redis;
    const char *redis_file;
    char *secret; /* the URL in that file, which is then `redis`; main() frees it */
    const char *ns;
    const char *size_limit;        /* --size-limit */
    reeve_size_limits size_limits; /* in force: none is zero */
    bool json;
    bool wide;        /* --wide: tables have all their columns, however narrow the terminal is */
    bool json_faults; /* what goes wrong before the options are read is told as JSON, too */
    bool help;
    bool version;
    char **rest; /* the arguments that are no options */
    size_t count;
    size_t given;         /* how many of the verb's own options were given */
    uint64_t given_set;   /* which of them, a bit for each row of its table */
    reeve_client *client; /* made by cli_open */
    const char *buffer;   /* --buffer: the file of the client's buffer; NULL: none */
    reeve_buffer_refused_fn buffer_refused;
    unsigned wait_replicas; /* --wait-replicas: how many have to confirm what is enqueued; 0: none */
    int64_t wait_replicas_ms;
    bool wait_disk;     /* --wait-disk */
    const char *layers; /* --layers: a plugin, whose layers cli_open adds to the client; NULL: none */
    reeve_plugin_handle *layers_plugin;
} cli_context;

/* ---- saying (say.c) -------------------------------------------------------------------------------------------- */

/*
 * What a program wants to know of a failure besides the words; with --json it is an object on a line of standard error
 * (docs/json.md). Zeroed: nothing but the words.
 */
typedef struct cli_fault {
    const char *code;   /* NULL: as the exit status says */
    const char *handle; /* the task that it is about */
    uint64_t line;      /* of standard input, the first is 1 */
    const char *unique; /* the key that is taken, */
    const char *holder; /* and the handle of the task that holds it */
} cli_fault;

/* The code that stands for a failed call, "not_found" for instance. */
const char *cli_code_of(reeve_status status);

/* Whether a call failed for a reason that concerns all calls: Redis cannot be reached or refuses them, or there is no
 * memory. A verb that makes a call for each argument then stops. */
bool cli_fails_for_all(reeve_status status);

/* Says why the verb, or a part of its work, failed, and returns the exit status that this stands for: "reeve: VERB:
 * words" and a line feed on standard error, made harmless; with --json an error object. */
int cli_fault_say(const cli_context *cli, int status, const cli_fault *fault, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same without a fault. cli_usage points to --help as well and returns CLI_USAGE. */
int cli_fail(const cli_context *cli, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
int cli_usage(const cli_context *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_no_memory(const cli_context *cli);

/* A signal has ended the verb's work, which only programs are told. Returns the exit status. */
int cli_signalled(const cli_context *cli, int signal);

/* What is no failure, for people: nothing with --json. */
void cli_note(const cli_context *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes once that the verb used a private Redis because nothing names another one. For a verb that found nothing. */
void cli_note_private(const cli_context *cli);

/* Flushes standard output. False: it failed, which was said unless its reader just went away. */
bool cli_flush(const cli_context *cli);

/* Reads --size-limit and the environment's REEVE_SIZE_LIMITS into cli->size_limits. CLI_DONE, or CLI_USAGE after
 * words. */
int cli_read_size_limits(cli_context *cli);

/* With --redis-file: reads the URL there. CLI_DONE, or CLI_USAGE after words. */
int cli_read_redis_file(cli_context *cli);

/* ---- Redis ----------------------------------------------------------------------------------------------------- */

/* Adds the layers of the plugin cli->layers to the client (layers_option.c). */
int cli_add_layers(cli_context *cli);

/* The same for a consumer. On a failure ret_error has the message. */
reeve_status cli_add_consumer_layers(const cli_context *cli, reeve_consumer *consumer, char *ret_error, size_t size);

/* Opens cli->client. CLI_DONE, or the exit status of a failure that was said. */
int cli_open(cli_context *cli);

/* The exit status that stands for a failed call. */
int cli_exit_of(reeve_status status);
/* Whether the answer is missing that would tell if a task was enqueued. */
bool cli_may_be_enqueued(reeve_status status);

/* Says why the client's last call failed, after "subject: " when subject is not NULL; returns cli_exit_of(status).
 * cli_fault_call: of the task fault->handle. */
int cli_fail_call(const cli_context *cli, reeve_status status, const char *subject);
int cli_fault_call(const cli_context *cli, reeve_status status, const cli_fault *fault);

/* ---- arguments ------------------------------------------------------------------------------------------------- */

/* CLI_DONE when text is a queue's name, else CLI_USAGE after saying what is. */
int cli_queue_argument(const cli_context *cli, const char *text);

/*
 * Reads a PAYLOAD argument into *ret, which the caller frees whatever is returned: the text itself, "-" for standard
 * input, "@file" for a file, "@@text" for a text that begins with '@'. NULL text is an empty payload. CLI_DONE, or an exit status after words.
 */
int cli_read_payload(const cli_context *cli, rv_buf *ret, const char *text);

#endif

/*
 * page.h - --limit and --offset of verbs that list, and what they share.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cli.h"

typedef struct cli_page {
    int64_t limit; /* 0: all */
    int64_t offset;
} cli_page;

#define CLI_PAGE_DEFAULT \
    {                    \
        .limit = 50      \
    }

/* Rows of a verb's table; at: where the cli_page stands in its options struct. */
#define CLI_PAGE_LIMIT(at)                                                                                            \
    {                                                                                                                 \
        "limit", "N", "print at most N; 0: all (50)", CLI_COUNT, (at) + offsetof(cli_page, limit), 0, INT64_MAX, NULL \
    }
/* The same with a help of its own. */
#define CLI_PAGE_LIMIT_AS(at, help)                                                         \
    {                                                                                       \
        "limit", "N", help, CLI_COUNT, (at) + offsetof(cli_page, limit), 0, INT64_MAX, NULL \
    }
/* Where all is the default, and the struct is zeroed. */
#define CLI_PAGE_LIMIT_OR_ALL(at)                                                                                    \
    {                                                                                                                \
        "limit", "N", "print at most N; 0: all (0)", CLI_COUNT, (at) + offsetof(cli_page, limit), 0, INT64_MAX, NULL \
    }
#define CLI_PAGE_OFFSET(at)                                                                                     \
    {                                                                                                           \
        "offset", "N", "skip the first N (0)", CLI_COUNT, (at) + offsetof(cli_page, offset), 0, INT64_MAX, NULL \
    }

/* Cuts a list of *count to the page; returns where it begins. For people: says on standard error how many of what there
 * are when some are left out. */
size_t cli_page_cut(const cli_context *cli, const cli_page *page, const char *what, size_t *count);

/* verb_list.c: lists the tasks of a queue in a state, with a kind the dead ones of that; returns the exit status. */
int cli_list(cli_context *cli, const char *queue, reeve_state state, const char *kind, const cli_page *page);

/* verb_list_tag.c: lists those with a tag, in a state (NULL: any); returns the exit status. */
int cli_list_tag(cli_context *cli, const char *queue, const char *tag, const reeve_state *state, const cli_page *page);

#endif

#include "page.h"

#include <stdio.h>

size_t cli_page_cut(const cli_context *cli, const cli_page *page, const char *what, size_t *count)
{
    size_t total = *count, from = (uint64_t)page->offset < total ? (size_t)page->offset : total;

    *count = total - from;
    if (page->limit > 0 && (uint64_t)page->limit < *count) *count = (size_t)page->limit;
    if (*count < total && !cli->json) (void)fprintf(stderr, "%zu of %zu %s\n", *count, total, what);
    return from;
}

#include "task_pages.h"

#include <stdio.h>

#include "task_view.h"

void cli_task_pages_init(cli_task_pages *pages, const cli_context *cli, const cli_page *page, const cli_column *columns,
                         size_t count)
{
    pages->json = cli->json;
    pages->skip = (uint64_t)page->offset;
    pages->left = page->limit == 0 ? UINT64_MAX : (uint64_t)page->limit;
    pages->shown = 0;
    cli_table_init(&pages->table, columns, count);
}

void cli_task_pages_fini(cli_task_pages *pages)
{
    cli_table_fini(&pages->table);
}

bool cli_task_pages_print(cli_task_pages *pages, reeve_task_info **page, size_t count, size_t rows)
{
    for (size_t i = 0; i < count && pages->left > 0; i++) {
        if (pages->skip > 0) {
            pages->skip--;
            continue;
        }
        if (pages->json)
            cli_task_json(page[i], stdout);
        else
            pages->add_row(&pages->table, page[i]);
        pages->left--;
        pages->shown++;
    }
    if (pages->table.failed) return false;
    return pages->table.used <= rows * pages->table.count || cli_table_print(&pages->table, stdout);
}

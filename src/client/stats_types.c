#include "client/stats_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "protocol/tally.h"

#define FIELD "type:"
#define FIELD_LENGTH (sizeof(FIELD) - 1)
/* Numbers in a field, as heartbeat.lua writes them. */
enum { COMPLETED, FAILED, DEAD, WAIT, RUN = WAIT + 4, NUMBERS = RUN + 4 };

/* ---- adding ---------------------------------------------------------------------------------------------------- */

static void add_range(reeve_range *range, const reeve_range *more)
{
    if (more->count == 0) return;
    double count = (double)range->count, added = (double)more->count;
    range->mean_ms = (range->mean_ms * count + more->mean_ms * added) / (count + added);
    if (range->count == 0 || more->min_ms < range->min_ms) range->min_ms = more->min_ms;
    if (more->max_ms > range->max_ms) range->max_ms = more->max_ms;
    range->count += more->count;
}

/* NULL: no memory. */
static reeve_type_stats *type_of(reeve_day *day, const char *type)
{
    for (size_t i = 0; i < day->type_count; i++) {
        if (strcmp(day->types[i].type, type) == 0) return &day->types[i];
    }
    reeve_type_stats *types = rv_realloc_array(day->types, day->type_count + 1, sizeof(*types));
    if (types == NULL) return NULL;
    day->types = types;
    reeve_type_stats *added = &types[day->type_count++];
    memset(added, 0, sizeof(*added));
    rv_copy_text(added->type, sizeof(added->type), type);
    return added;
}

bool rv_stats_types_add(reeve_day *day, const reeve_type_stats *more)
{
    reeve_type_stats *known = type_of(day, more->type);
    if (known == NULL) return false;
    known->completed += more->completed;
    known->failed += more->failed;
    known->dead += more->dead;
    add_range(&known->wait, &more->wait);
    add_range(&known->run, &more->run);
    return true;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static reeve_range read_range(const long long numbers[4], double unit_us)
{
    double per_ms = 1000 / unit_us;
    reeve_range range = {.count = (uint64_t)numbers[0]};
    if (range.count == 0) return range;
    range.mean_ms = (double)numbers[1] / (double)numbers[0] / per_ms;
    range.min_ms = (double)numbers[2] / per_ms;
    range.max_ms = (double)numbers[3] / per_ms;
    return range;
}

/* False: another program wrote it. */
static bool read_numbers(const char *text, long long numbers[NUMBERS])
{
    if (!rv_parse_numbers(text, numbers, NUMBERS, NULL)) return false;
    for (size_t i = 0; i < NUMBERS; i++) {
        if (numbers[i] < 0) return false;
    }
    return true;
}

bool rv_stats_types_read(reeve_day *day, const rv_reply *name, const rv_reply *text)
{
    long long numbers[NUMBERS];
    if (!rv_reply_is(name, RV_TEXT) || strncmp(name->text, FIELD, FIELD_LENGTH) != 0) return true;
    if (!rv_reply_is(text, RV_TEXT) || !read_numbers(text->text, numbers)) return true;
    reeve_type_stats type = {.completed = (uint64_t)numbers[COMPLETED],
                             .failed = (uint64_t)numbers[FAILED],
                             .dead = (uint64_t)numbers[DEAD],
                             .wait = read_range(&numbers[WAIT], RV_WAIT_UNIT_US),
                             .run = read_range(&numbers[RUN], RV_RUN_UNIT_US)};
    rv_copy_text(type.type, sizeof(type.type), name->text + FIELD_LENGTH);
    return rv_stats_types_add(day, &type);
}

/* ---- order ----------------------------------------------------------------------------------------------------- */

static int by_run_time(const void *a, const void *b)
{
    const reeve_type_stats *left = a, *right = b;
    double more = left->run.mean_ms * (double)left->run.count, less = right->run.mean_ms * (double)right->run.count;
    if ((left->type[0] == '\0') != (right->type[0] == '\0')) return left->type[0] == '\0' ? 1 : -1;
    if (more != less) return more > less ? -1 : 1;
    return strcmp(left->type, right->type);
}

void rv_stats_types_sort(reeve_day *day)
{
    if (day->type_count > 1) qsort(day->types, day->type_count, sizeof(*day->types), by_run_time);
}

#include "config/config_check.h"

#include <string.h>

#include "base/decimal.h"
#include "config/complain.h"
#include "config/config_read.h"

typedef struct checker {
    const char *file;
    rv_config_errors *errors;
} checker;

/* The text at an element of a list: its own, or that of its member of this name. Where a group is expected, a text
 * stands for one (rv_setting.short_name). */
static const config_setting_t *text_at(const config_setting_t *list, int index, const char *member)
{
    const config_setting_t *element = config_setting_get_elem(list, (unsigned)index);

    if (member != NULL && config_setting_is_group(element)) element = config_setting_get_member(element, member);
    return element != NULL && config_setting_type(element) == CONFIG_TYPE_STRING ? element : NULL;
}

static void check_unique(checker *in, const config_setting_t *list, const char *member)
{
    for (int i = 1; i < config_setting_length(list); i++) {
        const config_setting_t *later = text_at(list, i, member);

        for (int j = 0; later != NULL && j < i; j++) {
            const config_setting_t *earlier = text_at(list, j, member);
            const char *text = config_setting_get_string(later);

            if (earlier == NULL || strcmp(text, config_setting_get_string(earlier)) != 0) continue;
            rv_complain_at(in->errors, in->file, later, NULL, "\"%s\" stands at [%d] already (line %u)", text, j,
                           config_setting_source_line(earlier));
            break;
        }
    }
}

/* All unique rows below a group, and in the groups of its lists. */
static void check_names(checker *in, const config_setting_t *group, const rv_setting *parent)
{
    for (const rv_setting *row = rv_setting_next(parent, NULL); row != NULL; row = rv_setting_next(parent, row)) {
        const config_setting_t *list = config_setting_get_member(group, rv_setting_name(row));

        if (list == NULL || !rv_config_read_is_list(list)) continue;
        if (row->kind == RV_SETTING_NAMES && row->unique) check_unique(in, list, NULL);
        if (row->kind != RV_SETTING_GROUPS) continue;
        for (const rv_setting *below = rv_setting_next(row, NULL); below != NULL; below = rv_setting_next(row, below)) {
            if (below->kind == RV_SETTING_TEXT && below->unique) check_unique(in, list, rv_setting_name(below));
        }
        for (int i = 0; i < config_setting_length(list); i++) {
            const config_setting_t *element = config_setting_get_elem(list, (unsigned)i);
            if (config_setting_is_group(element)) check_names(in, element, row);
        }
    }
}

static void refuse_base(checker *in, const config_setting_t *at, const reeve_backoff *backoff)
{
    char base[RV_DECIMAL_TEXT], cap[RV_DECIMAL_TEXT];

    rv_decimal_write(base, (double)backoff->base_ms / 1000, 10);
    rv_decimal_write(cap, (double)backoff->cap_ms / 1000, 10);
    rv_complain_at(in->errors, in->file, at, "base", "expected at most cap (%s), got %s", cap, base);
}

static void check_backoff(checker *in, const config_setting_t *at, const reeve_backoff *backoff)
{
    bool lists = backoff->shape == REEVE_BACKOFF_LIST;

    if (at == NULL || !config_setting_is_group(at)) return;
    if (lists && config_setting_get_member(at, "list") == NULL)
        rv_complain_at(in->errors, in->file, at, "list", "missing; shape is \"list\"");
    if (!lists && backoff->list_ms[0] != 0)
        rv_complain_at(in->errors, in->file, config_setting_get_member(at, "list"), NULL, "only with shape = \"list\"");
    if (lists && (backoff->base_ms != 0 || backoff->cap_ms != 0))
        rv_complain_at(in->errors, in->file, at, backoff->base_ms != 0 ? "base" : "cap",
                       "not with shape = \"list\": the delays are those of the list");
    if (backoff->cap_ms != 0 && backoff->base_ms > backoff->cap_ms) refuse_base(in, at, backoff);
}

static const config_setting_t *backoff_at(const config_setting_t *root, const char *list, size_t index)
{
    const config_setting_t *element = config_setting_get_elem(config_setting_get_member(root, list), (unsigned)index);
    return config_setting_is_group(element) ? config_setting_get_member(element, "backoff") : NULL;
}

static void check_backoffs(checker *in, const config_setting_t *root, const rv_config *config)
{
    for (size_t i = 0; i < config->handler_count; i++)
        check_backoff(in, backoff_at(root, "handlers", i), &config->handlers[i].backoff);
    for (size_t i = 0; i < config->queue_count; i++)
        check_backoff(in, backoff_at(root, "queues", i), &config->queues[i].settings.backoff);
    for (size_t i = 0; i < config->cron_count; i++)
        check_backoff(in, backoff_at(root, "cron", i), &config->cron[i].backoff);
}

/* The value of the order, if it is valid. */
static const rv_choice *order_at(const config_setting_t *pool)
{
    const rv_setting *row = rv_setting_find(rv_setting_find(NULL, "pools"), "order");
    const config_setting_t *at = config_setting_get_member(pool, rv_setting_name(row));
    const char *name = at == NULL ? row->standard : config_setting_get_string(at);

    return name == NULL ? NULL : rv_setting_choice(row->choices, name);
}

static void check_weights(checker *in, const config_setting_t *root, const rv_config *config)
{
    const config_setting_t *list = config_setting_get_member(root, "pools");

    for (size_t i = 0; i < config->pool_count; i++) {
        const rv_config_pool *pool = &config->pools[i];
        const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);

        if (pool->weight_count == 0) continue;
        const config_setting_t *weights = config_setting_get_member(group, "weights");
        const rv_choice *order = order_at(group);
        if (order != NULL && order->value != REEVE_ORDER_WEIGHTED)
            rv_complain_at(in->errors, in->file, weights, NULL, "only with order = \"weighted\", here it is \"%s\"",
                           order->name);
        else if (pool->queue_count > 0 && pool->weight_count != pool->queue_count)
            rv_complain_at(in->errors, in->file, weights, NULL, "expected one for each of the %zu queues, got %zu",
                           pool->queue_count, pool->weight_count);
    }
}

static void check_threads(checker *in, const config_setting_t *root, const rv_config *config)
{
    const config_setting_t *list = config_setting_get_member(root, "pools");

    for (size_t i = 0; i < config->pool_count; i++) {
        const rv_config_pool *pool = &config->pools[i];
        if (pool->threads.max == 0 || pool->threads.min <= pool->threads.max) continue;
        rv_complain_at(
            in->errors, in->file, config_setting_get_member(config_setting_get_elem(list, (unsigned)i), "threads"),
            "min", "expected at most max (%lld), got %lld", (long long)pool->threads.max, (long long)pool->threads.min);
    }
}

/* Checks of an entry that no row can make. A row that was refused left no value. */
static void check_entry(checker *in, const config_setting_t *at, const rv_config_cron *cron)
{
    rv_config_entry made;
    char words[512] = "";

    for (size_t i = 0; i < cron->tag_count; i++) {
        if (cron->tags[i].text == NULL) return;
    }
    for (size_t i = 0; i < cron->limit_key_count; i++) {
        if (cron->limit_keys[i].text == NULL) return;
    }
    if (cron->name == NULL || cron->spec == NULL || cron->queue == NULL || cron->type == NULL) return;
    if (rv_config_entry_make(&made, cron) != REEVE_OK) return;
    made.task.backoff = NULL; /* it was looked at above */
    if (reeve_cron_check(&made.entry, words, sizeof(words)) != REEVE_OK)
        rv_complain_at(in->errors, in->file, at, NULL, "%s", words);
    rv_config_entry_fini(&made);
}

static bool is_same_entry(const rv_config_cron *one, const rv_config_cron *other)
{
    return one->name != NULL && other->name != NULL && strcmp(one->name, other->name) == 0;
}

/* A name is one entry, in whichever queue: a second one would take the first one's place. */
static void check_entries(checker *in, const config_setting_t *root, const rv_config *config)
{
    const config_setting_t *list = config_setting_get_member(root, "cron");

    for (size_t i = 0; i < config->cron_count; i++) {
        const config_setting_t *at = config_setting_get_elem(list, (unsigned)i);

        if (!config_setting_is_group(at)) continue;
        check_entry(in, at, &config->cron[i]);
        for (size_t j = 0; j < i; j++) {
            if (!is_same_entry(&config->cron[i], &config->cron[j])) continue;
            rv_complain_at(in->errors, in->file, at, "name", "\"%s\" stands at [%zu] already (%s)",
                           config->cron[i].name, j, config->cron[j].where);
            break;
        }
    }
}

/* Limits are of a type or of a limit key. */
static void check_limits(checker *in, const config_setting_t *root, const rv_config *config)
{
    const config_setting_t *list = config_setting_get_member(root, "limits");

    for (size_t i = 0; i < config->limit_count; i++) {
        const config_setting_t *at = config_setting_get_elem(list, (unsigned)i);

        if (!config_setting_is_group(at)) continue;
        if ((config_setting_get_member(at, "type") == NULL) == (config_setting_get_member(at, "key") == NULL))
            rv_complain_at(in->errors, in->file, at, NULL, "expected either type or key");
    }
}

void rv_config_check_run(const config_setting_t *root, const rv_config *config, rv_config_errors *errors)
{
    checker in = {config->file, errors};

    check_names(&in, root, NULL);
    check_backoffs(&in, root, config);
    check_weights(&in, root, config);
    check_threads(&in, root, config);
    check_entries(&in, root, config);
    check_limits(&in, root, config);
}

/*
 * client_check.c - checks the data of a queue, and repairs them: with check.lua and repair.lua.
 */
#include "reeve/check.h"

#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "client/client_partition.h"
#include "client/partition_left.h"
#include "client/partitions.h"
#include "client/spread.h"
#include "protocol/definition.h"
#include "protocol/scripts.h"

#define PASSES_MAX 4
#define TEXT_MAX 1024

/* The indexes of the members of a reply of check.lua. */
enum { CURSOR, SEEN, TOTAL, FIRST_FINDING };
enum { KIND, SUBJECT, DETAIL, FINDING_FIELDS };

typedef struct kind_text {
    const char *name, *what, *why, *repair;
} kind_text;

#define ROW(name, what, why, repair) {name, what, why, repair},
static const kind_text kinds[] = {RV_FINDINGS(ROW)};
#undef ROW

/* A finding, or with the kind "walk" a key to be walked through. */
typedef struct found {
    rv_buf text[FINDING_FIELDS];
} found;

typedef struct found_list {
    found *items;
    size_t count;
} found_list;

typedef struct checking {
    reeve_client *client;
    const char *queue;
    bool repair;
    void (*on_finding)(const reeve_finding *finding, void *context);
    bool (*on_progress)(uint64_t done, uint64_t total, void *context);
    void *context;
    reeve_checked checked;
    uint64_t seen, total; /* in this pass */
    bool stopped;
    found_list left; /* reported, and not repaired: a later pass finds them again */
} checking;

/* ---- lists ----------------------------------------------------------------------------------------------------- */

static void free_list(found_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        for (int field = 0; field < FINDING_FIELDS; field++) rv_buf_fini(&list->items[i].text[field]);
    rv_free(list->items);
    *list = (found_list){0};
}

static bool add(found_list *list, const reeve_bytes fields[FINDING_FIELDS])
{
    bool good = true;
    found *items = rv_realloc_array(list->items, list->count + 1, sizeof(*items));
    if (items == NULL) return false;
    list->items = items;
    found *item = &items[list->count++];
    for (int field = 0; field < FINDING_FIELDS; field++) {
        rv_buf_init(&item->text[field], 1u << 20);
        rv_buf_add(&item->text[field], fields[field].data, fields[field].length);
        good = good && !item->text[field].failed;
    }
    return good;
}

static const char *field_of(const found *item, int field)
{
    return rv_buf_text(&item->text[field]);
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

typedef struct script_call {
    const rv_script *script;
    rv_prefix prefix;
    const char *first;  /* or NULL */
    const found *item;  /* or NULL: its kind and subject follow */
    const char *second; /* or NULL: a kind and a subject follow */
    const char *third;
} script_call;

static void build(rv_conn *conn, bool again, const void *context)
{
    const script_call *call = context;
    (void)again;
    size_t count = (call->first != NULL ? 1u : 0u) + (call->item != NULL || call->second != NULL ? 2u : 0u);
    rv_cmd_script(conn, call->script, 1, count);
    rv_arg(conn, call->prefix.text, call->prefix.length);
    if (call->first != NULL) rv_args(conn, call->first);
    for (int field = KIND; call->item != NULL && field <= SUBJECT; field++)
        rv_arg(conn, field_of(call->item, field), call->item->text[field].length);
    if (call->second == NULL) return;
    rv_args(conn, call->second);
    rv_args(conn, call->third);
}

static reeve_status send(const checking *c, const rv_script *script, const char *first, const found *item,
                         const rv_reply **ret)
{
    script_call call = {.script = script, .first = first, .item = item};
    rv_keys_set_prefix(&call.prefix, c->client->ns, c->queue);
    return rv_client_call(c->client, build, &call, ret, NULL);
}

/* ---- findings -------------------------------------------------------------------------------------------------- */

static const kind_text *kind_of(const char *name)
{
    static const kind_text unknown = {"", "%s: %d", "unknown", "nothing"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return &unknown;
}

/* %s is the subject, %d what was found. */
static void fill_in(rv_buf *text, const char *pattern, const char *subject, const char *detail)
{
    for (const char *at = pattern; *at != '\0'; at++) {
        if (at[0] != '%') {
            rv_buf_add(text, at, 1);
            continue;
        }
        rv_buf_adds(text, *++at == 's' ? subject : detail);
    }
}

static reeve_status report(checking *c, const found *item, const char *detail, bool repaired)
{
    const kind_text *kind = kind_of(field_of(item, KIND));
    rv_buf text;
    rv_buf_init(&text, 4u << 20);
    fill_in(&text, kind->what, field_of(item, SUBJECT), detail);
    c->checked.findings++;
    c->checked.repaired += repaired;
    bool good = !text.failed;
    if (good && c->on_finding != NULL)
        c->on_finding(&(reeve_finding){.queue = c->queue,
                                       .kind = field_of(item, KIND),
                                       .subject = field_of(item, SUBJECT),
                                       .detail = detail,
                                       .text = rv_buf_text(&text),
                                       .why = kind->why,
                                       .repair = kind->repair,
                                       .repaired = repaired},
                      c->context);
    rv_buf_fini(&text);
    return good ? REEVE_OK : rv_fail(&c->client->error, REEVE_ENOMEM, "no memory for a finding");
}

/* Whether a finding that cannot be repaired was reported in an earlier pass. If not, it is noted. */
static bool is_known(checking *c, const found *item, bool *ret_failed)
{
    for (size_t i = 0; i < c->left.count; i++)
        if (strcmp(field_of(&c->left.items[i], KIND), field_of(item, KIND)) == 0 &&
            strcmp(field_of(&c->left.items[i], SUBJECT), field_of(item, SUBJECT)) == 0)
            return true;
    reeve_bytes fields[FINDING_FIELDS] = {{0}};
    for (int field = KIND; field <= SUBJECT; field++)
        fields[field] = (reeve_bytes){field_of(item, field), item->text[field].length};
    *ret_failed = !add(&c->left, fields);
    return false;
}

/* Looks at a finding once more, or repairs it. */
static reeve_status settle(checking *c, const found *item)
{
    const rv_reply *reply;
    reeve_status status =
        c->repair ? send(c, &rv_script_repair, NULL, item, &reply) : send(c, &rv_script_check, "again", item, &reply);
    if (status != REEVE_OK) return status;
    if (!c->repair) reply = rv_reply_at(reply, 0);
    if (!rv_reply_is(reply, RV_TEXT)) return rv_client_odd_reply(c->client, "check");
    if (strcmp(reply->text, "none") == 0) return REEVE_OK;
    const char *detail = strchr(reply->text, ' ');
    bool repaired = strncmp(reply->text, "repaired", 8) == 0, failed = false;
    if (c->repair && !repaired && is_known(c, item, &failed)) return REEVE_OK;
    char *copy = failed ? NULL : rv_strdup(detail != NULL ? detail + 1 : "");
    if (copy == NULL) return rv_fail(&c->client->error, REEVE_ENOMEM, "no memory for a finding");
    status = report(c, item, copy, repaired);
    rv_free(copy);
    return status;
}

/*
 * Whether the queue of a parent will tell a child of this queue, which waits for it, of its end. The subject of the
 * finding is "<queue>/<id of the parent> parents:<id of the child> <number>".
 */
static reeve_status ask_parent(checking *c, const found *item, bool *ret)
{
    const char *subject = field_of(item, SUBJECT), *slash = strchr(subject, '/');
    const char *middle = strstr(subject, " parents:"), *number = strrchr(subject, ' ');
    *ret = false;
    if (slash == NULL || middle == NULL || slash > middle || number <= middle ||
        !rv_valid_queue(subject, (size_t)(slash - subject)))
        return REEVE_OK;
    char queue[REEVE_QUEUE_MAX + 1];
    const char *child = middle + strlen(" parents:");
    rv_buf words;
    rv_buf_init(&words, 1u << 20);
    rv_buf_addf(&words, "%s/%.*s %.*s%s", c->queue, (int)(number - child), child, (int)(middle - slash) - 1, slash + 1,
                number);
    (void)snprintf(queue, sizeof(queue), "%.*s", (int)(slash - subject), subject);
    const rv_reply *reply;
    script_call call = {
        .script = &rv_script_check, .first = "again", .second = "edge_known", .third = rv_buf_text(&words)};
    rv_keys_set_prefix(&call.prefix, c->client->ns, queue);
    reeve_status status = rv_client_call(c->client, build, &call, &reply, NULL);
    if (status == REEVE_OK) *ret = !rv_reply_is_text(rv_reply_at(reply, 0), "none");
    rv_buf_fini(&words);
    return status;
}

/* Settles it, unless the queue of the parent knows of an edge between queues. That is asked first: a message about the
 * end of the parent may arrive in between, and then the finding is gone. */
static reeve_status settle_or_ask(checking *c, const found *item)
{
    bool known = false;
    reeve_status status = REEVE_OK;
    if (strcmp(field_of(item, KIND), "edge_far") == 0) status = ask_parent(c, item, &known);
    return status == REEVE_OK && !known ? settle(c, item) : status;
}

/* ---- going through the queue ------------------------------------------------------------------------------------- */

static reeve_status read_page(checking *c, const rv_reply *reply, rv_buf *cursor, found_list *list)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < FIRST_FINDING || !rv_reply_is(reply->items[CURSOR], RV_TEXT) ||
        (reply->count - FIRST_FINDING) % FINDING_FIELDS != 0)
        return rv_client_odd_reply(c->client, "check");
    c->seen += (uint64_t)rv_reply_int(reply->items[SEEN], 0);
    c->total += (uint64_t)rv_reply_int(reply->items[TOTAL], 0);
    rv_buf_clear(cursor);
    rv_buf_add(cursor, reply->items[CURSOR]->text, reply->items[CURSOR]->length);
    bool good = !cursor->failed;
    for (size_t i = FIRST_FINDING; good && i < reply->count; i += FINDING_FIELDS) {
        reeve_bytes fields[FINDING_FIELDS];
        for (size_t field = 0; field < FINDING_FIELDS; field++) {
            const rv_reply *text = reply->items[i + field];
            if (!rv_reply_is(text, RV_TEXT)) return rv_client_odd_reply(c->client, "check");
            fields[field] = (reeve_bytes){text->text, text->length};
        }
        good = add(list, fields);
    }
    return good ? REEVE_OK : rv_fail(&c->client->error, REEVE_ENOMEM, "no memory for findings");
}

static reeve_status walk(checking *c, const char *key);

static reeve_status settle_all(checking *c, const found_list *list)
{
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < list->count && status == REEVE_OK && !c->stopped; i++) {
        bool is_key = strcmp(field_of(&list->items[i], KIND), "walk") == 0;
        status = is_key ? walk(c, field_of(&list->items[i], SUBJECT)) : settle_or_ask(c, &list->items[i]);
    }
    return status;
}

/* From a cursor to the end. */
static reeve_status go_through(checking *c, rv_buf *cursor)
{
    reeve_status status = REEVE_OK;
    do {
        const rv_reply *reply;
        found_list list = {0};
        status = send(c, &rv_script_check, rv_buf_text(cursor), NULL, &reply);
        if (status == REEVE_OK) status = read_page(c, reply, cursor, &list);
        if (status == REEVE_OK) status = settle_all(c, &list);
        free_list(&list);
        if (status == REEVE_OK && c->on_progress != NULL && !c->on_progress(c->seen, c->total, c->context))
            c->stopped = true;
    } while (status == REEVE_OK && !c->stopped && rv_buf_text(cursor)[0] != '\0');
    return status;
}

static reeve_status go_from(checking *c, const char *start, const char *key)
{
    rv_buf cursor;
    rv_buf_init(&cursor, 1u << 20);
    rv_buf_adds(&cursor, start);
    rv_buf_adds(&cursor, key);
    reeve_status status =
        !cursor.failed ? go_through(c, &cursor) : rv_fail(&c->client->error, REEVE_ENOMEM, "no memory for a cursor");
    rv_buf_fini(&cursor);
    return status;
}

static reeve_status walk(checking *c, const char *key)
{
    return go_from(c, "walk 0 0 4 ", key);
}

/* ---- partitions ------------------------------------------------------------------------------------------------- */

static reeve_status report_partition(checking *c, unsigned number, bool repaired)
{
    char name[REEVE_QUEUE_MAX + 1];
    found_list list = {0};
    rv_partition_name(name, c->queue, number);
    const reeve_bytes fields[FINDING_FIELDS] = {{"partition_unserved", strlen("partition_unserved")},
                                                {name, strlen(name)}};
    reeve_status status = add(&list, fields) ? report(c, &list.items[0], "", repaired)
                                             : rv_fail(&c->client->error, REEVE_ENOMEM, "no memory for a finding");
    free_list(&list);
    return status;
}

/* Partitions that the queue no longer has, and that hold something: the calls that follow look at those that it has. */
static reeve_status check_partitions(checking *c)
{
    rv_partition_left left;
    bool changed = false;
    if (c->client->stand_in != NULL || !rv_partition_left_applies(c->queue)) return REEVE_OK;
    const rv_partition_layout *layout = rv_partitions_find(c->client, c->queue);
    reeve_status status = rv_partition_left_find(c->client, c->queue, layout != NULL ? layout->served : 1, &left);
    unsigned served = rv_partition_left_served(&left);
    if (status != REEVE_OK || served == 0) return status;
    if (c->repair) status = rv_client_partition_serve(c->client, c->queue, served, &changed);
    for (unsigned i = left.from; status == REEVE_OK && i < served; i++)
        if (left.holding >> i & 1) status = report_partition(c, i, c->repair);
    return status;
}

static reeve_status check_spread(reeve_client *client, rv_spread *spread, bool repair,
                                 void (*on_finding)(const reeve_finding *finding, void *context),
                                 bool (*on_progress)(uint64_t done, uint64_t total, void *context), void *context,
                                 reeve_checked *ret)
{
    reeve_checked sum = *ret, part;
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && rv_spread_next(spread)) {
        status = reeve_check(client, spread->name, repair, on_finding, on_progress, context, &part);
        if (status != REEVE_OK) return status;
        sum.elements += part.elements;
        sum.findings += part.findings;
        sum.repaired += part.repaired;
    }
    *ret = sum;
    return status;
}

reeve_status reeve_check(reeve_client *client, const char *queue, bool repair,
                         void (*on_finding)(const reeve_finding *finding, void *context),
                         bool (*on_progress)(uint64_t done, uint64_t total, void *context), void *context,
                         reeve_checked *ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status != REEVE_OK) return status;
    checking c = {.client = client,
                  .queue = queue,
                  .repair = repair,
                  .on_finding = on_finding,
                  .on_progress = on_progress,
                  .context = context};
    rv_spread spread;
    status = check_partitions(&c);
    if (status != REEVE_OK) return status;
    *ret = c.checked;
    if (rv_spread_begin(&spread, client, queue))
        return check_spread(client, &spread, repair, on_finding, on_progress, context, ret);
    uint64_t repaired = 1;
    for (int pass = 0; pass < PASSES_MAX && status == REEVE_OK && repaired > 0 && !c.stopped; pass++) {
        uint64_t before = c.checked.repaired;
        c.seen = c.total = 0;
        status = go_from(&c, "", "");
        c.checked.elements += c.seen;
        repaired = c.checked.repaired - before;
    }
    free_list(&c.left);
    if (status == REEVE_OK) *ret = c.checked;
    return status;
}

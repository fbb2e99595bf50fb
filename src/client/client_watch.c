/*
 * client_watch.c - the events of a queue, one task at a time.
 *
 * A connection of its own blocks on the stream. Where events are not kept, events.lua is asked every ten seconds to
 * have them for a minute more; whoever is gone leaves nothing on for longer. An entry of the stream may be about many
 * tasks: it is handed out as an event for each. What was read last is known, so that nothing is lost with a connection.
 */
#include "reeve/watch.h"

#include <stdio.h>
#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "client/spread.h"
#include "client/stand_in.h"
#include "client/watch_parts.h"
#include "protocol/scripts.h"

#define LISTEN_MS "60000"
#define RENEW_MS 10000
#define BLOCK_MS 5000 /* of one read: a connection whose other half is gone is noticed soon */
#define TRY_AGAIN_MS 200
#define PAGE "100"
#define ID_TEXT (REEVE_ID_MAX + 1)

struct reeve_watch {
    reeve_client *client;
    rv_conn *conn;
    char queue[REEVE_QUEUE_MAX + 1];
    char id[REEVE_ID_MAX];             /* "": all */
    char first[REEVE_EVENT_PLACE_MAX]; /* where the streams begin; "": behind what they have */
    rv_watch_parts parts;
    int64_t renew; /* when to ask for events again */
    rv_arena arena;
    const rv_reply *entries; /* of the stream, in the arena; NULL: none left */
    size_t entry;            /* the one at hand */
    const char *ids, *dues;  /* what is left of its lists; ids NULL: it is not begun */
    bool of_queue;           /* the entry at hand is of the queue, not of tasks */
    char one[ID_TEXT];
    reeve_event event;
};

/* ---- keeping --------------------------------------------------------------------------------------------------- */

static rv_watch_part *part_of(reeve_watch *watch)
{
    return &watch->parts.list[watch->parts.at];
}

/* The places of the reply of events.lua. */
enum { NOW, KEPT, LAST, COUNT, EVENTS_FIELDS };

static reeve_status check_events(reeve_client *client, const rv_reply *reply)
{
    if (rv_reply_is(reply, RV_ARRAY) && reply->count >= EVENTS_FIELDS && rv_reply_is(reply->items[LAST], RV_TEXT))
        return REEVE_OK;
    return rv_client_odd_reply(client, "events");
}

static reeve_status call_of(reeve_client *client, const rv_simple_call *call, const rv_reply **ret)
{
    reeve_status status = rv_client_script(client, call, ret, NULL);
    return status == REEVE_OK ? check_events(client, *ret) : status;
}

reeve_status reeve_events_keep(reeve_client *client, const char *queue, int64_t count)
{
    rv_spread spread;
    if (client == NULL) return REEVE_EINVAL;
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status != REEVE_OK) return status;
    if (count < 0 || count > REEVE_EVENTS_MAX) {
        return rv_fail(&client->error, REEVE_EINVAL, "%lld events: must be from 0 to %d", (long long)count,
                       REEVE_EVENTS_MAX);
    }
    char number[24];
    const rv_reply *reply;
    (void)snprintf(number, sizeof(number), "%lld", (long long)count);
    rv_simple_call call = {.script = &rv_script_events, .queue = queue, .args = {"keep", number}, .count = 2};
    if (!rv_spread_begin(&spread, client, queue)) return call_of(client, &call, &reply);
    while (status == REEVE_OK && rv_spread_next(&spread)) {
        call.queue = spread.name;
        status = call_of(client, &call, &reply);
    }
    return status;
}

reeve_status reeve_events_get(reeve_client *client, const char *queue, int64_t *ret_kept, uint64_t *ret_count)
{
    if (client == NULL) return REEVE_EINVAL;
    const rv_reply *reply;
    rv_spread spread;
    uint64_t count = 0;
    rv_simple_call call = {.script = &rv_script_events_look, .queue = queue};
    bool divided = rv_spread_begin(&spread, client, queue) && rv_spread_next(&spread);
    do {
        if (divided) call.queue = spread.name;
        reeve_status status = call_of(client, &call, &reply);
        if (status != REEVE_OK) return status;
        if (ret_kept != NULL) *ret_kept = rv_reply_within(reply->items[KEPT], 0, REEVE_EVENTS_MAX, 0);
        count += rv_reply_sum(reply->items[COUNT]);
    } while (divided && rv_spread_next(&spread));
    if (ret_count != NULL) *ret_count = count;
    return REEVE_OK;
}

/* ---- what an entry says ---------------------------------------------------------------------------------------- */

/* An entry is [place, [name, value, ...]]. The value of a name, or NULL. */
static const char *value_of(const rv_reply *entry, const char *name)
{
    const rv_reply *fields = rv_reply_at(entry, 1);
    for (size_t i = 0; rv_reply_is(fields, RV_ARRAY) && i + 1 < fields->count; i += 2) {
        if (rv_reply_is_text(fields->items[i], name)) return fields->items[i + 1]->text;
    }
    return NULL;
}

static int64_t number_of(const rv_reply *entry, const char *name)
{
    int64_t number = -1;
    const char *text = value_of(entry, name);
    if (text == NULL || !rv_parse_int(text, 0, INT64_MAX, &number)) return -1;
    return number;
}

/* Takes the next word of a list whose words are separated by blanks; false: there is none. */
static bool next_word(const char **list, char *ret, size_t size)
{
    if (*list == NULL || **list == '\0') return false;
    size_t length = strcspn(*list, " ");
    (void)snprintf(ret, size, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ' ');
    return true;
}

static void begin_entry(reeve_watch *watch, const rv_reply *entry)
{
    reeve_event *event = &watch->event;
    const rv_reply *place = rv_reply_at(entry, 0);
    const char *ids = value_of(entry, "id"), *priority = value_of(entry, "priority");
    int64_t number = 0;
    memset(event, 0, sizeof(*event));
    if (rv_reply_is(place, RV_TEXT)) rv_copy_text(event->place, sizeof(event->place), place->text);
    event->what = value_of(entry, "event");
    if (event->what == NULL) event->what = "unknown";
    event->session = value_of(entry, "session");
    event->worker = value_of(entry, "worker");
    event->kind = value_of(entry, "kind");
    event->message = value_of(entry, "message");
    event->delay_ms = number_of(entry, "delay");
    if (priority != NULL && rv_parse_int(priority, REEVE_PRIORITY_MIN, REEVE_PRIORITY_MAX, &number))
        event->priority = (int)number;
    const char *percent = value_of(entry, "percent");
    event->percent = percent != NULL && rv_parse_int(percent, 0, 100, &number) ? (int)number : -1;
    char at[REEVE_EVENT_PLACE_MAX];
    rv_copy_text(at, sizeof(at), event->place);
    at[strcspn(at, "-")] = '\0';
    if (!rv_parse_int(at, 0, INT64_MAX, &event->at_ms)) event->at_ms = -1;
    watch->ids = ids != NULL ? ids : "";
    watch->of_queue = ids != NULL && ids[0] == '\0';
    watch->dues = value_of(entry, "due");
}

/* The next task of the entries that were read; false: there is none. */
static bool next_event(reeve_watch *watch)
{
    char due[24];
    while (watch->entries != NULL) {
        if (watch->entry >= watch->entries->count) {
            watch->entries = NULL;
            break;
        }
        if (watch->ids == NULL) begin_entry(watch, watch->entries->items[watch->entry]);
        while (next_word(&watch->ids, watch->one, sizeof(watch->one))) {
            bool has_due = next_word(&watch->dues, due, sizeof(due));
            if (!has_due || !rv_parse_int(due, 0, INT64_MAX, &watch->event.due_ms)) watch->event.due_ms = -1;
            watch->event.id = watch->one;
            if (watch->id[0] == '\0' || strcmp(watch->id, watch->one) == 0) return true;
        }
        bool is_of_queue = watch->of_queue && watch->id[0] == '\0';
        rv_copy_text(part_of(watch)->last, REEVE_EVENT_PLACE_MAX, watch->event.place);
        watch->ids = NULL;
        watch->entry++;
        if (!is_of_queue) continue;
        bool has_due = next_word(&watch->dues, due, sizeof(due));
        if (!has_due || !rv_parse_int(due, 0, INT64_MAX, &watch->event.due_ms)) watch->event.due_ms = -1;
        watch->event.id = NULL;
        return true;
    }
    return false;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* A replica cannot note that a client watches: only events that the queue keeps can be watched there. */
static reeve_status ask_for_events(reeve_watch *watch, const char *queue, const rv_reply **ret)
{
    rv_simple_call listen = {.script = &rv_script_events, .queue = queue, .args = {"listen", LISTEN_MS}, .count = 2};
    rv_simple_call read = {.script = &rv_script_events_look, .queue = queue};
    bool reads = false;
    reeve_status status = rv_client_script_or_read(watch->client, &listen, &read, ret, &reads);
    if (status == REEVE_OK) status = check_events(watch->client, *ret);
    if (status != REEVE_OK || !reads || rv_reply_int((*ret)->items[KEPT], 0) > 0) return status;
    /* The master may be found meanwhile. */
    return call_of(watch->client, &listen, ret);
}

static reeve_status listen_to(reeve_watch *watch, rv_watch_part *part)
{
    const rv_reply *reply;
    reeve_status status = ask_for_events(watch, part->queue, &reply);
    if (status == REEVE_EREDIS && rv_client_was_put_off(watch->client)) return REEVE_ELOST;
    if (status != REEVE_OK) return status;
    if (part->last[0] == '\0') rv_copy_text(part->last, sizeof(part->last), reply->items[LAST]->text);
    /* Partitions that come later have had events since the last renewal, at most. */
    int64_t since = rv_reply_int(reply->items[NOW], 0) - REEVE_PARTITIONS_AGE_MS - RENEW_MS;
    (void)snprintf(watch->first, sizeof(watch->first), "%lld-0", (long long)(since > 0 ? since : 0));
    return REEVE_OK;
}

static reeve_status listen_on(reeve_watch *watch)
{
    reeve_status status = rv_watch_parts_renew(&watch->parts, watch->client, watch->queue, watch->first);
    for (size_t i = 0; status == REEVE_OK && i < watch->parts.count; i++)
        status = listen_to(watch, &watch->parts.list[i]);
    if (status == REEVE_OK) watch->renew = rv_deadline(RENEW_MS);
    return status;
}

/* The reply is nil, or [[key, [entry, ...]]]. */
static reeve_status take_entries(reeve_watch *watch, const rv_reply *reply)
{
    if (rv_reply_is(reply, RV_NIL)) {
        part_of(watch)->ready = false;
        return REEVE_ETIMEOUT;
    }
    const rv_reply *entries = rv_reply_at(rv_reply_at(reply, 0), 1);
    if (!rv_reply_is(entries, RV_ARRAY)) return rv_client_odd_reply(watch->client, "watch");
    rv_conn_take_reply(watch->conn, &watch->arena);
    watch->entries = entries;
    watch->entry = 0;
    watch->ids = NULL;
    return REEVE_OK;
}

/* One stream is read as it is waited for. *ret_taken: what became of the reply. */
static reeve_status read_part(reeve_watch *watch, int64_t block_ms, const rv_reply **ret, reeve_status *ret_taken)
{
    rv_watch_parts_build(watch->conn, part_of(watch), block_ms, PAGE);
    reeve_status status = rv_conn_call_blocking(watch->conn, rv_deadline(block_ms + watch->client->timeout_ms), ret);
    if (status == REEVE_OK) *ret_taken = take_entries(watch, *ret);
    return status;
}

/* Of several streams those are read that have something. */
static reeve_status read_parts(reeve_watch *watch, int64_t until, const rv_reply **ret, reeve_status *ret_taken)
{
    reeve_status status = REEVE_OK;
    bool some = rv_watch_parts_next(&watch->parts);
    if (!some) status = rv_watch_parts_wait(&watch->parts, watch->client, watch->conn, until, ret);
    if (status != REEVE_OK || (!some && !rv_watch_parts_next(&watch->parts))) return status;
    return read_part(watch, 0, ret, ret_taken);
}

/* Blocks until there is something, or until `until` (then REEVE_ETIMEOUT). */
static reeve_status read_some(reeve_watch *watch, int64_t until)
{
    reeve_client *client = watch->client;
    const rv_reply *reply = NULL;
    reeve_status taken = REEVE_ETIMEOUT, status = rv_conn_open(watch->conn, rv_deadline(client->timeout_ms));
    if (status == REEVE_OK) {
        int64_t now = rv_now_ms();
        status = watch->parts.count > 1 ? read_parts(watch, until, &reply, &taken)
                                        : read_part(watch, until > now ? until - now : 0, &reply, &taken);
    }
    if (status == REEVE_OK) return taken;
    client->error = *rv_conn_error(watch->conn);
    if (status == REEVE_EREDIS && rv_refusal_passes(rv_refusal_of(reply))) status = REEVE_ELOST;
    /* The command is still under way, or what became of it is not known: another connection asks anew. */
    rv_conn_close(watch->conn);
    rv_conn_discard(watch->conn);
    return status == REEVE_ETIMEOUT ? REEVE_ELOST : status;
}

static bool is_outage(reeve_status status)
{
    return status == REEVE_ECONNECT || status == REEVE_ELOST || status == REEVE_ETIMEOUT;
}

/* One step: renews the word, reads. REEVE_ETIMEOUT: nothing came, all is well. */
static reeve_status step(reeve_watch *watch, int64_t deadline)
{
    if (rv_client_check_process(watch->client) != REEVE_OK) return watch->client->error.status;
    reeve_status status = rv_now_ms() >= watch->renew ? listen_on(watch) : REEVE_OK;
    if (status != REEVE_OK) return status == REEVE_ETIMEOUT ? REEVE_ELOST : status;
    int64_t until = rv_deadline(BLOCK_MS);
    if (watch->renew < until) until = watch->renew;
    return read_some(watch, deadline < until ? deadline : until);
}

static reeve_status interrupted(reeve_client *client)
{
    rv_waker_silence(&client->waker);
    return rv_fail(&client->error, REEVE_EINTERRUPTED, "watching was interrupted");
}

static reeve_status next(reeve_watch *watch, int64_t deadline)
{
    reeve_client *client = watch->client;
    while (!next_event(watch)) {
        reeve_status status = step(watch, deadline);
        if (status == REEVE_EINTERRUPTED) return interrupted(client);
        if (status != REEVE_OK && !is_outage(status)) return status;
        if (status != REEVE_OK && rv_now_ms() >= deadline) {
            if (status != REEVE_ETIMEOUT) return status;
            return rv_fail(&client->error, status, "nothing happened in %s", watch->queue);
        }
        if (status == REEVE_OK || status == REEVE_ETIMEOUT) continue;
        watch->renew = 0; /* a server that lost its data has no events either */
        if (client->embedded != NULL) (void)rv_embedded_revive(client->embedded, rv_deadline(client->timeout_ms), NULL);
        if (rv_waker_wait(&client->waker, rv_deadline(TRY_AGAIN_MS))) return interrupted(client);
    }
    return REEVE_OK;
}

reeve_status reeve_watch_next(reeve_watch *watch, int64_t timeout_ms, const reeve_event **ret)
{
    if (watch == NULL || ret == NULL) return REEVE_EINVAL;
    rv_error_clear(&watch->client->error);
    watch->client->waiting = true;
    reeve_status status = next(watch, rv_deadline(timeout_ms));
    watch->client->waiting = false;
    if (status == REEVE_OK) *ret = &watch->event;
    return status;
}

/* ---- from beginning to end ------------------------------------------------------------------------------------- */

/* "<ms>-<number>" */
static bool is_place(const char *text)
{
    size_t ms = strspn(text, "0123456789");
    if (ms == 0 || ms > 20 || text[ms] != '-') return false;
    size_t number = strspn(text + ms + 1, "0123456789");
    return number > 0 && number <= 20 && text[ms + 1 + number] == '\0';
}

static reeve_status choose(reeve_watch *watch, const reeve_watch_options *options)
{
    rv_error *error = &watch->client->error;
    reeve_status status = rv_keys_check_queue(options->queue, error);
    if (status == REEVE_OK && options->id != NULL) status = rv_keys_check_id(options->id, error);
    if (status != REEVE_OK) return status;
    if (options->since_ms < 0) return rv_fail(error, REEVE_EINVAL, "a time before 1970");
    if (options->after != NULL && !is_place(options->after))
        return rv_fail(error, REEVE_EINVAL, "\"%.60s\" is no place of an event", options->after);
    rv_copy_text(watch->queue, sizeof(watch->queue), options->queue);
    if (options->id != NULL) rv_copy_text(watch->id, sizeof(watch->id), options->id);
    if (options->after != NULL && rv_partitions_find(watch->client, watch->queue) != NULL) {
        /* It is the place in one stream: the others begin with that millisecond, and this one, too. */
        int64_t ms;
        char text[REEVE_EVENT_PLACE_MAX];
        rv_copy_text(text, sizeof(text), options->after);
        text[strcspn(text, "-")] = '\0';
        if (!rv_parse_int(text, 0, INT64_MAX, &ms) || ms == 0) ms = 1;
        (void)snprintf(watch->first, sizeof(watch->first), "%lld-18446744073709551615", (long long)ms - 1);
    } else if (options->after != NULL) {
        rv_copy_text(watch->first, sizeof(watch->first), options->after);
    } else if (options->since_ms > 0) {
        (void)snprintf(watch->first, sizeof(watch->first), "%lld-18446744073709551615",
                       (long long)options->since_ms - 1);
    }
    return REEVE_OK;
}

static reeve_status listen_first(reeve_watch *watch)
{
    rv_error *error = &watch->client->error;
    reeve_status status = listen_on(watch);
    if (status != REEVE_ELOST || error->status != REEVE_EREDIS) return status;
    if (!watch->client->on_replica) return REEVE_EREDIS;
    return rv_fail(error, REEVE_EREDIS, "%s, or the queue has to keep events", error->text);
}

static reeve_status begin(reeve_watch *watch, const reeve_watch_options *options)
{
    reeve_client *client = watch->client;
    reeve_status status = choose(watch, options);
    if (status != REEVE_OK) return status;
    rv_conn_options conn = {
        .url = &client->url, .name = client->name, .waker = &client->waker, .command_ms = client->timeout_ms};
    status = rv_conn_create(&watch->conn, &conn, &client->error);
    return status == REEVE_OK ? listen_first(watch) : status;
}

reeve_status reeve_watch_open_sized(reeve_watch **ret, reeve_client *client, const reeve_watch_options *given,
                                    size_t options_size)
{
    reeve_watch_options options;
    if (ret == NULL || client == NULL || given == NULL) return REEVE_EINVAL;
    *ret = NULL;
    rv_error_clear(&client->error);
    reeve_status status = RV_LAYOUT_READ(&options, given, options_size, "the watch's options", &client->error);
    if (status != REEVE_OK) return status;
    if (client->stand_in != NULL) return rv_stand_in_refuse(client);
    reeve_watch *watch = rv_zalloc(sizeof(*watch));
    if (watch == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a watch");
    watch->client = client;
    rv_arena_init(&watch->arena);
    status = begin(watch, &options);
    if (status != REEVE_OK) {
        reeve_watch_close(watch);
        return status;
    }
    *ret = watch;
    return REEVE_OK;
}

void reeve_watch_close(reeve_watch *watch)
{
    if (watch == NULL) return;
    rv_conn_destroy(watch->conn);
    rv_watch_parts_fini(&watch->parts);
    rv_arena_fini(&watch->arena);
    rv_free(watch);
}

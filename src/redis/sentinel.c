#include "redis/sentinel.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "redis/sentinel_ask.h"

#define ANSWER_MS 500 /* for one Sentinel, to connect and to answer */
#define LEARNT_MAX 32 /* Sentinels besides those of the URL */

typedef struct sentinel {
    rv_topology topology;
    pthread_mutex_t lock; /* guards all below; not held over I/O */
    rv_sentinel_place *places;
    size_t count, room;
    rv_sentinel_place told;   /* the master, as the first of the places named it; port 0: nobody, or it was wrong */
    rv_sentinel_place master; /* that connections are to; port 0: none yet */
} sentinel;

static bool is_same(const rv_sentinel_place *place, const char *host, int port)
{
    return place->port == port && strcmp(place->host, host) == 0;
}

static void set_place(rv_sentinel_place *ret, const char *host, int port)
{
    rv_copy_text(ret->host, sizeof(ret->host), host);
    ret->port = port;
    ret->given = false;
}

static size_t find(const sentinel *s, const char *host, int port)
{
    size_t i = 0;
    while (i < s->count && !is_same(&s->places[i], host, port)) i++;
    return i;
}

/* ---- the list of Sentinels ------------------------------------------------------------------------------------- */

/* Moves the place at `from` to the front, or the first one to the end; the others keep their order. */
static void put_first(sentinel *s, size_t from)
{
    rv_sentinel_place moved = s->places[from];
    memmove(&s->places[1], &s->places[0], from * sizeof(moved));
    s->places[0] = moved;
}

static void put_last(sentinel *s)
{
    rv_sentinel_place moved = s->places[0];
    memmove(&s->places[0], &s->places[1], (s->count - 1) * sizeof(moved));
    s->places[s->count - 1] = moved;
}

static const rv_reply *field(const rv_reply *fields, const char *name)
{
    for (size_t i = 0; rv_reply_at(fields, i + 1) != NULL; i += 2)
        if (rv_reply_is_text(rv_reply_at(fields, i), name)) return rv_reply_at(fields, i + 1);
    return NULL;
}

/* What a Sentinel says of another one. False: it is of no use. */
static bool read_other(const rv_reply *fields, rv_sentinel_place *ret)
{
    const rv_reply *host = field(fields, "ip");
    int64_t port = rv_reply_within(field(fields, "port"), 1, 65535, 0);
    if (!rv_reply_is(host, RV_TEXT) || host->length == 0 || host->length >= sizeof(ret->host) || port == 0)
        return false;
    set_place(ret, host->text, (int)port);
    return true;
}

static bool is_named(const rv_reply *others, const rv_sentinel_place *place)
{
    rv_sentinel_place other;
    for (size_t i = 0; rv_reply_at(others, i) != NULL; i++)
        if (read_other(rv_reply_at(others, i), &other) && is_same(place, other.host, other.port)) return true;
    return false;
}

typedef struct answer {
    sentinel *s;
    const rv_sentinel_place *from; /* the Sentinel that answered */
} answer;

/* The one that answered goes first. Those that were learnt and that it does not know have gone. */
static void learn(const rv_reply *others, void *context)
{
    const answer *got = context;
    sentinel *s = got->s;
    rv_lock(&s->lock);
    size_t at = find(s, got->from->host, got->from->port), kept = 0;
    if (at < s->count) put_first(s, at);
    for (size_t i = 0; i < s->count && rv_reply_is(others, RV_ARRAY); i++) {
        const rv_sentinel_place *place = &s->places[i];
        bool stays = place->given || is_same(place, got->from->host, got->from->port) || is_named(others, place);
        if (stays) s->places[kept++] = *place;
    }
    if (rv_reply_is(others, RV_ARRAY)) s->count = kept;
    for (size_t i = 0; rv_reply_at(others, i) != NULL && s->count < s->room; i++) {
        rv_sentinel_place other;
        if (read_other(rv_reply_at(others, i), &other) && find(s, other.host, other.port) == s->count)
            s->places[s->count++] = other;
    }
    rv_unlock(&s->lock);
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

void rv_sentinel_address(const rv_url *url, const rv_sentinel_place *place, rv_address *ret)
{
    bool tls = url->is_tls && !url->sentinel_plain;
    *ret = (rv_address){.port = place->port, .tls = tls ? url->tls : NULL, .secret = tls};
    rv_copy_text(ret->host, sizeof(ret->host), place->host);
}

void rv_sentinel_first(rv_topology *topology, rv_sentinel_place *ret)
{
    sentinel *s = (sentinel *)topology;
    rv_lock(&s->lock);
    *ret = s->places[0];
    rv_unlock(&s->lock);
}

/* What became of the questions so far. */
typedef struct round {
    size_t asked, answered;
    rv_sentinel_outcome outcome; /* the most telling one, */
    rv_error reason;             /* and its words, with the Sentinel's address */
} round;

static void note_outcome(round *r, const rv_sentinel_place *place, rv_sentinel_outcome outcome, const rv_error *error)
{
    r->asked++;
    if (outcome != RV_SENTINEL_UNREACHED) r->answered++;
    if (r->asked > 1 && outcome <= r->outcome) return;
    r->outcome = outcome;
    (void)rv_fail(&r->reason, error->status, "%s port %d: %s", place->host, place->port, error->text);
}

static void note_told(sentinel *s, const rv_sentinel_question *question)
{
    rv_lock(&s->lock);
    set_place(&s->told, question->host, question->port);
    rv_unlock(&s->lock);
}

static rv_sentinel_outcome ask_one(sentinel *s, const rv_url *url, const rv_topology_ask *ask,
                                   const rv_sentinel_place *place, rv_address *ret, rv_error *error)
{
    rv_dialog dialog;
    int64_t until = rv_deadline(ANSWER_MS);
    answer got = {.s = s, .from = place};
    rv_sentinel_question question = {.url = url,
                                     .deadline = until < ask->deadline ? until : ask->deadline,
                                     .waker = ask->waker,
                                     .on_others = learn,
                                     .context = &got};
    rv_sentinel_address(url, place, &question.at);
    rv_dialog_init(&dialog, ask->quit);
    rv_sentinel_outcome outcome = rv_sentinel_ask(&dialog, &question, error);
    rv_dialog_fini(&dialog);
    if (outcome != RV_SENTINEL_ANSWERED) return outcome;
    note_told(s, &question);
    *ret = (rv_address){.port = question.port,
                        .tls = url->tls,
                        .secret = url->is_tls,
                        .generation = atomic_load(&s->topology.generation)};
    rv_copy_text(ret->host, sizeof(ret->host), question.host);
    return outcome;
}

static reeve_status no_answer(const rv_url *url, const round *r, rv_error *error)
{
    if (r->outcome == RV_SENTINEL_UNKNOWN)
        return rv_fail(error, REEVE_ECONNECT,
                       "no Sentinel knows a master named \"%s\" (%zu of %zu Sentinels answered): see SENTINEL MASTERS",
                       url->master, r->answered, r->asked);
    if (r->outcome == RV_SENTINEL_REFUSED)
        return rv_fail(error, REEVE_ECONNECT, "no Sentinel tells the master: %s", r->reason.text);
    return rv_fail(error, REEVE_ECONNECT, "no Sentinel can be reached (tried %zu; %s)", r->asked, r->reason.text);
}

static reeve_status ask_all(sentinel *s, const rv_url *url, const rv_topology_ask *ask, const rv_sentinel_place *places,
                            size_t count, rv_address *ret, rv_error *error)
{
    round r = {0};
    for (size_t i = 0; i < count && (i == 0 || rv_now_ms() < ask->deadline); i++) {
        rv_error reason = {0};
        rv_sentinel_outcome outcome = ask_one(s, url, ask, &places[i], ret, &reason);
        if (outcome == RV_SENTINEL_ANSWERED) return REEVE_OK;
        if (reason.status == REEVE_EINTERRUPTED || reason.status == REEVE_ENOMEM)
            return rv_fail(error, reason.status, "%s", reason.text);
        note_outcome(&r, &places[i], outcome, &reason);
    }
    return no_answer(url, &r, error);
}

static reeve_status resolve(rv_topology *topology, const rv_url *url, const rv_topology_ask *ask, rv_address *ret,
                            rv_error *error)
{
    sentinel *s = (sentinel *)topology;
    rv_sentinel_place *places = rv_zalloc_array(s->room, sizeof(*places));
    if (places == NULL) return rv_fail(error, REEVE_ENOMEM, "out of memory for asking Sentinel");
    rv_lock(&s->lock);
    size_t count = s->count;
    memcpy(places, s->places, count * sizeof(*places));
    rv_unlock(&s->lock);
    reeve_status status = ask_all(s, url, ask, places, count, ret, error);
    rv_free(places);
    return status;
}

/* ---- what became of it ----------------------------------------------------------------------------------------- */

/* The Sentinel that named a server that is not the master is asked last the next time: it may be cut off. */
static bool failed(rv_topology *topology, const rv_address *address)
{
    sentinel *s = (sentinel *)topology;
    rv_lock(&s->lock);
    if (is_same(&s->told, address->host, address->port)) {
        put_last(s);
        s->told.port = 0;
    }
    rv_unlock(&s->lock);
    return true;
}

/* Connections go to another server than before: all are opened anew. With the lock held. */
static bool change_master(sentinel *s, const char *host, int port)
{
    if (is_same(&s->master, host, port)) return false;
    bool moved = s->master.port != 0;
    set_place(&s->master, host, port);
    if (moved) atomic_fetch_add(&s->topology.generation, 1);
    return moved;
}

static void log_moved(const rv_url *url, const char *host, int port)
{
    char place[RV_HOST_SIZE + 16];
    (void)snprintf(place, sizeof(place), "%s:%d", host, port);
    rv_log(REEVE_LOG_INFO, "redis.moved", "Sentinel names another master: all connections are opened anew", "url",
           url->redacted, "master", place, NULL);
}

static void opened(rv_topology *topology, const rv_url *url, rv_address *address)
{
    sentinel *s = (sentinel *)topology;
    rv_lock(&s->lock);
    bool moved = change_master(s, address->host, address->port);
    address->generation = atomic_load(&s->topology.generation);
    rv_unlock(&s->lock);
    if (moved) log_moved(url, address->host, address->port);
}

bool rv_sentinel_note_master(rv_topology *topology, const rv_url *url, const char *host, int port)
{
    sentinel *s = (sentinel *)topology;
    rv_lock(&s->lock);
    bool moved = change_master(s, host, port);
    rv_unlock(&s->lock);
    if (moved) log_moved(url, host, port);
    return moved;
}

/* "h1:p1, h2:p2" */
static void write_servers(rv_topology *topology, rv_buf *out)
{
    sentinel *s = (sentinel *)topology;
    rv_lock(&s->lock);
    for (size_t i = 0; i < s->count; i++) {
        bool is_six = strchr(s->places[i].host, ':') != NULL;
        rv_buf_addf(out, is_six ? "%s[%s]:%d" : "%s%s:%d", i > 0 ? ", " : "", s->places[i].host, s->places[i].port);
    }
    rv_unlock(&s->lock);
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static void destroy(rv_topology *topology)
{
    sentinel *s = (sentinel *)topology;
    rv_lock_fini(&s->lock);
    rv_free(s->places);
    rv_free(s);
}

static const rv_topology_ops ops = {
    .resolve = resolve, .failed = failed, .opened = opened, .write_servers = write_servers, .destroy = destroy};

reeve_status rv_sentinel_create(rv_topology **ret, const rv_url *url, rv_error *error)
{
    sentinel *s = rv_zalloc(sizeof(*s));
    size_t room = url->endpoint_count + LEARNT_MAX;
    if (s != NULL) s->places = rv_zalloc_array(room, sizeof(*s->places));
    if (s == NULL || s->places == NULL) {
        rv_free(s);
        return rv_fail(error, REEVE_ENOMEM, "out of memory for the addresses of Sentinels");
    }
    s->topology.ops = &ops;
    s->room = room;
    atomic_init(&s->topology.generation, 0);
    rv_lock_init(&s->lock);
    for (size_t i = 0; i < url->endpoint_count; i++) {
        if (find(s, url->endpoints[i].host, url->endpoints[i].port) < s->count) continue;
        set_place(&s->places[s->count], url->endpoints[i].host, url->endpoints[i].port);
        s->places[s->count++].given = true;
    }
    *ret = &s->topology;
    return REEVE_OK;
}

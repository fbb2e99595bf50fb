#include "protocol/turn_call.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "protocol/scripts.h"

/* With nothing to say but that it is done, and perhaps a result. */
static bool is_plain(const rv_settlement *s)
{
    return s->outcome == REEVE_OUTCOME_DONE && !s->has_info && !s->unique && !s->deadline && !s->records_run &&
           s->hand_count == 0;
}

static size_t count_hands(const rv_turn_group *group)
{
    size_t hands = 0;
    for (size_t i = 0; i < group->count; i++) hands += group->items[i]->hand_count;
    return hands;
}

/* Small results of several tasks are one argument together. */
#define BUNDLE_LEAST 4
#define BUNDLED_MAX 256 /* bytes of each */

typedef struct plain_part {
    size_t count;   /* of plain completions */
    size_t results; /* so many of them have one */
    bool bundle;
} plain_part;

static plain_part plain_of(const rv_turn_group *group)
{
    plain_part plain = {0};
    bool small = true;
    for (size_t i = 0; i < group->count; i++) {
        const rv_settlement *s = group->items[i];
        if (!is_plain(s)) continue;
        plain.count++;
        if (!s->has_result) continue;
        plain.results++;
        small = small && s->result.length <= BUNDLED_MAX;
    }
    plain.bundle = small && plain.results >= BUNDLE_LEAST;
    return plain;
}

/* Of what says the results: a word, how many, and all of them. */
static size_t count_result_args(const plain_part *plain)
{
    return plain->results == 0 ? 0 : plain->bundle ? 3 : 2 + plain->results;
}

/* What a completion must look after. */
static void add_letters(rv_conn *conn, const rv_settlement *s)
{
    char letters[6] = "";
    if (s->has_info || s->records_run) strcat(letters, "i");
    if (s->unique) strcat(letters, s->keeps_key ? "k" : "1");
    if (s->checkpoint) strcat(letters, "c");
    if (s->deadline) strcat(letters, "d");
    if (s->records_run) strcat(letters, "r");
    rv_args(conn, letters);
}

#define RECORD_ARGS 5

/* ---- tasks handed on: each is three arguments, behind their lengths -------------------------------------------- */

#define HAND_ARGS 3

static void write_argument(rv_buf *out, const void *data, size_t length)
{
    rv_buf_add(out, &length, sizeof(length));
    rv_buf_add(out, data, length);
}

/* Its length is put in afterwards. */
static void end_argument(rv_buf *out, size_t start)
{
    size_t length = out->length - start - sizeof(length);
    if (!out->failed) memcpy(out->data + start, &length, sizeof(length));
}

void rv_hand_write(rv_buf *out, const reeve_task_spec *spec, const char *id)
{
    static const size_t unknown = 0;
    char handle[REEVE_HANDLE_MAX];
    int length = snprintf(handle, sizeof(handle), "%s/%s", spec->queue, id);
    write_argument(out, handle, length > 0 ? (size_t)length : 0);
    size_t start = out->length;
    rv_buf_add(out, &unknown, sizeof(unknown));
    rv_enqueue_options_write(out, spec);
    end_argument(out, start);
    start = out->length;
    rv_buf_add(out, &unknown, sizeof(unknown));
    rv_envelope_write(out, spec);
    end_argument(out, start);
}

static void build_hands(rv_conn *conn, const rv_settlement *s)
{
    const char *at = s->hands.data;
    for (size_t i = 0; i < HAND_ARGS * s->hand_count; i++) {
        size_t length;
        memcpy(&length, at, sizeof(length));
        at += sizeof(length);
        if (i % HAND_ARGS == 0) {
            rv_args(conn, "hand");
            rv_args(conn, s->id);
        }
        rv_arg(conn, at, length);
        at += length;
    }
}

static void build_record(rv_conn *conn, const rv_settlement *s)
{
    switch (s->outcome) {
    case REEVE_OUTCOME_DONE:
        build_hands(conn, s);
        rv_args(conn, "done");
        rv_args(conn, s->id);
        rv_arg(conn, s->result.data, s->has_result ? s->result.length : 0);
        rv_args(conn, s->has_result ? "1" : "0");
        add_letters(conn, s);
        break;
    case REEVE_OUTCOME_RETRY:
        rv_args(conn, "retry");
        rv_args(conn, s->id);
        rv_argi(conn, s->delay_ms);
        rv_args(conn, s->kind);
        rv_args(conn, s->message);
        break;
    case REEVE_OUTCOME_SNOOZE:
        rv_args(conn, "snooze");
        rv_args(conn, s->id);
        rv_argi(conn, s->delay_ms);
        rv_args(conn, s->begun ? "1" : "");
        rv_args(conn, "");
        break;
    case REEVE_OUTCOME_NONE:
    case REEVE_OUTCOME_FAIL:
        rv_args(conn, "fail");
        rv_arg(conn, s->id, s->id_length > 0 ? s->id_length : strlen(s->id));
        rv_args(conn, s->counts ? "1" : "0");
        rv_args(conn, s->kind);
        rv_args(conn, s->message);
        break;
    }
}

/* The place of a group's queue among KEYS, from 1; groups that lease nothing stand behind the leased queues. */
static size_t key_of_group(const rv_turn *turn, size_t group)
{
    for (size_t i = 0; i < turn->queue_count; i++) {
        if (turn->queues[i].prefix == turn->groups[group].prefix) return i + 1;
    }
    size_t extra = turn->queue_count;
    for (size_t i = 0; i <= group; i++) {
        bool leased = false;
        for (size_t j = 0; j < turn->queue_count && !leased; j++)
            leased = turn->queues[j].prefix == turn->groups[i].prefix;
        extra += !leased;
    }
    return extra;
}

static void build_plain(rv_conn *conn, const rv_turn_group *group, bool with_result)
{
    for (size_t i = 0; i < group->count; i++) {
        const rv_settlement *s = group->items[i];
        if (is_plain(s) && s->has_result == with_result) rv_args(conn, s->id);
    }
}

/* What stands between an id and its result, " <bytes>\n"; returns how long it is. */
static size_t write_length(char text[8], size_t length)
{
    size_t end = 0;
    text[end++] = ' ';
    if (length >= 100) text[end++] = (char)('0' + length / 100);
    if (length >= 10) text[end++] = (char)('0' + length / 10 % 10);
    text[end++] = (char)('0' + length % 10);
    text[end++] = '\n';
    return end;
}

/* For each, what says it, "<id> <bytes>\n", and the bytes. */
static void build_bundle(rv_conn *conn, const rv_turn_group *group)
{
    size_t bytes = 0;
    char between[8];
    for (size_t i = 0; i < group->count; i++) {
        const rv_settlement *s = group->items[i];
        if (!is_plain(s) || !s->has_result) continue;
        bytes += strlen(s->id) + write_length(between, s->result.length) + s->result.length;
    }
    rv_arg_parts(conn, bytes);
    for (size_t i = 0; i < group->count; i++) {
        const rv_settlement *s = group->items[i];
        if (!is_plain(s) || !s->has_result) continue;
        rv_arg_part(conn, s->id, strlen(s->id));
        rv_arg_part(conn, between, write_length(between, s->result.length));
        rv_arg_part(conn, s->result.data, s->result.length);
    }
}

/* Of the last of the plain completions, in their order. */
static void build_results(rv_conn *conn, const rv_turn_group *group, const plain_part *plain)
{
    rv_args(conn, plain->bundle ? "bundle" : "results");
    rv_argi(conn, (int64_t)plain->results);
    if (plain->bundle) {
        build_bundle(conn, group);
        return;
    }
    for (size_t i = 0; i < group->count; i++) {
        const rv_settlement *s = group->items[i];
        if (is_plain(s) && s->has_result) rv_arg(conn, s->result.data, s->result.length);
    }
}

static void build_group(rv_conn *conn, const rv_turn *turn, size_t index)
{
    const rv_turn_group *group = &turn->groups[index];
    const plain_part plain = plain_of(group);
    rv_argi(conn, (int64_t)key_of_group(turn, index));
    rv_args(conn, group->session);
    rv_args(conn, group->lease != NULL ? group->lease : "");
    rv_argi(conn, (int64_t)plain.count);
    if (plain.count > plain.results) build_plain(conn, group, false);
    if (plain.results > 0) build_plain(conn, group, true);
    rv_argi(conn, (int64_t)(group->count - plain.count + count_hands(group) + (plain.results > 0)));
    if (plain.results > 0) build_results(conn, group, &plain);
    for (size_t i = 0; i < group->count; i++) {
        if (!is_plain(group->items[i])) build_record(conn, group->items[i]);
    }
}

void rv_turn_build(rv_conn *conn, const rv_turn *turn)
{
    static const char *const hands[] = {"", "idle", "again", "woken"};
    size_t args = 5 + 2 * turn->queue_count, keys = turn->queue_count;
    for (size_t i = 0; i < turn->group_count; i++) {
        const plain_part plain = plain_of(&turn->groups[i]);
        args += 5 + plain.count + count_result_args(&plain) +
                RECORD_ARGS * (turn->groups[i].count - plain.count + count_hands(&turn->groups[i]));
        if (key_of_group(turn, i) > turn->queue_count) keys++;
    }
    rv_cmd_script(conn, &rv_script_turn, keys, args);
    for (size_t i = 0; i < turn->queue_count; i++)
        rv_arg(conn, turn->queues[i].prefix->text, turn->queues[i].prefix->length);
    for (size_t i = 0; i < turn->group_count; i++) {
        const rv_prefix *prefix = turn->groups[i].prefix;
        if (key_of_group(turn, i) > turn->queue_count) rv_arg(conn, prefix->text, prefix->length);
    }
    rv_args(conn, turn->thread);
    rv_argi(conn, turn->want);
    rv_argi(conn, turn->session_ms);
    rv_argi(conn, (int64_t)turn->queue_count);
    rv_args(conn, hands[turn->hand]);
    for (size_t i = 0; i < turn->queue_count; i++) {
        rv_args(conn, turn->queues[i].session);
        rv_args(conn, turn->queues[i].join);
    }
    for (size_t i = 0; i < turn->group_count; i++) build_group(conn, turn, i);
}

/* -1: it is none. */
static int64_t time_of(const rv_reply *reply)
{
    return rv_reply_within(reply, 0, RV_REPLY_NUMBER_MAX, -1);
}

/* The time that a text begins with, up to a blank; -1: there is none. */
static int64_t time_before_blank(const char *text, size_t length)
{
    char figures[24];
    int64_t time;
    const char *blank = memchr(text, ' ', length);
    if (blank == NULL || (size_t)(blank - text) >= sizeof(figures)) return -1;
    memcpy(figures, text, (size_t)(blank - text));
    figures[blank - text] = '\0';
    return rv_parse_int(figures, 0, RV_REPLY_NUMBER_MAX, &time) ? time : -1;
}

bool rv_turn_read(rv_turn_reply *ret, const rv_reply *reply)
{
    static const rv_reply nothing = {.type = RV_ARRAY};
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count == 0) return false;
    ret->flat = reply->count == 1 || rv_reply_is(reply->items[1], RV_TEXT);
    ret->whole = reply;
    if (ret->flat) {
        ret->refused = ret->gone = ret->extras = &nothing;
        ret->now_ms = time_of(reply->items[reply->count - 1]);
        return ret->now_ms >= 0;
    }
    if (reply->count < 4) return false;
    ret->now_ms = time_of(reply->items[0]);
    ret->refused = reply->items[1];
    ret->gone = reply->items[2];
    ret->extras = reply->items[3];
    return ret->now_ms >= 0 && rv_reply_is(ret->refused, RV_ARRAY) && rv_reply_is(ret->gone, RV_ARRAY) &&
           rv_reply_is(ret->extras, RV_ARRAY);
}

const char *rv_turn_refused(const rv_reply *element, size_t groups, size_t *ret_group)
{
    if (!rv_reply_is(element, RV_TEXT)) return NULL;
    const char *blank = memchr(element->text, ' ', element->length);
    int64_t group = blank == NULL ? 1 : time_before_blank(element->text, element->length);
    if (group < 1 || (uint64_t)group > groups) return NULL;
    *ret_group = (size_t)group - 1;
    return blank == NULL ? element->text : blank + 1;
}

/* What a marked task has to tell; extras come in the order of the leases. */
static void read_extra(rv_lease *lease, const rv_reply *extras, size_t *next)
{
    for (; *next < extras->count; (*next)++) {
        const rv_reply *extra = extras->items[*next];
        if (!rv_reply_is_text(rv_reply_at(extra, 0), lease->id)) continue;
        lease->failures = rv_reply_count(rv_reply_at(extra, 1));
        lease->crashes = rv_reply_count(rv_reply_at(extra, 2));
        lease->has_info = true;
        const rv_reply *letters = rv_reply_at(extra, 3);
        lease->has_checkpoint = rv_reply_is(letters, RV_TEXT) && strchr(letters->text, 'c') != NULL;
        lease->crashed_alone = rv_reply_is(letters, RV_TEXT) && strchr(letters->text, 'a') != NULL;
        (*next)++;
        return;
    }
}

/* Whether an id can be told from what stands around it where ids are listed. (Not all of the alphabet is looked at, for
 * each task.) */
static bool is_harmless(const char *id, size_t length)
{
    const uint64_t each = UINT64_MAX / 255, high = each << 7;
    uint64_t word, odd = 0;
    if (length == 0 || length > REEVE_ID_LENGTH_MAX) return false;
    /* Eight bytes at once: the high bit of each says whether it is below '!', or beyond ASCII. What is left at the end
     * is looked at together with bytes before it. */
    for (size_t i = 0; i + sizeof(word) <= length; i += sizeof(word)) {
        memcpy(&word, id + i, sizeof(word));
        odd |= (word - each * '!') | word;
    }
    if (length >= sizeof(word)) {
        memcpy(&word, id + length - sizeof(word), sizeof(word));
    } else {
        word = each * '!';
        memcpy(&word, id, length);
    }
    odd |= (word - each * '!') | word;
    return (odd & high) == 0;
}

static void judge_id(rv_lease *lease, size_t length)
{
    if (is_harmless(lease->id, length)) return;
    lease->id_length = length;
    lease->envelope.malformed = "its id does not have 1 to 100 of the characters A-Z a-z 0-9 . _ - :";
}

static bool read_lease(rv_lease *ret, size_t queue, const rv_reply *id, const rv_reply *envelope)
{
    memset(ret, 0, sizeof(*ret));
    if (!rv_reply_is(id, RV_TEXT) || !rv_reply_is(envelope, RV_TEXT)) return false;
    ret->queue = queue;
    ret->id = id->text;
    rv_envelope_take(&ret->envelope, envelope->text, envelope->length);
    judge_id(ret, id->length);
    return true;
}

bool rv_turn_is_idle(const rv_turn_reply *reply)
{
    for (size_t i = 0; i < reply->extras->count; i++) {
        const rv_reply *extra = reply->extras->items[i];
        if (rv_reply_is(extra, RV_ARRAY) && extra->count == 1 && rv_reply_is_text(extra->items[0], "idle")) return true;
    }
    return false;
}

bool rv_turn_handed(rv_lease *ret, char id[REEVE_ID_MAX], const rv_reply *text)
{
    if (!rv_reply_is(text, RV_TEXT)) return false;
    int64_t since_ms = time_before_blank(text->text, text->length);
    if (since_ms < 0) return false;
    const char *end = memchr(text->text, ' ', text->length), *line = memchr(text->text, '\n', text->length);
    if (line == NULL || line < end + 2 || (size_t)(line - end) > REEVE_ID_MAX) return false;
    memset(ret, 0, sizeof(*ret));
    memcpy(id, end + 1, (size_t)(line - end) - 1);
    id[line - end - 1] = '\0';
    ret->id = id;
    ret->since_ms = since_ms;
    rv_envelope_take(&ret->envelope, line + 1, text->length - (size_t)(line + 1 - text->text));
    judge_id(ret, (size_t)(line - end) - 1);
    return true;
}

int64_t rv_lease_wait(const rv_lease *lease)
{
    if (lease->failures > 0 || lease->crashes > 0 || lease->envelope.ready_ms < 0) return -1;
    return lease->since_ms > lease->envelope.ready_ms ? lease->since_ms - lease->envelope.ready_ms : 0;
}

/* The leases of the nth queue that has any; NULL: there are no more. */
static const rv_reply *queue_of(const rv_turn_reply *reply, size_t nth)
{
    if (reply->flat) return nth == 0 && reply->whole->count > 1 ? reply->whole : NULL;
    return nth + 4 < reply->whole->count ? reply->whole->items[nth + 4] : NULL;
}

size_t rv_turn_leases(const rv_turn_reply *reply, size_t queues, rv_lease *leases, size_t max, size_t *ret_bad)
{
    size_t count = 0, extra = 0;
    *ret_bad = 0;
    const rv_reply *queue;
    for (size_t nth = 0; (queue = queue_of(reply, nth)) != NULL; nth++) {
        int64_t index = rv_reply_within(rv_reply_at(queue, 0), 1, (int64_t)queues, 0);
        *ret_bad += index == 0;
        if (index == 0) continue;
        for (size_t j = 1; j + 1 < queue->count && count < max; j += 2) {
            if (!read_lease(&leases[count], (size_t)index - 1, queue->items[j], queue->items[j + 1])) {
                (*ret_bad)++;
                continue;
            }
            leases[count].since_ms = reply->now_ms;
            if (leases[count].envelope.marked) read_extra(&leases[count], reply->extras, &extra);
            count++;
        }
    }
    return count;
}

const rv_reply *rv_turn_policy(const rv_turn_reply *reply, size_t *next, size_t *ret_queue)
{
    while (*next < reply->extras->count) {
        const rv_reply *extra = reply->extras->items[(*next)++], *text = rv_reply_at(extra, 2);
        int64_t index = rv_reply_int(rv_reply_at(extra, 1), 0);
        if (!rv_reply_is_text(rv_reply_at(extra, 0), "#") || index < 1 || !rv_reply_is(text, RV_TEXT)) continue;
        *ret_queue = (size_t)index - 1;
        return text;
    }
    return NULL;
}

int64_t rv_turn_result_max(const rv_turn_reply *reply, size_t next)
{
    return next > 0 ? rv_reply_int(rv_reply_at(rv_reply_at(reply->extras, next - 1), 3), 0) : 0;
}

void rv_recall_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *thread,
                     const char *cursor)
{
    rv_cmd_script(conn, &rv_script_recover, 1, 3);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_args(conn, thread);
    rv_args(conn, cursor);
}

bool rv_recall_read(rv_recall_reply *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 4) return false;
    ret->alive = rv_reply_int(reply->items[0], 0) == 1;
    ret->cursor = rv_reply_is(reply->items[1], RV_TEXT) ? reply->items[1]->text : "0";
    ret->extras = reply->items[2];
    ret->tasks = reply->items[3];
    ret->next_task = ret->next_extra = 0;
    return rv_reply_is(ret->extras, RV_ARRAY) && rv_reply_is(ret->tasks, RV_ARRAY);
}

size_t rv_recall_leases(rv_recall_reply *reply, size_t queue, rv_lease *leases, size_t max)
{
    size_t count = 0;
    for (; reply->next_task + 2 < reply->tasks->count && count < max; reply->next_task += 3) {
        rv_reply *const *task = &reply->tasks->items[reply->next_task];
        if (!read_lease(&leases[count], queue, task[0], task[2])) continue;
        int64_t since_ms = time_before_blank(task[1]->text, task[1]->length);
        leases[count].since_ms = since_ms < 0 ? 0 : since_ms;
        if (leases[count].envelope.marked) read_extra(&leases[count], reply->extras, &reply->next_extra);
        count++;
    }
    return count;
}

void rv_regain_build(rv_conn *conn, const rv_prefix *prefix, const char *session, size_t count)
{
    rv_cmd_script(conn, &rv_script_regain, 1, 1 + 2 * count);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
}

void rv_regain_task(rv_conn *conn, const char *id, int64_t since_ms, const char *thread)
{
    char lease[64];
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)since_ms, thread);
    rv_args(conn, id);
    rv_args(conn, lease);
}

void rv_progress_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id, int percent,
                       const char *words)
{
    rv_cmd_script(conn, &rv_script_progress, 1, 4);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_args(conn, id);
    rv_argi(conn, percent);
    rv_args(conn, words != NULL ? words : "");
}

void rv_held_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id)
{
    char key[RV_SESSION_LENGTH + 16] = "running:";
    strncat(key, session, sizeof(key) - strlen(key) - 1);
    rv_cmd(conn, 3);
    rv_args(conn, "HEXISTS");
    rv_arg2(conn, prefix->text, prefix->length, key, strlen(key));
    rv_args(conn, id);
}

void rv_checkpoint_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id, reeve_bytes data)
{
    rv_cmd_script(conn, &rv_script_checkpoint, 1, 3);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_args(conn, id);
    rv_arg(conn, data.data, data.length);
}

void rv_last_checkpoint_build(rv_conn *conn, const rv_prefix *prefix, const char *id)
{
    char key[REEVE_ID_MAX + 8] = "info:";
    strncat(key, id, sizeof(key) - strlen(key) - 1);
    rv_cmd(conn, 3);
    rv_args(conn, "HGET");
    rv_arg2(conn, prefix->text, prefix->length, key, strlen(key));
    rv_args(conn, "checkpoint");
}

void rv_log_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id, const char *lease,
                  unsigned number, const char *line)
{
    rv_cmd_script(conn, &rv_script_log, 1, 6);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_args(conn, id);
    rv_args(conn, lease);
    rv_argi(conn, number);
    rv_args(conn, line);
    rv_argi(conn, REEVE_LOG_LINES);
}

void rv_pause_for_build(rv_conn *conn, const rv_prefix *prefix, const char *group, int64_t delay_ms)
{
    rv_cmd_script(conn, &rv_script_hold, 1, 3);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, group != NULL ? group : "");
    rv_argi(conn, delay_ms);
    rv_args(conn, "1");
}

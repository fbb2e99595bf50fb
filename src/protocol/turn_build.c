#include "protocol/turn_build.h"

#include <string.h>

#include "protocol/scripts.h"

/* Whether an outcome is a plain completion: nothing but the id and perhaps a result. */
static bool is_plain(const rv_settlement *s)
{
    return s->outcome == REEVE_OUTCOME_DONE && !s->has_info && !s->unique && !s->deadline && !s->records_run &&
           !s->keeps_record && s->chained_count == 0;
}

static size_t count_chained(const rv_turn_group *group)
{
    size_t chained = 0;
    for (size_t i = 0; i < group->count; i++) chained += group->items[i]->chained_count;
    return chained;
}

/* Small results of several tasks are sent in one argument. */
#define RESULT_BLOCK_MIN 4
#define BUNDLED_MAX 256 /* bytes of each */

typedef struct plain_part {
    size_t count;   /* of plain completions */
    size_t results; /* how many of them have a result */
    bool result_block;
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
    plain.result_block = small && plain.results >= RESULT_BLOCK_MIN;
    return plain;
}

/* The number of arguments for the results: a word, their count, and the results. */
static size_t count_result_args(const plain_part *plain)
{
    return plain->results == 0 ? 0 : plain->result_block ? 3 : 2 + plain->results;
}

/* Adds letters for the parts of a task that its completion removes or keeps. */
static void add_letters(rv_conn *conn, const rv_settlement *s)
{
    char letters[7] = "";
    if (s->has_info || s->records_run) strcat(letters, "i");
    if (s->unique) strcat(letters, s->keeps_key ? "k" : "1");
    if (s->checkpoint) strcat(letters, "c");
    if (s->deadline) strcat(letters, "d");
    if (s->records_run) strcat(letters, "r");
    if (s->keeps_record) strcat(letters, "t");
    rv_args(conn, letters);
}

#define RECORD_ARGS 5

static void build_chained(rv_conn *conn, const rv_settlement *s)
{
    const char *at = s->chained.data;
    for (size_t i = 0; i < RV_SETTLEMENT_CHAINED_ARGS * s->chained_count; i++) {
        reeve_bytes argument;
        at = rv_settlement_chained_argument(at, &argument);
        if (i % RV_SETTLEMENT_CHAINED_ARGS == 0) {
            rv_args(conn, "chain");
            rv_args(conn, s->id);
        }
        rv_arg(conn, argument.data, argument.length);
    }
}

/* The id of an outcome that a malformed task may have, too. */
static void add_id(rv_conn *conn, const rv_settlement *s)
{
    rv_arg(conn, s->id, rv_settlement_id_length(s));
}

static void build_crash(rv_conn *conn, const rv_settlement *s)
{
    rv_args(conn, "crash");
    add_id(conn, s);
    rv_argi(conn, s->max_crashes);
    rv_args(conn, s->message);
    rv_args(conn, s->backtrace);
}

static void build_record(rv_conn *conn, const rv_settlement *s)
{
    if (s->crashed) {
        build_crash(conn, s);
        return;
    }
    switch (s->outcome) {
    case REEVE_OUTCOME_DONE:
        build_chained(conn, s);
        rv_args(conn, "done");
        rv_args(conn, s->id);
        rv_arg(conn, s->result.data, s->has_result ? s->result.length : 0);
        rv_args(conn, s->has_result ? "1" : "0");
        add_letters(conn, s);
        break;
    case REEVE_OUTCOME_RETRY:
        rv_args(conn, "retry");
        add_id(conn, s);
        rv_argi(conn, s->delay_ms);
        rv_args(conn, s->kind);
        rv_args(conn, s->message);
        break;
    case REEVE_OUTCOME_SNOOZE:
        rv_args(conn, "snooze");
        add_id(conn, s);
        rv_argi(conn, s->delay_ms);
        rv_args(conn, s->begun && s->counted ? "2" : s->begun ? "1" : "");
        rv_args(conn, "");
        break;
    case REEVE_OUTCOME_CANCEL:
    case REEVE_OUTCOME_DISCARD:
        rv_args(conn, "cancel");
        add_id(conn, s);
        rv_args(conn, s->outcome == REEVE_OUTCOME_DISCARD ? "1" : "");
        rv_args(conn, s->message);
        rv_args(conn, "");
        break;
    case REEVE_OUTCOME_NONE:
    case REEVE_OUTCOME_FAIL:
        rv_args(conn, "fail");
        add_id(conn, s);
        rv_args(conn, s->counts ? "1" : "0");
        rv_args(conn, s->kind);
        rv_args(conn, s->message);
        break;
    }
}

/* The index of a group's queue in KEYS, from 1. Queues of groups that lease nothing follow the leased queues. */
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

/* Writes the text between an id and its result, " <bytes>\n"; returns its length. */
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

/* One argument for all results: for each "<id> <bytes>\n" and the bytes. */
static void build_result_block(rv_conn *conn, const rv_turn_group *group)
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

/* The results of the plain completions that have one, which come last, in their order. */
static void build_results(rv_conn *conn, const rv_turn_group *group, const plain_part *plain)
{
    rv_args(conn, plain->result_block ? "result_block" : "results");
    rv_argi(conn, (int64_t)plain->results);
    if (plain->result_block) {
        build_result_block(conn, group);
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
    rv_argi(conn, (int64_t)(group->count - plain.count + count_chained(group) + (plain.results > 0)));
    if (plain.results > 0) build_results(conn, group, &plain);
    for (size_t i = 0; i < group->count; i++) {
        if (!is_plain(group->items[i])) build_record(conn, group->items[i]);
    }
}

void rv_turn_build(rv_conn *conn, const rv_turn *turn)
{
    static const char *const hands[] = {"", "idle", "again", "woken", "several"};
    size_t args = 4 + turn->queue_count, keys = turn->queue_count;
    for (size_t i = 0; i < turn->group_count; i++) {
        const plain_part plain = plain_of(&turn->groups[i]);
        args += 5 + plain.count + count_result_args(&plain) +
                RECORD_ARGS * (turn->groups[i].count - plain.count + count_chained(&turn->groups[i]));
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
    rv_argi(conn, (int64_t)turn->queue_count);
    rv_args(conn, hands[turn->hand]);
    for (size_t i = 0; i < turn->queue_count; i++) rv_args(conn, turn->queues[i].session);
    for (size_t i = 0; i < turn->group_count; i++) build_group(conn, turn, i);
}

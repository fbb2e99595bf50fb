#include "protocol/queue_settings.h"

#include <inttypes.h>
#include <string.h>

#include "base/backoff.h"
#include "base/text.h"
#include "protocol/json_parse.h"
#include "protocol/keys.h"
#include "protocol/task_policy.h"

bool rv_queue_settings_is_given(const rv_queue_values *values, size_t field)
{
    for (size_t i = rv_queue_fields[field].first; i < RV_QUEUE_SETTINGS && rv_queue_settings[i].field == field; i++) {
        if (values->given[i]) return true;
    }
    return false;
}

/* ---- the public struct ----------------------------------------------------------------------------------------- */

static int64_t load(rv_queue_values *values, const rv_queue_setting *row, const char *from)
{
    int64_t number = 0;
    const reeve_backoff *backoff;

    switch (row->store) {
    case RV_STORE_INT64_T:
        memcpy(&number, from, sizeof(number));
        return number;
    case RV_STORE_INT:
        return *(const int *)(const void *)from;
    case RV_STORE_UNSIGNED:
        return *(const unsigned *)(const void *)from;
    case RV_STORE_BOOL:
        return *(const bool *)(const void *)from;
    case RV_STORE_CHAR:
        values->text[row - rv_queue_settings] = from;
        return 0;
    case RV_STORE_REEVE_BACKOFF:
        memcpy(&backoff, from, sizeof(backoff));
        if (backoff == NULL || !rv_backoff_is_given(backoff)) return 0;
        values->backoff = *backoff;
        return 1;
    }
    return 0;
}

void rv_queue_settings_from(rv_queue_values *ret, const reeve_queue_settings *settings)
{
    *ret = (rv_queue_values){.backoff = {0}};
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) {
        const rv_queue_setting *row = &rv_queue_settings[i];
        const char *pointer = NULL;

        if (row->at != RV_NOT_PUBLIC) memcpy(&pointer, (const char *)settings + row->at, sizeof(pointer));
        if (pointer == NULL) continue;
        ret->given[i] = true;
        ret->number[i] = load(ret, row, pointer + row->part);
    }
}

static void store(rv_held_settings *held, const rv_queue_values *values, const rv_queue_setting *row)
{
    size_t i = (size_t)(row - rv_queue_settings);
    char *to = (char *)held + row->held + row->part;
    int64_t number = row->can_unset && values->number[i] < 0 ? 0 : values->number[i];
    const reeve_backoff *backoff = &held->backoff;

    switch (row->store) {
    case RV_STORE_INT64_T:
        memcpy(to, &number, sizeof(number));
        break;
    case RV_STORE_INT:
        memcpy(to, &(int){(int)number}, sizeof(int));
        break;
    case RV_STORE_UNSIGNED:
        memcpy(to, &(unsigned){(unsigned)number}, sizeof(unsigned));
        break;
    case RV_STORE_BOOL:
        memcpy(to, &(bool){number != 0}, sizeof(bool));
        break;
    case RV_STORE_CHAR:
        rv_copy_text(to, REEVE_TYPE_MAX + 1, values->text[i] != NULL ? values->text[i] : "");
        break;
    case RV_STORE_REEVE_BACKOFF:
        if (number == 0) break;
        held->backoff = values->backoff;
        memcpy(to, &backoff, sizeof(backoff));
        break;
    }
}

void rv_queue_settings_hold(rv_held_settings *ret, const rv_queue_values *values, bool all)
{
    *ret = (rv_held_settings){.settings = {.size = sizeof(ret->settings)}};
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) {
        const rv_queue_setting *row = &rv_queue_settings[i];

        if (row->at == RV_NOT_PUBLIC) continue;
        store(ret, values, row);
        if (all || values->given[i])
            memcpy((char *)&ret->settings + row->at, &(void *){(char *)ret + row->held}, sizeof(void *));
    }
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

static bool is_in_range(const rv_queue_setting *row, int64_t number)
{
    if ((number >= row->min && number <= row->max) || (row->can_unset && number == 0)) return true;
    for (const rv_queue_word *word = row->words; word->word != NULL; word++) {
        if (number == word->number) return true;
    }
    return false;
}

static reeve_status check_number(const rv_queue_setting *row, int64_t number, rv_error *error)
{
    if (is_in_range(row, number)) return REEVE_OK;
    bool unset = row->can_unset && row->min > 0, forever = row->words[0].word != NULL && row->words[0].number == -1;
    return rv_fail(error, REEVE_EINVAL, "%s %" PRId64 ": must be from %" PRId64 " to %" PRId64 "%s", row->name, number,
                   row->min, row->max,
                   unset     ? ", or 0 for the default"
                   : forever ? ", or -1 for no limit"
                             : "");
}

reeve_status rv_queue_settings_check(const rv_queue_values *values, rv_error *error)
{
    reeve_status status = REEVE_OK;

    for (size_t i = 0; i < RV_QUEUE_SETTINGS && status == REEVE_OK; i++) {
        const rv_queue_setting *row = &rv_queue_settings[i];

        if (!values->given[i]) continue;
        if (row->type == RV_QUEUE_IS_TYPE)
            status = rv_keys_check_on_dead(values->text[i], error);
        else if (row->type == RV_QUEUE_IS_BACKOFF)
            status = values->number[i] != 0 ? rv_backoff_check(&values->backoff, error) : REEVE_OK;
        else
            status = check_number(row, values->number[i], error);
    }
    return status;
}

/* ---- the hash in Redis ----------------------------------------------------------------------------------------- */

static void write_member(rv_buf *out, const rv_queue_values *values, size_t i)
{
    if (values->number[i] == 0) return;
    rv_buf_addf(out, ",\"%s\":", rv_queue_settings[i].member);
    if (rv_queue_settings[i].type == RV_QUEUE_IS_BACKOFF)
        rv_task_policy_write_backoff(out, &values->backoff);
    else
        rv_buf_addi(out, values->number[i]);
}

void rv_queue_settings_write(rv_buf *out, const rv_queue_values *values, size_t field)
{
    size_t first = rv_queue_fields[field].first, start = out->length;
    const rv_queue_setting *row = &rv_queue_settings[first];

    if (row->member != NULL) {
        for (size_t i = first; i < RV_QUEUE_SETTINGS && rv_queue_settings[i].field == field; i++)
            write_member(out, values, i);
        if (out->failed || out->length == start) return;
        out->data[start] = '{'; /* in place of the first comma */
        rv_buf_addc(out, '}');
    } else if (row->type == RV_QUEUE_IS_TYPE) {
        if (values->text[first] != NULL) rv_buf_adds(out, values->text[first]);
    } else if (values->number[first] != 0 || !row->can_unset) {
        rv_buf_addi(out, values->number[first]);
    }
}

/* -1 for each negative number. */
static int64_t in_range(const rv_queue_setting *row, int64_t number)
{
    if (number < 0) return row->can_unset || row->words[0].word == NULL ? 0 : -1;
    return number > row->max ? row->max : number;
}

static bool has_backoff(rv_task_policy *ret, const cJSON *json)
{
    rv_task_policy_take(ret, json);
    return ret->has_backoff;
}

static reeve_status read_members(rv_queue_values *values, size_t first, const char *text, size_t length)
{
    rv_task_policy policy;
    cJSON *json = NULL;
    reeve_status status = text == NULL ? REEVE_OK : rv_json_parse(&json, text, length);

    for (size_t i = first; i < RV_QUEUE_SETTINGS && rv_queue_settings[i].field == rv_queue_settings[first].field; i++) {
        const rv_queue_setting *row = &rv_queue_settings[i];
        const cJSON *member = cJSON_GetObjectItemCaseSensitive(json, row->member);

        if (row->type == RV_QUEUE_IS_BACKOFF) {
            values->number[i] = member != NULL && has_backoff(&policy, json);
            if (values->number[i] != 0) values->backoff = policy.backoff;
        } else {
            double number = cJSON_IsNumber(member) ? member->valuedouble : 0;
            values->number[i] = number > 0 ? in_range(row, number < 9e15 ? (int64_t)number : INT64_MAX) : 0;
        }
    }
    cJSON_Delete(json);
    return status == REEVE_ENOMEM ? status : REEVE_OK;
}

reeve_status rv_queue_settings_read(rv_queue_values *values, size_t field, const char *text, size_t length)
{
    size_t first = rv_queue_fields[field].first;
    const rv_queue_setting *row = &rv_queue_settings[first];
    int64_t number;

    if (row->member != NULL) return read_members(values, first, text, length);
    if (row->type == RV_QUEUE_IS_TYPE)
        values->text[first] = text;
    else if (text != NULL && rv_parse_int(text, INT64_MIN, INT64_MAX, &number))
        values->number[first] = in_range(row, number);
    else
        values->number[first] = row->can_unset ? 0 : row->otherwise;
    return REEVE_OK;
}

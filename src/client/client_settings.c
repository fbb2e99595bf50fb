/*
 * client_settings.c - sets and gets the settings of a queue.
 */
#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "client/client.h"
#include "protocol/queue_settings.h"
#include "protocol/scripts.h"

#define FIELD_MAX 4096

static bool is_of_this_script(size_t field)
{
    return strcmp(rv_queue_fields[field].script, rv_script_settings.name) == 0;
}

/* ---- setting --------------------------------------------------------------------------------------------------- */

/* Name and value of each field that is given; the values stand in text, one behind the other. */
static reeve_status send(reeve_client *client, const char *queue, const rv_queue_values *values, rv_buf *text)
{
    rv_simple_call call = {.script = &rv_script_settings, .queue = queue};
    size_t start[RV_QUEUE_FIELDS];
    const rv_reply *reply;

    for (size_t i = 0; i < RV_QUEUE_FIELDS; i++) {
        start[i] = text->length;
        if (!is_of_this_script(i) || !rv_queue_settings_is_given(values, i)) continue;
        rv_queue_settings_write(text, values, i);
        rv_buf_addc(text, '\0');
    }
    if (text->failed) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a queue's settings");
    for (size_t i = 0; i < RV_QUEUE_FIELDS; i++) {
        if (!is_of_this_script(i) || !rv_queue_settings_is_given(values, i)) continue;
        call.args[call.count++] = rv_queue_fields[i].name;
        call.args[call.count++] = text->data + start[i];
    }
    return call.count == 0 ? REEVE_OK : rv_client_script(client, &call, &reply, NULL);
}

reeve_status reeve_queue_set_sized(reeve_client *client, const char *queue, const reeve_queue_settings *given,
                                   size_t settings_size)
{
    reeve_queue_settings settings;
    rv_queue_values values;
    rv_buf text;

    if (client == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = RV_LAYOUT_READ(&settings, given, settings_size, "the queue's settings", &client->error);
    if (status == REEVE_OK) status = rv_keys_check_queue(queue, &client->error);
    if (status != REEVE_OK) return status;
    rv_queue_settings_from(&values, &settings);
    status = rv_queue_settings_check(&values, &client->error);
    if (status != REEVE_OK) return status;
    rv_buf_init(&text, RV_QUEUE_FIELDS * FIELD_MAX);
    status = send(client, queue, &values, &text);
    rv_buf_fini(&text);
    return status;
}

/* ---- getting --------------------------------------------------------------------------------------------------- */

static void build_get(rv_conn *conn, bool again, const void *context)
{
    const rv_prefix *prefix = context;

    (void)again;
    rv_cmd(conn, 2 + RV_QUEUE_FIELDS);
    rv_args(conn, "HMGET");
    rv_arg2(conn, prefix->text, prefix->length, "settings", 8);
    for (size_t i = 0; i < RV_QUEUE_FIELDS; i++) rv_args(conn, rv_queue_fields[i].name);
}

reeve_status reeve_queue_settings_get(reeve_client *client, const char *queue, reeve_queue_settings **ret)
{
    const rv_reply *reply;
    rv_prefix prefix;
    rv_queue_values values = {.backoff = {0}};

    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status != REEVE_OK) return status;
    /* All partitions of a queue have the same. */
    rv_keys_set_prefix(&prefix, client->ns, queue);
    status = rv_client_call(client, build_get, &prefix, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < RV_QUEUE_FIELDS) return rv_client_odd_reply(client, "HMGET");
    rv_held_settings *held = rv_zalloc(sizeof(*held));
    if (held == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a queue's settings");
    for (size_t i = 0; i < RV_QUEUE_FIELDS && status == REEVE_OK; i++) {
        const rv_reply *field = rv_reply_at(reply, i);
        bool there = rv_reply_is(field, RV_TEXT);

        status = rv_queue_settings_read(&values, i, there ? field->text : NULL, there ? field->length : 0);
    }
    if (status != REEVE_OK) {
        rv_free(held);
        return rv_fail(&client->error, status, "no memory for a queue's settings");
    }
    rv_queue_settings_hold(held, &values, true);
    *ret = &held->settings;
    return REEVE_OK;
}

void reeve_queue_settings_free(reeve_queue_settings *settings)
{
    rv_free(settings); /* the first member of what was allocated */
}

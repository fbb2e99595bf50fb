#include "protocol/settlement.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "protocol/envelope.h"
#include "protocol/spec.h"

/* ---- chained tasks: each is three arguments, behind their lengths ---- */

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

void rv_settlement_chain(rv_buf *out, const reeve_task_spec *spec, const char *id)
{
    static const size_t unknown = 0;
    char handle[REEVE_HANDLE_MAX];
    int length = snprintf(handle, sizeof(handle), "%s/%s", spec->queue, id);
    write_argument(out, handle, length > 0 ? (size_t)length : 0);
    size_t start = out->length;
    rv_buf_add(out, &unknown, sizeof(unknown));
    rv_spec_write_options(out, spec);
    end_argument(out, start);
    start = out->length;
    rv_buf_add(out, &unknown, sizeof(unknown));
    rv_spec_write_envelope(out, spec);
    end_argument(out, start);
}

void rv_settlement_chain_parts(rv_buf *out, const char *handle, reeve_bytes options, reeve_bytes envelope)
{
    write_argument(out, handle, strlen(handle));
    write_argument(out, options.data, options.length);
    write_argument(out, envelope.data, envelope.length);
}

const char *rv_settlement_chained_argument(const char *at, reeve_bytes *ret)
{
    size_t length;
    memcpy(&length, at, sizeof(length));
    at += sizeof(length);
    *ret = (reeve_bytes){.data = at, .length = length};
    return at + length;
}

/* ---- copying ---- */

static const char *put(char **at, const void *data, size_t length)
{
    const char *start = *at;
    if (length > 0) memcpy(*at, data, length);
    (*at)[length] = '\0';
    *at += length + 1;
    return start;
}

bool rv_settlement_copy(rv_settlement *ret, void **ret_kept, const rv_settlement *from)
{
    const char *kind = from->kind != NULL ? from->kind : "", *message = from->message != NULL ? from->message : "";
    size_t result = from->has_result ? from->result.length : 0, chained = from->chained.length;
    const char *backtrace = from->backtrace != NULL ? from->backtrace : "";
    size_t id = rv_settlement_id_length(from);
    size_t texts = strlen(kind) + strlen(message) + strlen(backtrace);
    char *block = rv_alloc(id + texts + result + chained + 6), *at = block;
    if (block == NULL) return false;
    *ret = *from;
    ret->id = put(&at, from->id, id);
    ret->kind = put(&at, kind, strlen(kind));
    ret->message = put(&at, message, strlen(message));
    ret->backtrace = put(&at, backtrace, strlen(backtrace));
    ret->result.data = put(&at, from->result.data, result);
    ret->chained.data = put(&at, from->chained.data, chained);
    *ret_kept = block;
    return true;
}

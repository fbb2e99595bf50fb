#include "isolation/runner_host.h"

#include <string.h>
#include <sys/resource.h>

#include "handlers/dependencies.h"

reeve_status rv_runner_host_send(const rv_runner_at *at, const rv_runner_message *message)
{
    struct rlimit limit = {0, 0};
    bool is_lifted = message->length > RV_RUNNER_PACKET_MAX && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                     limit.rlim_cur < limit.rlim_max;
    const struct rlimit lifted = {limit.rlim_max, limit.rlim_max};
    if (is_lifted) is_lifted = setrlimit(RLIMIT_FSIZE, &lifted) == 0;
    reeve_status status = rv_runner_message_send(at->fd, true, message);
    if (is_lifted) (void)setrlimit(RLIMIT_FSIZE, &limit);
    return status;
}

/* ---- one call -------------------------------------------------------------------------------------------------- */

static rv_buf *begin(rv_runner_place *place, rv_runner_call call)
{
    rv_buf *out = &place->at->out;
    rv_buf_clear(out);
    rv_runner_message_put_number(out, call);
    return out;
}

/* Sends the call and waits for its answer, which *ret reads behind the status. A worker that is gone, or that sends
 * something else, is lost: the process ends when the handler returns. */
static reeve_status finish(rv_runner_place *place, rv_runner_reader *ret)
{
    rv_runner_at *at = place->at;
    rv_runner_message call = {
        .kind = RV_RUNNER_CALL, .index = place->index, .run = at->run, .body = at->out.data, .length = at->out.length};
    rv_runner_message answer;
    if (at->out.failed) return REEVE_ENOMEM;
    reeve_status status = rv_runner_host_send(at, &call);
    if (status != REEVE_OK) return status;
    status = rv_runner_message_receive(at->fd, &at->in, true, &answer);
    if (status == REEVE_ENOMEM) return status;
    if (status != REEVE_OK || answer.kind != RV_RUNNER_ANSWER || answer.run != at->run || answer.index != place->index)
        return REEVE_ELOST;
    *ret = rv_runner_message_read(&answer);
    return (reeve_status)rv_runner_message_get_number(ret, 0, INT32_MAX);
}

static reeve_status finish_plain(rv_runner_place *place)
{
    rv_runner_reader answer;
    return finish(place, &answer);
}

/* ---- the calls ------------------------------------------------------------------------------------------------- */

static reeve_status send_progress(reeve_task *task, int percent, const char *words, void *context)
{
    rv_buf *out = begin(context, RV_RUNNER_PROGRESS);
    (void)task;
    rv_runner_message_put_number(out, percent);
    rv_runner_message_put_number(out, words != NULL);
    rv_runner_message_put_text(out, words != NULL ? words : "");
    return finish_plain(context);
}

static reeve_status send_log(reeve_task *task, const char *line, void *context)
{
    (void)task;
    rv_runner_message_put_text(begin(context, RV_RUNNER_LOG), line);
    return finish_plain(context);
}

static reeve_status send_checkpoint(reeve_task *task, reeve_bytes data, void *context)
{
    (void)task;
    rv_runner_message_put_bytes(begin(context, RV_RUNNER_CHECKPOINT), data.data, data.length);
    return finish_plain(context);
}

/* Adds the bytes of an answer, if there are any. */
static reeve_status take_bytes(rv_runner_reader *answer, rv_buf *ret, bool *ret_found)
{
    *ret_found = rv_runner_message_get_number(answer, 0, 1) == 1;
    reeve_bytes bytes = rv_runner_message_get_bytes(answer, RV_RUNNER_BODY_MAX);
    if (answer->failed) return REEVE_ELOST;
    if (*ret_found) rv_buf_add(ret, bytes.data, bytes.length);
    return ret->failed ? REEVE_ENOMEM : REEVE_OK;
}

static reeve_status fetch_checkpoint(reeve_task *task, rv_buf *ret, void *context)
{
    rv_runner_reader answer;
    bool found;
    (void)task;
    (void)begin(context, RV_RUNNER_LAST_CHECKPOINT);
    reeve_status status = finish(context, &answer);
    return status == REEVE_OK ? take_bytes(&answer, ret, &found) : status;
}

static reeve_status send_heartbeat(reeve_task *task, void *context)
{
    (void)task;
    (void)begin(context, RV_RUNNER_HEARTBEAT);
    return finish_plain(context);
}

static reeve_status send_extend(reeve_task *task, int64_t for_ms, void *context)
{
    (void)task;
    rv_runner_message_put_number(begin(context, RV_RUNNER_EXTEND), for_ms);
    return finish_plain(context);
}

static reeve_status send_pause_for(reeve_task *task, const char *group, int64_t delay_ms, void *context)
{
    rv_buf *out = begin(context, RV_RUNNER_PAUSE_FOR);
    (void)task;
    rv_runner_message_put_number(out, group != NULL);
    rv_runner_message_put_text(out, group != NULL ? group : "");
    rv_runner_message_put_number(out, delay_ms);
    return finish_plain(context);
}

static reeve_status fetch_parents(reeve_task *task, rv_buf *list, void *context)
{
    rv_runner_reader answer;
    (void)task;
    (void)begin(context, RV_RUNNER_PARENTS);
    reeve_status status = finish(context, &answer);
    if (status != REEVE_OK) return status;
    int64_t count = rv_runner_message_get_number(&answer, 0, INT64_MAX);
    for (int64_t i = 0; i < count && !answer.failed; i++) {
        const char *handle = rv_runner_message_get_text(&answer, REEVE_HANDLE_MAX);
        rv_dependencies_list_parent(list, handle, rv_runner_message_get_text(&answer, 16));
    }
    return answer.failed ? REEVE_ELOST : REEVE_OK;
}

static reeve_status fetch_text(reeve_task *task, bool is_signal, const char *name, rv_buf *ret, bool *ret_found,
                               void *context)
{
    rv_runner_reader answer;
    (void)task;
    rv_runner_message_put_text(begin(context, is_signal ? RV_RUNNER_SIGNAL : RV_RUNNER_PARENT_RESULT), name);
    reeve_status status = finish(context, &answer);
    return status == REEVE_OK ? take_bytes(&answer, ret, ret_found) : status;
}

void rv_runner_host_make(rv_runner_place *place)
{
    rv_runner_flags *flags = place->at->flags;
    place->host = (rv_task_host){.progress = send_progress,
                                 .pause_for = send_pause_for,
                                 .checkpoint = send_checkpoint,
                                 .last_checkpoint = fetch_checkpoint,
                                 .heartbeat = send_heartbeat,
                                 .extend = send_extend,
                                 .log = send_log,
                                 .parents = fetch_parents,
                                 .text = fetch_text,
                                 .layers = &place->at->loaded->layers,
                                 .size_limits = &place->at->loaded->size_limits,
                                 .result_max = &place->result_max,
                                 .payload_max = &place->payload_max,
                                 .context = place,
                                 .stop = &flags->tasks[place->index].stop,
                                 .cancelled = &flags->tasks[place->index].cancelled,
                                 .cancel_reason = flags->tasks[place->index].cancel_reason};
}

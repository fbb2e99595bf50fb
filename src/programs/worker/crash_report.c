#include "crash_report.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/mem.h"
#include "frames.h"

/* ---- frames ---------------------------------------------------------------------------------------------------- */

static void add_frames(rv_buf *out, const char *maps, const rv_flight_crash *crash)
{
    uint32_t count = crash->frame_count < RV_FLIGHT_FRAMES ? crash->frame_count : RV_FLIGHT_FRAMES;

    if (atomic_load(&crash->stage) < RV_CRASH_FRAMES) count = 0;
    if (count == 0 && crash->pc != 0) {
        rv_buf_adds(out, "#0 ");
        host_frames_add_one(out, maps, crash->pc, false);
    }
    host_frames_add(out, maps, crash->frames, count);
}

void host_crash_report_cut(char *ret, size_t size, const char *text)
{
    size_t length = strlen(text);

    if (length >= size) {
        length = size - 1;
        while (length > 0 && text[length] != '\n') length--;
    }
    memcpy(ret, text, length);
    ret[length] = '\0';
}

/* ---- the message ----------------------------------------------------------------------------------------------- */

static const char *name_of(int signal_number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},
                 {SIGABRT, "SIGABRT"}, {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGSYS, "SIGSYS"},
                 {SIGTRAP, "SIGTRAP"}, {SIGXCPU, "SIGXCPU"}, {SIGPIPE, "SIGPIPE"}, {SIGQUIT, "SIGQUIT"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].number == signal_number) return names[i].name;
    }
    return "a signal";
}

#define STACK_NEAR 65536u

static bool is_overflow(const rv_flight_crash *crash)
{
    uint64_t distance = crash->address > crash->sp ? crash->address - crash->sp : crash->sp - crash->address;

    return crash->signal == SIGSEGV && crash->code > 0 && crash->sp != 0 && distance < STACK_NEAR;
}

static void describe_fault(rv_buf *out, const char *maps, const rv_flight_crash *crash)
{
    rv_buf_adds(out, name_of(crash->signal));
    if (crash->code > 0 && crash->signal != SIGABRT) rv_buf_addf(out, " at address 0x%" PRIx64, crash->address);
    if (is_overflow(crash)) rv_buf_adds(out, ", an overflow of the stack");
    if (crash->pc == 0) return;
    rv_buf_adds(out, " in ");
    host_frames_add_one(out, maps, crash->pc, false);
}

static void describe_status(rv_buf *out, int status)
{
    if (WIFSIGNALED(status))
        rv_buf_addf(out, "%s (%d) ended the worker while the task ran", name_of(WTERMSIG(status)), WTERMSIG(status));
    else
        rv_buf_addf(out, "the worker exited with status %d while the task ran: a plugin or handler ended it",
                    WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

void host_crash_report_make(host_crash_report *ret, int status, const rv_flight_crash *crash)
{
    rv_buf maps, out;
    bool is_fault = atomic_load(&crash->stage) >= RV_CRASH_SIGNAL;

    *ret = (host_crash_report){0};
    rv_buf_init(&maps, RV_FLIGHT_MAPS_MAX + 1);
    rv_buf_init(&out, (size_t)64 * 1024);
    if (atomic_load(&crash->stage) >= RV_CRASH_MAPS && crash->maps_length <= RV_FLIGHT_MAPS_MAX)
        rv_buf_add(&maps, crash->maps, strnlen(crash->maps, crash->maps_length));
    if (is_fault && crash->signal != 0)
        describe_fault(&out, rv_buf_text(&maps), crash);
    else
        describe_status(&out, status);
    rv_copy_text(ret->message, sizeof(ret->message), rv_buf_text(&out));
    rv_buf_clear(&out);
    if (is_fault) add_frames(&out, rv_buf_text(&maps), crash);
    host_crash_report_cut(ret->backtrace, sizeof(ret->backtrace), rv_buf_text(&out));
    rv_buf_fini(&out);
    rv_buf_fini(&maps);
}

bool host_crash_report_describe(const rv_flight_crash *crash, rv_buf *message, rv_buf *backtrace)
{
    if (atomic_load(&crash->stage) < RV_CRASH_SIGNAL) return false;
    struct {
        host_crash_report report;
        rv_flight_crash crash; /* a copy: a child of the runner may still write */
    } *own = rv_zalloc(sizeof(*own));
    if (own == NULL) return false;
    memcpy(&own->crash, crash, sizeof(own->crash));
    host_crash_report_make(&own->report, 0, &own->crash);
    rv_buf_adds(message, own->report.message);
    rv_buf_adds(backtrace, own->report.backtrace);
    rv_free(own);
    return !message->failed && !backtrace->failed;
}

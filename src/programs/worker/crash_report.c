#include "crash_report.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "symbols.h"

/* ---- modules --------------------------------------------------------------------------------------------------- */

#define PATH_SIZE 512

typedef struct module {
    char path[PATH_SIZE];
    uint64_t offset; /* of the address in the file */
} module;

/* A line of /proc/self/maps: "<from>-<to> r-xp <offset> <device> <inode>   <path>". */
static bool read_map(const char *line, uint64_t address, module *ret)
{
    char *at;
    uint64_t from = strtoull(line, &at, 16);

    if (*at != '-') return false;
    uint64_t to = strtoull(at + 1, &at, 16);
    if (*at != ' ' || address < from || address >= to) return false;
    at += strcspn(at + 1, " \n") + 1;
    uint64_t offset = strtoull(at, &at, 16);
    for (int column = 0; column < 2 && *at == ' '; column++) at += strcspn(at + 1, " \n") + 1;
    at += strspn(at, " ");
    size_t length = strcspn(at, "\n");
    if (length >= PATH_SIZE) return false;
    memcpy(ret->path, at, length);
    ret->path[length] = '\0';
    ret->offset = address - from + offset;
    return true;
}

/* maps: ends with a zero byte. */
static bool find_module(const char *maps, uint64_t address, module *ret)
{
    for (const char *line = maps; *line != '\0'; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
        if (read_map(line, address, ret)) return true;
    }
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* ---- frames ---------------------------------------------------------------------------------------------------- */

/* A return address stands behind the call that it belongs to. */
static void add_frame(rv_buf *out, const char *maps, uint64_t address, bool returns)
{
    module in;
    host_symbol symbol = {0};

    if (address == 0 || !find_module(maps, address - returns, &in)) {
        rv_buf_addf(out, "0x%" PRIx64, address);
        return;
    }
    if (in.path[0] == '/') (void)host_symbols_find(in.path, in.offset, &symbol);
    if (symbol.name[0] != '\0') rv_buf_addf(out, "%s+0x%" PRIx64 " ", symbol.name, symbol.offset + returns);
    bool has_id = symbol.name[0] == '\0' && symbol.build_id[0] != '\0'; /* to look it up with the symbols elsewhere */
    rv_buf_addf(out, "(%s+0x%" PRIx64 "%s%s)", base_name(in.path), in.offset + returns, has_id ? ", build id " : "",
                has_id ? symbol.build_id : "");
}

static void add_frames(rv_buf *out, const char *maps, const rv_flight_crash *crash)
{
    uint32_t count = crash->frame_count < RV_FLIGHT_FRAMES ? crash->frame_count : RV_FLIGHT_FRAMES;

    if (atomic_load(&crash->stage) < RV_CRASH_FRAMES) count = 0;
    if (count == 0 && crash->pc != 0) {
        rv_buf_adds(out, "#0 ");
        add_frame(out, maps, crash->pc, false);
    }
    for (uint32_t i = 0; i < count; i++) {
        rv_buf_addf(out, "%s#%u ", i > 0 ? "\n" : "", i);
        add_frame(out, maps, crash->frames[i], i > 0);
    }
}

/* The frames are cut at the end of a line. */
static void copy_lines(char *ret, size_t size, const char *text)
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
    add_frame(out, maps, crash->pc, false);
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
    if (is_fault)
        describe_fault(&out, rv_buf_text(&maps), crash);
    else
        describe_status(&out, status);
    rv_copy_text(ret->message, sizeof(ret->message), rv_buf_text(&out));
    rv_buf_clear(&out);
    if (is_fault) add_frames(&out, rv_buf_text(&maps), crash);
    copy_lines(ret->backtrace, sizeof(ret->backtrace), rv_buf_text(&out));
    rv_buf_fini(&out);
    rv_buf_fini(&maps);
}

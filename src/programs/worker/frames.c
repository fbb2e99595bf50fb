#include "frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handlers/plugin_file.h"
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
void host_frames_add_one(rv_buf *out, const char *maps, uint64_t address, bool returns)
{
    module in;
    host_symbol symbol = {0};

    if (address == 0 || !find_module(maps, address - returns, &in)) {
        rv_buf_addf(out, "0x%" PRIx64, address);
        return;
    }
    if (rv_plugin_file_of_memory(in.path) && in.path[0] != '[') (void)host_symbols_find(in.path, in.offset, &symbol);
    if (symbol.name[0] != '\0') rv_buf_addf(out, "%s+0x%" PRIx64 " ", symbol.name, symbol.offset + returns);
    bool has_id = symbol.name[0] == '\0' && symbol.build_id[0] != '\0'; /* to look it up with the symbols elsewhere */
    rv_buf_addf(out, "(%s+0x%" PRIx64 "%s%s)", base_name(in.path), in.offset + returns, has_id ? ", build id " : "",
                has_id ? symbol.build_id : "");
}

void host_frames_add(rv_buf *out, const char *maps, const uint64_t *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        rv_buf_addf(out, "%s#%u ", i > 0 ? "\n" : "", i);
        host_frames_add_one(out, maps, frames[i], i > 0);
    }
}

bool host_frames_read_maps(rv_buf *out, pid_t pid)
{
    char path[64], part[4096];
    size_t got;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
    file = fopen(path, "re");
    if (file == NULL) return false;
    while ((got = fread(part, 1, sizeof(part), file)) > 0) rv_buf_add(out, part, got);
    (void)fclose(file);
    return !out->failed;
}

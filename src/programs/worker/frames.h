/*
 * frames.h - the frames of a stack in words: "#0 function+0x1c (module+0x1234)"; where no symbol is found, the module
 * with its build id.
 */
#ifndef HOST_FRAMES_H
#define HOST_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* maps: as /proc/PID/maps; ends with a zero byte. returns: the address is that to which a call returns. */
void host_frames_add_one(rv_buf *out, const char *maps, uint64_t address, bool returns);

/* A line each, the innermost first; no line feed behind the last. */
void host_frames_add(rv_buf *out, const char *maps, const uint64_t *frames, uint32_t count);

/* The maps of a process. False: they cannot be read, or there is no memory. */
bool host_frames_read_maps(rv_buf *out, pid_t pid);

#endif

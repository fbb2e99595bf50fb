/*
 * bytes_view.h - bytes of any kind for people.
 */
#ifndef CLI_BYTES_VIEW_H
#define CLI_BYTES_VIEW_H

#include "base/buf.h"
#include "reeve/status.h"

/* The most that cli_bytes_preview appends, about. */
#define CLI_BYTES_PREVIEW_MAX 16384

/* Appends bytes as text, cut at 4 KiB, or, when they are no text, as their length and a dump of their beginning. */
void cli_bytes_preview(rv_buf *buf, reeve_bytes bytes);

#endif

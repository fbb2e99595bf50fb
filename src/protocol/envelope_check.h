/*
 * envelope_check.h - what is checked of an envelope's header where its options are read: as header() of
 * src/lua/lib/base.lua does, so that scripts and workers call the same tasks malformed (docs/protocol.md). No I/O.
 */
#ifndef RV_PROTOCOL_ENVELOPE_CHECK_H
#define RV_PROTOCOL_ENVELOPE_CHECK_H

#include <cjson/cJSON.h>

/* Why the header is malformed, or NULL. json: the header, NULL when it was no JSON. */
const char *rv_envelope_check_header(const cJSON *json);

#endif

/*
 * json_parse.h - JSON from Redis, which is parsed with allocations: whether a text is no JSON, or there was no memory
 * to parse it. Without this distinction a lack of memory would pass for an empty object.
 */
#ifndef RV_PROTOCOL_JSON_PARSE_H
#define RV_PROTOCOL_JSON_PARSE_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "reeve/status.h"

/*
 * REEVE_EINVAL: it is no JSON; REEVE_ENOMEM: nothing is known of it. *ret is NULL then. The caller deletes *ret. A
 * program that replaces the allocator of cJSON sets errno to ENOMEM where malloc does.
 */
reeve_status rv_json_parse(cJSON **ret, const char *text, size_t length);

/* The same for a text that must be one object and nothing more. */
reeve_status rv_json_parse_object(cJSON **ret, const char *text, size_t length);

#endif

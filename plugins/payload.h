/*
 * payload.h - a payload that is a JSON object, for the plugins that come with reeve.
 */
#ifndef REEVE_PLUGINS_PAYLOAD_H
#define REEVE_PLUGINS_PAYLOAD_H

#include <cjson/cJSON.h>
#include <reeve/plugin.h>

/*
 * The payload's object, owned by the caller (cJSON_Delete); strings keep bytes of 0x80 and above as they are. NULL when
 * it is none, or holds a zero byte, which no C string can; *ret_why then has the words.
 */
cJSON *payload_parse(reeve_bytes payload, const char **ret_why);

/* The member's text; fallback when there is no such member. NULL when it is something else. */
const char *payload_text(const cJSON *object, const char *name, const char *fallback);

/* The member's whole number, 0 to most; fallback when there is no such member. -1 when it is something else. */
int64_t payload_number(const cJSON *object, const char *name, int64_t max, int64_t fallback);

#endif

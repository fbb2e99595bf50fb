/*
 * script.h - the Lua scripts of the protocol, built in from src/lua: text and SHA1, made at build time.
 */
#ifndef RV_SCRIPT_H
#define RV_SCRIPT_H

#include <stddef.h>

typedef struct rv_script {
    const char *name;
    const char *text;
    size_t length;
    const char *sha; /* 40 hex digits */
} rv_script;

#endif

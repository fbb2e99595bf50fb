/*
 * symbols.h - the names of functions in ELF files, and the build ids of these.
 */
#ifndef HOST_SYMBOLS_H
#define HOST_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_BUILD_ID_TEXT 41
#define HOST_SYMBOL_TEXT 128

typedef struct host_symbol {
    char name[HOST_SYMBOL_TEXT];       /* "": none covers it */
    uint64_t offset;                   /* from its beginning */
    char build_id[HOST_BUILD_ID_TEXT]; /* hexadecimal; "": the file has none */
} host_symbol;

/* Finds what lies at an offset of the file. False: it cannot be read, or is no 64-bit ELF file of this byte order. */
bool host_symbols_find(const char *path, uint64_t file_offset, host_symbol *ret);

#endif

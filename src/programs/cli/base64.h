/*
 * base64.h - RFC 4648 base64, the standard alphabet with padding. No I/O, no memory.
 */
#ifndef CLI_BASE64_H
#define CLI_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* The length of what length bytes become. */
#define CLI_BASE64_SIZE(length) (((length) + 2) / 3 * 4)

/* Writes CLI_BASE64_SIZE(length) characters, without a zero byte; returns how many. */
size_t cli_base64_encode(const unsigned char *data, size_t length, char *target);

/*
 * Writes at most length / 4 * 3 bytes and sets *ret_length; target may be text itself. False: it is no base64 (a
 * foreign character, a length that is no multiple of four, padding that is missing or in the middle, stray bits in the
 * end).
 */
bool cli_base64_decode(const char *text, size_t length, unsigned char *target, size_t *ret_length);

#endif

/*
 * seal.h - authenticated encryption with AES-256-GCM of OpenSSL. A sealed text is a nonce of 12 bytes, a tag of 16 bytes,
 * and the encrypted bytes. The type of the task is bound to it: a payload that was moved to a task of another type does
 * not open.
 */
#ifndef ENCRYPT_SEAL_H
#define ENCRYPT_SEAL_H

#include <stddef.h>

#include "keys.h"

#define SEAL_BYTES (12 + 16) /* by which a sealed text is longer */

/* Writes length + SEAL_BYTES bytes to ret. Returns 0, or -1. */
int seal(unsigned char *ret, const secret_key *key, const char *type, const void *data, size_t length);

/* Writes length - SEAL_BYTES bytes to ret. Returns 0, or -1: it was not sealed with this key for this type. */
int unseal(unsigned char *ret, const secret_key *key, const char *type, const void *data, size_t length);

#endif

/*
 * keys.h - the keys of the example: a file with a line for each, "<id> <64 hex digits>". The last one encrypts; all of
 * them decrypt.
 */
#ifndef ENCRYPT_KEYS_H
#define ENCRYPT_KEYS_H

#include <stddef.h>

#define KEY_BYTES 32
#define KEY_ID_MAX 32
#define KEYS_MAX 64

typedef struct secret_key {
    char id[KEY_ID_MAX + 1];
    unsigned char bytes[KEY_BYTES];
} secret_key;

typedef struct key_ring {
    secret_key keys[KEYS_MAX];
    size_t count;
} key_ring;

/* Reads a file. Returns 0, or -1 after a line on standard error. */
int keys_read(key_ring *ret, const char *path);

/* The key of an id, or NULL. */
const secret_key *keys_find(const key_ring *ring, const char *id);

#endif

/*
 * siphash.h - SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein, 2012), a short hash with a key: without the key nobody can
 * tell what has a certain hash. Any thread.
 */
#ifndef RV_BASE_SIPHASH_H
#define RV_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct rv_siphash_key {
    uint64_t word[2];
} rv_siphash_key;

uint64_t rv_siphash(const rv_siphash_key *key, const void *data, size_t length);

#endif

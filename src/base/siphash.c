#include "base/siphash.h"

static uint64_t rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, 2);
    v[0] ^= word;
}

/* Up to eight bytes, the first one lowest. */
static uint64_t read_word(const unsigned char *from, size_t length)
{
    uint64_t word = 0;
    for (size_t i = 0; i < length; i++) word |= (uint64_t)from[i] << (8 * i);
    return word;
}

uint64_t rv_siphash(const rv_siphash_key *key, const void *data, size_t length)
{
    const unsigned char *from = data;
    const uint64_t *k = key->word;
    uint64_t v[4] = {k[0] ^ 0x736f6d6570736575u, k[1] ^ 0x646f72616e646f6du, k[0] ^ 0x6c7967656e657261u,
                     k[1] ^ 0x7465646279746573u};
    size_t at = 0;
    for (; length - at >= 8; at += 8) take(v, read_word(from + at, 8));
    take(v, read_word(from + at, length - at) | (uint64_t)length << 56);
    v[2] ^= 0xff;
    mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

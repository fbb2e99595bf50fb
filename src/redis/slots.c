#include "redis/slots.h"

#include <stdint.h>
#include <string.h>

/* CRC16/XMODEM: polynomial 0x1021, from 0, not reflected. Bit by bit: keys are short, and a call has one or a few. */
static unsigned crc16(const char *text, size_t length)
{
    unsigned crc = 0;
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned)(uint8_t)text[i] << 8;
        for (int bit = 0; bit < 8; bit++) crc = (crc & 0x8000) ? (crc << 1) ^ 0x1021 : crc << 1;
    }
    return crc & 0xffff;
}

/* The hash tag; NULL: there is none. */
static const char *find_tag(const char *key, size_t length, size_t *ret_length)
{
    const char *open = length > 0 ? memchr(key, '{', length) : NULL;
    if (open == NULL) return NULL;
    const char *first = open + 1;
    const char *close = memchr(first, '}', length - (size_t)(first - key));
    if (close == NULL || close == first) return NULL;
    *ret_length = (size_t)(close - first);
    return first;
}

unsigned rv_slots_of(const char *key, size_t length)
{
    size_t tag_length;
    const char *tag = find_tag(key, length, &tag_length);
    return (tag != NULL ? crc16(tag, tag_length) : crc16(key, length)) % RV_SLOTS;
}

bool rv_slots_has_tag(const char *key, size_t length)
{
    size_t tag_length;
    return find_tag(key, length, &tag_length) != NULL;
}

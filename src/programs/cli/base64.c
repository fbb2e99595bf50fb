#include "base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t cli_base64_encode(const unsigned char *data, size_t length, char *target)
{
    char *at = target;

    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        unsigned bits = (unsigned)data[i] << 16;

        if (left > 1) bits |= (unsigned)data[i + 1] << 8;
        if (left > 2) bits |= data[i + 2];
        *at++ = digits[bits >> 18];
        *at++ = digits[bits >> 12 & 63];
        *at++ = left > 1 ? digits[bits >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[bits & 63] : '=';
    }
    return (size_t)(at - target);
}

/* The value of a digit, or -1. */
static int value_of(char digit)
{
    if (digit >= 'A' && digit <= 'Z') return digit - 'A';
    if (digit >= 'a' && digit <= 'z') return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9') return digit - '0' + 52;
    return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

/* Four characters, of which the last padding are '=', to three bytes less padding. */
static bool decode_group(const char *text, size_t padding, unsigned char *target)
{
    unsigned bits = 0;

    for (size_t i = 0; i < 4; i++) {
        int value = i < 4 - padding ? value_of(text[i]) : 0;
        if (value < 0) return false;
        bits = bits << 6 | (unsigned)value;
    }
    if ((bits & ((1u << (8 * padding)) - 1)) != 0) return false;
    for (size_t i = 0; i < 3 - padding; i++) target[i] = (unsigned char)(bits >> (16 - 8 * i));
    return true;
}

bool cli_base64_decode(const char *text, size_t length, unsigned char *target, size_t *ret_length)
{
    size_t padding = 0, written = 0;

    if (length % 4 != 0) return false;
    for (size_t i = 0; i < length; i += 4) {
        if (i + 4 == length) padding = text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
        if (!decode_group(text + i, padding, target + written)) return false;
        written += 3 - padding;
    }
    *ret_length = written;
    return true;
}

#include "base/id.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "base/clock.h"
#include "base/fork.h"
#include "reeve/task.h"

#define BLOCK 512
#define COUNTER_MAX 0xfffu
#define COUNTER_SEED 0x7ffu /* the top bit starts as zero: at least 2048 ids before the counter is full */

/* Each thread takes its random bytes from a block of its own. */
static _Thread_local struct {
    unsigned char bytes[BLOCK];
    size_t left;
    unsigned
        generation; /* the block is good while this is that of the process: a forked child needs bytes of its own */
} block;

static _Thread_local struct {
    int64_t ms;
    unsigned counter;
} last;

/* Where the system gives no randomness (a sandbox forbids the call), ids still differ by clock, process, thread and
 * count. */
static void fill_without_system(unsigned char *bytes, size_t length)
{
    static _Atomic uint64_t calls;
    uint64_t state = (uint64_t)rv_now_us() ^ (uint64_t)rv_wall_ms() << 20 ^ (uint64_t)(uintptr_t)&block;

    state += (atomic_fetch_add(&calls, 1) << 24 ^ (uint64_t)getpid()) * 0xd1342543de82ef95u;
    for (size_t i = 0; i < length; i++) {
        state += 0x9e3779b97f4a7c15u; /* splitmix64 */
        uint64_t mixed = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
        bytes[i] = (unsigned char)(mixed >> 56);
    }
}

static void fill(unsigned char *bytes, size_t length)
{
    size_t filled = 0;
    while (filled < length) {
        ssize_t got = getrandom(bytes + filled, length - filled, 0);
        if (got > 0) {
            filled += (size_t)got;
        } else if (got < 0 && errno != EINTR) {
            fill_without_system(bytes + filled, length - filled);
            return;
        }
    }
}

static void take_random(void *ret, size_t length)
{
    unsigned present = rv_fork_generation();
    if (present == 0 || present != block.generation || block.left < length) {
        fill(block.bytes, sizeof(block.bytes));
        block.left = sizeof(block.bytes);
        block.generation = present;
    }
    block.left -= length;
    memcpy(ret, block.bytes + block.left, length);
}

/* Moves `last` on: a later millisecond starts a new count; the same one, or a clock that was set back, counts on; a
 * full counter borrows the next millisecond. */
static void next_tick(void)
{
    int64_t ms = rv_wall_ms();
    if (ms <= last.ms && last.counter < COUNTER_MAX) {
        last.counter++;
        return;
    }
    uint16_t seed;
    take_random(&seed, sizeof(seed));
    last.ms = ms > last.ms ? ms : last.ms + 1;
    last.counter = seed & COUNTER_SEED;
}

void rv_uuid7(char ret[RV_UUID_LENGTH + 1])
{
    uuid_t id;

    next_tick();
    for (int i = 0; i < 6; i++) id[i] = (unsigned char)(last.ms >> (40 - 8 * i));
    id[6] = (unsigned char)(0x70 | last.counter >> 8);
    id[7] = (unsigned char)last.counter;
    take_random(id + 8, 8);
    id[8] = (unsigned char)((id[8] & 0x3f) | 0x80);
    uuid_unparse_lower(id, ret);
}

void rv_random_id(char ret[RV_RANDOM_LENGTH + 1])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[RV_RANDOM_LENGTH / 2];

    take_random(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        ret[2 * i] = hex[bytes[i] >> 4];
        ret[2 * i + 1] = hex[bytes[i] & 15];
    }
    ret[RV_RANDOM_LENGTH] = '\0';
}

void rv_session_id(char ret[RV_SESSION_LENGTH + 1], const char *worker)
{
    char own[RV_RANDOM_LENGTH + 1];

    rv_random_id(own);
    (void)snprintf(ret, RV_SESSION_LENGTH + 1, "%.16s-%.8s", worker, own);
}

double rv_random_unit(void)
{
    uint64_t bits;
    take_random(&bits, sizeof(bits));
    return (double)(bits >> 11) * 0x1p-53;
}

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

/* 1 to max characters, each a letter, a digit or one of the others. */
static bool is_name(const char *text, size_t length, size_t max, const char *others, size_t other_count)
{
    if (text == NULL || length == 0 || length > max) return false;
    for (size_t i = 0; i < length; i++) {
        if (!is_alphanumeric(text[i]) && memchr(others, text[i], other_count) == NULL) return false;
    }
    return true;
}

bool rv_valid_whole_queue(const char *text, size_t length)
{
    return is_name(text, length, REEVE_QUEUE_MAX, "._-", 3);
}

/* "~3" or "~12" behind the name. */
static size_t partition_length(const char *text, size_t length)
{
    size_t digits = 0;
    while (digits < 2 && digits < length && text[length - 1 - digits] >= '0' && text[length - 1 - digits] <= '9')
        digits++;
    bool marked = digits > 0 && length > digits + 1 && text[length - digits - 1] == '~';
    return marked && (digits == 1 || text[length - digits] != '0') ? digits + 1 : 0;
}

bool rv_valid_queue(const char *text, size_t length)
{
    if (text == NULL || length == 0 || length > REEVE_QUEUE_MAX) return false;
    return rv_valid_whole_queue(text, length - partition_length(text, length));
}

bool rv_valid_type(const char *text, size_t length)
{
    return is_name(text, length, REEVE_TYPE_MAX, "._-:/", 5);
}

bool rv_valid_type_pattern(const char *text, size_t length)
{
    if (length == 0 || length > REEVE_TYPE_MAX || text[length - 1] != '*') return rv_valid_type(text, length);
    return length == 1 || rv_valid_type(text, length - 1);
}

size_t rv_type_fit(const char *pattern, const char *type, size_t length)
{
    size_t size = strlen(pattern);
    if (size == length && memcmp(pattern, type, length) == 0) return SIZE_MAX;
    if (size == 0 || pattern[size - 1] != '*' || size - 1 > length) return 0;
    return memcmp(pattern, type, size - 1) == 0 ? size : 0;
}

bool rv_valid_id(const char *text, size_t length)
{
    return is_name(text, length, REEVE_ID_LENGTH_MAX, "._-:", 4);
}

bool rv_valid_ns(const char *text, size_t length)
{
    return is_name(text, length, 64, "._-:", 4);
}

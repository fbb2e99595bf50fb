/* Long values, which have their place before they have come: in pieces of every kind, and what goes wrong half way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "redis/reply_reader.h"
#include "support/cmocka.h"

#define MIN ((size_t)RV_PLACED_MIN)

/* Bytes on their way to a reader, as a connection takes them: read to their place where there is one, else fed. */
typedef struct wire {
    rv_reply_reader reader;
    rv_buf bytes;
    size_t at;
    size_t placed; /* so many were read to their place */
    size_t fed;
} wire;

static void begin(wire *w)
{
    *w = (wire){0};
    rv_reply_reader_init(&w->reader);
    rv_buf_init(&w->bytes, SIZE_MAX / 2);
}

static void end(wire *w)
{
    rv_reply_reader_fini(&w->reader);
    rv_buf_fini(&w->bytes);
}

/* What stands at a place in a value of that length: line ends among it, and no two values alike. */
static char letter(size_t length, size_t at)
{
    return at % 97 == 0 ? '\r' : at % 97 == 1 ? '\n' : (char)((at * 31 + at / 251 + length) & 0xff);
}

static void add_value(wire *w, size_t length)
{
    rv_buf_addf(&w->bytes, "$%zu\r\n", length);
    for (size_t i = 0; i < length; i++) rv_buf_addc(&w->bytes, letter(length, i));
    rv_buf_adds(&w->bytes, "\r\n");
}

static void check_value(const rv_reply *value, size_t length)
{
    assert_true(rv_reply_is(value, RV_TEXT));
    assert_int_equal(value->length, length);
    for (size_t i = 0; i < length; i++)
        if (value->text[i] != letter(length, i)) fail_msg("of %zu, byte %zu", length, i);
    assert_int_equal(value->text[length], 0);
}

/* At most piece bytes more, in one step. */
static reeve_status step(wire *w, size_t piece, const rv_reply **ret, rv_error *error)
{
    size_t room, left = w->bytes.length - w->at;
    char *place = rv_reply_reader_place(&w->reader, &room);
    if (piece > left) piece = left;
    if (place && piece > room) piece = room;
    if (place) memcpy(place, w->bytes.data + w->at, piece);
    reeve_status status = place ? rv_reply_reader_came(&w->reader, piece, error)
                                : rv_reply_reader_feed(&w->reader, w->bytes.data + w->at, piece, error);
    w->at += piece;
    *(place ? &w->placed : &w->fed) += piece;
    return status == REEVE_OK ? rv_reply_reader_next(&w->reader, ret, error) : status;
}

/* All of it, which makes one reply. */
static const rv_reply *run(wire *w, size_t piece)
{
    const rv_reply *reply = NULL;
    rv_error error = {0};
    while (w->at < w->bytes.length) {
        assert_null(reply);
        if (step(w, piece, &reply, &error) != REEVE_OK) fail_msg("%s", error.text);
        assert_int_equal(rv_reply_reader_is_at_rest(&w->reader), w->at == w->bytes.length);
    }
    assert_non_null(reply);
    return reply;
}

/* ---- pieces ---------------------------------------------------------------------------------------------------- */

static void around_the_limit(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 2, 3, 7, 100, 1000, 4096, 16383, 16384, 16385, 20000, 32768, 1000000};
    for (size_t length = MIN - 3; length <= MIN + 3; length++) {
        for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
            wire w;
            begin(&w);
            add_value(&w, length);
            check_value(run(&w, pieces[i]), length);
            end(&w);
        }
    }
}

/* A piece ends at each byte around the head and the end of a long value, and of what stands behind it. */
static void cut_anywhere(void **state)
{
    (void)state;
    static const size_t lengths[] = {5, MIN, 0, 3 * MIN, 2 * MIN, 100, MIN - 1};
    enum { COUNT = sizeof(lengths) / sizeof(lengths[0]) };
    wire w;
    begin(&w);
    rv_buf_addf(&w.bytes, "*%d\r\n", COUNT + 1);
    for (size_t i = 0; i < COUNT; i++) add_value(&w, lengths[i]);
    rv_buf_adds(&w.bytes, "*2\r\n:7\r\n$-1\r\n");
    for (size_t cut = 1; cut < w.bytes.length; cut += cut % 16384 < 150 || cut % 16384 > 16370 ? 1 : 509) {
        const rv_reply *reply = NULL;
        w.at = 0;
        assert_int_equal(step(&w, cut, &reply, NULL), REEVE_OK);
        while (w.at < cut) assert_int_equal(step(&w, cut - w.at, &reply, NULL), REEVE_OK);
        assert_null(reply);
        reply = run(&w, SIZE_MAX);
        assert_int_equal(reply->count, COUNT + 1);
        for (size_t i = 0; i < COUNT; i++) check_value(reply->items[i], lengths[i]);
        assert_int_equal(rv_reply_int(rv_reply_at(reply->items[COUNT], 0), 0), 7);
    }
    end(&w);
}

static void random_pieces(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 100; round++) {
        size_t lengths[6], count = 1 + (size_t)rand_r(&seed) % 6;
        const rv_reply *reply = NULL;
        rv_error error = {0};
        wire w;
        begin(&w);
        rv_buf_addf(&w.bytes, "*1\r\n*%zu\r\n", count);
        for (size_t i = 0; i < count; i++) {
            lengths[i] = (size_t)rand_r(&seed) % (rand_r(&seed) % 2 ? 100 : 5 * MIN);
            add_value(&w, lengths[i]);
        }
        while (w.at < w.bytes.length) {
            size_t piece = 1 + (size_t)rand_r(&seed) % (rand_r(&seed) % 2 ? 50 : 2 * MIN);
            assert_null(reply);
            if (step(&w, piece, &reply, &error) != REEVE_OK) fail_msg("round %d: %s", round, error.text);
        }
        assert_int_equal(rv_reply_at(reply, 0)->count, count);
        for (size_t i = 0; i < count; i++) check_value(reply->items[0]->items[i], lengths[i]);
        end(&w);
    }
}

/* Several replies in the same bytes, a long one first. */
static void what_comes_behind(void **state)
{
    (void)state;
    const rv_reply *reply;
    wire w;
    begin(&w);
    add_value(&w, 2 * MIN);
    size_t first = w.bytes.length;
    rv_buf_adds(&w.bytes, "+next\r\n");
    add_value(&w, MIN);
    assert_int_equal(rv_reply_reader_feed(&w.reader, w.bytes.data, 10, NULL), REEVE_OK);
    assert_int_equal(rv_reply_reader_next(&w.reader, &reply, NULL), REEVE_OK);
    assert_null(reply);
    assert_int_equal(rv_reply_reader_feed(&w.reader, w.bytes.data + 10, first + 15 - 10, NULL), REEVE_OK);
    assert_int_equal(rv_reply_reader_next(&w.reader, &reply, NULL), REEVE_OK);
    check_value(reply, 2 * MIN);
    assert_int_equal(rv_reply_reader_next(&w.reader, &reply, NULL), REEVE_OK);
    assert_true(rv_reply_is_text(reply, "next"));
    w.at = first + 15;
    check_value(run(&w, 1000), MIN);
    end(&w);
}

/* ---- how much goes where ---------------------------------------------------------------------------------------- */

static void read_to_its_place(void **state)
{
    (void)state;
    const size_t length = 1024 * 1024;
    wire w;
    begin(&w);
    rv_buf_adds(&w.bytes, "*2\r\n:1\r\n");
    add_value(&w, length);
    check_value(run(&w, 2048)->items[1], length);
    assert_true(w.fed <= 2048 + MIN);
    assert_true(w.placed >= length - 2048 - MIN);
    assert_true(w.reader.buffered_held <= 4096); /* (of the parser's buffer) */
    end(&w);
}

/* What may not be believed has no place until it is there. */
static void too_long_to_believe(void **state)
{
    (void)state;
    const size_t lengths[] = {RV_PLACED_MAX, (size_t)RV_PLACED_MAX + 1, RV_BULK_MAX};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        const rv_reply *reply;
        size_t room;
        wire w;
        begin(&w);
        rv_buf_addf(&w.bytes, "$%zu\r\nabc", lengths[i]);
        assert_int_equal(step(&w, SIZE_MAX, &reply, NULL), REEVE_OK);
        assert_int_equal(rv_reply_reader_place(&w.reader, &room) != NULL, i == 0);
        if (i == 0) assert_int_equal(room, lengths[i] - 3 + 2);
        assert_true(i == 0 || w.reader.arena.held < MIN);
        end(&w);
    }
}

/* Many places in one reply are more than a reply may have. */
static void too_much_together(void **state)
{
    (void)state;
    wire w;
    rv_error error = {0};
    const rv_reply *reply;
    reeve_status status = REEVE_OK;
    begin(&w);
    rv_buf_adds(&w.bytes, "*9\r\n");
    assert_int_equal(step(&w, SIZE_MAX, &reply, &error), REEVE_OK);
    w.reader.arena.used = RV_REPLY_MAX - 4 * MIN; /* (as if so much had come) */
    add_value(&w, MIN);
    add_value(&w, 4 * MIN);
    while (status == REEVE_OK && w.at < w.bytes.length) status = step(&w, 1000, &reply, &error);
    assert_int_equal(status, REEVE_EPROTO);
    assert_non_null(strstr(error.text, "larger than the limit"));
    end(&w);
}

/* ---- what goes wrong -------------------------------------------------------------------------------------------- */

static void a_wrong_end(void **state)
{
    (void)state;
    for (size_t wrong = 0; wrong < 2; wrong++) {
        for (size_t piece = 1; piece <= 40000; piece = piece * 3 + 1) {
            const rv_reply *reply = NULL;
            rv_error error = {0};
            reeve_status status = REEVE_OK;
            wire w;
            begin(&w);
            rv_buf_adds(&w.bytes, "*2\r\n");
            add_value(&w, MIN + 100);
            w.bytes.data[w.bytes.length - 2 + wrong] = 'x';
            while (status == REEVE_OK && w.at < w.bytes.length) status = step(&w, piece, &reply, &error);
            assert_int_equal(status, REEVE_EPROTO);
            assert_null(reply);
            assert_non_null(strstr(error.text, "not as long as declared"));
            end(&w);
        }
    }
}

/* Half a value is given up with its connection, and its memory at once; the next connection begins afresh. */
static void forgotten_half_way(void **state)
{
    (void)state;
    const size_t length = 10 * 1024 * 1024;
    for (size_t come = 0; come <= length; come += length / 4) {
        const rv_reply *reply;
        size_t room;
        wire w;
        begin(&w);
        add_value(&w, length);
        assert_int_equal(step(&w, 11, &reply, NULL), REEVE_OK);
        if (come > 0) assert_int_equal(step(&w, come, &reply, NULL), REEVE_OK);
        assert_null(reply);
        assert_false(rv_reply_reader_is_at_rest(&w.reader));
        rv_reply_reader_settle(&w.reader);
        rv_reply_reader_idle(&w.reader);
        assert_true(w.reader.arena.held > length);
        rv_reply_reader_forget(&w.reader);
        assert_true(w.reader.arena.held <= 8 * 1024);
        assert_null(rv_reply_reader_place(&w.reader, &room));
        assert_true(rv_reply_reader_is_at_rest(&w.reader));
        w.at = 0;
        check_value(run(&w, 100000), length);
        end(&w);
    }
}

static void no_memory(void **state)
{
    (void)state;
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth = 1;
    for (; status == REEVE_ENOMEM; nth++) {
        const rv_reply *reply = NULL;
        rv_error error = {0};
        wire w;
        begin(&w);
        rv_buf_adds(&w.bytes, "*2\r\n");
        add_value(&w, 4 * MIN);
        add_value(&w, 40 * MIN);
        (void)rv_mem_fail_at(nth);
        status = REEVE_OK;
        while (status == REEVE_OK && w.at < w.bytes.length) status = step(&w, 3000, &reply, &error);
        (void)rv_mem_fail_at(0);
        assert_int_equal(status == REEVE_OK, reply != NULL);
        end(&w);
    }
    assert_int_equal(status, REEVE_OK);
    assert_true(nth > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(around_the_limit),  cmocka_unit_test(cut_anywhere),      cmocka_unit_test(random_pieces),
        cmocka_unit_test(what_comes_behind), cmocka_unit_test(read_to_its_place), cmocka_unit_test(too_long_to_believe),
        cmocka_unit_test(too_much_together), cmocka_unit_test(a_wrong_end),       cmocka_unit_test(forgotten_half_way),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("ut_reply_placed", tests, NULL, NULL);
}

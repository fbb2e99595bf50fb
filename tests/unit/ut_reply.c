/* The reply reader and its arena, fed by hand. */
#include "redis/reply_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "support/cmd.h"
#include "support/cmocka.h"

static const char nested[] = "*4\r\n:1\r\n$5\r\nhe\0lo\r\n*2\r\n+OK\r\n*1\r\n*0\r\n$-1\r\n";

static const rv_reply *feed(rv_reply_reader *reader, const char *data, size_t length)
{
    const rv_reply *reply;
    rv_error error;
    if (rv_reply_reader_feed(reader, data, length, &error) != REEVE_OK) fail_msg("%s", error.text);
    if (rv_reply_reader_next(reader, &reply, &error) != REEVE_OK) fail_msg("%s", error.text);
    return reply;
}

static void check_nested(const rv_reply *reply)
{
    assert_non_null(reply);
    assert_int_equal(reply->type, RV_ARRAY);
    assert_int_equal(reply->count, 4);
    assert_int_equal(reply->items[0]->number, 1);
    assert_int_equal(reply->items[1]->length, 5);
    assert_memory_equal(reply->items[1]->text, "he\0lo", 6);
    assert_int_equal(reply->items[2]->count, 2);
    assert_int_equal(reply->items[2]->items[0]->type, RV_STATUS);
    assert_int_equal(reply->items[2]->items[1]->items[0]->count, 0);
    assert_int_equal(reply->items[3]->type, RV_NIL);
    assert_string_equal(reply->items[3]->text, "");
}

static void in_one_piece(void **state)
{
    (void)state;
    rv_reply_reader reader;
    rv_reply_reader_init(&reader);
    check_nested(feed(&reader, nested, sizeof(nested) - 1));
    assert_true(rv_reply_reader_is_at_rest(&reader));
    rv_reply_reader_fini(&reader);
}

static void byte_by_byte(void **state)
{
    (void)state;
    rv_reply_reader reader;
    rv_reply_reader_init(&reader);
    for (size_t i = 0; i < sizeof(nested) - 2; i++) {
        assert_null(feed(&reader, nested + i, 1));
        assert_false(rv_reply_reader_is_at_rest(&reader));
    }
    check_nested(feed(&reader, nested + sizeof(nested) - 2, 1));
    rv_reply_reader_fini(&reader);
}

static void many_in_one_piece(void **state)
{
    (void)state;
    rv_reply_reader reader;
    rv_buf buf;
    rv_reply_reader_init(&reader);
    rv_buf_init(&buf, SIZE_MAX / 2);
    for (int i = 0; i < 10000; i++) rv_buf_addf(&buf, ":%d\r\n", i);
    const rv_reply *reply = feed(&reader, buf.data, buf.length);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(rv_reply_int(reply, -1), i);
        assert_int_equal(rv_reply_reader_is_at_rest(&reader), i == 9999);
        assert_int_equal(rv_reply_reader_next(&reader, &reply, NULL), REEVE_OK);
    }
    assert_null(reply);
    rv_buf_fini(&buf);
    rv_reply_reader_fini(&reader);
}

static void a_large_array(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    rv_reply_reader reader;
    rv_buf buf;
    rv_reply_reader_init(&reader);
    rv_buf_init(&buf, SIZE_MAX / 2);
    rv_buf_addf(&buf, "*%d\r\n", COUNT);
    for (int i = 0; i < COUNT; i++) rv_buf_addf(&buf, "$5\r\n%05d\r\n", i);
    const rv_reply *reply = feed(&reader, buf.data, buf.length);
    assert_non_null(reply);
    assert_int_equal(reply->count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%05d", i);
        assert_string_equal(reply->items[i]->text, text);
    }
    rv_buf_fini(&buf);
    rv_reply_reader_fini(&reader);
}

/* ---- what nobody should send ----------------------------------------------------------------------------------- */

/* But for one value's place, which is as large as declared. */
static size_t held_for_nothing(const rv_reply_reader *reader)
{
    return reader->arena.held - reader->placed.length;
}

static reeve_status outcome(const char *data, size_t length, rv_error *error)
{
    rv_reply_reader reader;
    const rv_reply *reply;
    rv_reply_reader_init(&reader);
    reeve_status status = rv_reply_reader_feed(&reader, data, length, error);
    if (status == REEVE_OK) status = rv_reply_reader_next(&reader, &reply, error);
    if (status == REEVE_OK) assert_null(reply);
    assert_true(held_for_nothing(&reader) < 1024 * 1024);
    rv_reply_reader_fini(&reader);
    return status;
}

static void huge_lengths(void **state)
{
    (void)state;
    static const char *const refused[] = {"$536870913\r\n",
                                          "$9223372036854775807\r\n",
                                          "$18446744073709551615\r\n",
                                          "$99999999999999999999999\r\nxx",
                                          "*2147483648\r\n",
                                          "*-2\r\n",
                                          "$-2\r\n",
                                          "*9223372036854775807\r\n",
                                          "$00000000000000000000000000000000000001\r\nx"};
    static const char *const awaited[] = {"$536870912\r\nabc", "*2147483647\r\n", "*2147483647\r\n*2147483647\r\n",
                                          "$12", "+123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        rv_error error = {0};
        if (outcome(refused[i], strlen(refused[i]), &error) != REEVE_EPROTO) fail_msg("%s", refused[i]);
        assert_non_null(strstr(error.text, "not a reply of Redis"));
    }
    for (size_t i = 0; i < sizeof(awaited) / sizeof(awaited[0]); i++) {
        rv_error error = {0};
        if (outcome(awaited[i], strlen(awaited[i]), &error) != REEVE_OK) fail_msg("%s %s", awaited[i], error.text);
    }
}

static void deep_nesting(void **state)
{
    (void)state;
    rv_error error;
    char text[256] = "";
    for (int depth = 1; depth <= 20; depth++) {
        memcpy(text + 4 * (depth - 1), "*1\r\n", 5);
        reeve_status status = outcome(text, strlen(text), &error);
        assert_int_equal(status, depth <= 8 ? REEVE_OK : REEVE_EPROTO);
    }
}

static void unknown_types(void **state)
{
    (void)state;
    static const char *const refused[] = {",1.5\r\n",   "#t\r\n", "%1\r\n+a\r\n+b\r\n", "~1\r\n+a\r\n",
                                          "(12345\r\n", ">0\r\n", "=7\r\ntxt:abc\r\n",  "!3\r\nabc\r\n"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        rv_error error = {0};
        if (outcome(refused[i], strlen(refused[i]), &error) != REEVE_EPROTO) fail_msg("%s", refused[i]);
    }
}

static void a_wrong_end(void **state)
{
    (void)state;
    rv_error error;
    assert_int_equal(outcome("$3\r\nabcde", 9, &error), REEVE_EPROTO);
    assert_int_equal(outcome("*1\r\n$0\r\nxx", 10, &error), REEVE_EPROTO);
    assert_int_equal(outcome("$3\r\nab\r\n\r", 9, &error), REEVE_EPROTO);
}

/* Any bytes end in a reply, a wait for more, or EPROTO, and never in more memory than they deserve. */
static void random_bytes(void **state)
{
    (void)state;
    static const char alphabet[] = "+-:$*0123456789\r\n\r\n\r\nabc";
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        rv_reply_reader reader;
        rv_error error;
        char data[64];
        for (size_t i = 0; i < sizeof(data); i++) data[i] = alphabet[(size_t)rand_r(&seed) % (sizeof(alphabet) - 1)];
        rv_reply_reader_init(&reader);
        reeve_status status = rv_reply_reader_feed(&reader, data, sizeof(data), &error);
        const rv_reply *reply = NULL;
        while (status == REEVE_OK) {
            status = rv_reply_reader_next(&reader, &reply, &error);
            if (!reply) break;
            (void)test_reply_text(reply);
        }
        assert_true(status == REEVE_OK || status == REEVE_EPROTO);
        assert_true(held_for_nothing(&reader) < 1024 * 1024);
        rv_reply_reader_fini(&reader);
    }
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void feed_value(rv_reply_reader *reader, size_t size)
{
    char head[32];
    char *value = malloc(size + 2);
    assert_non_null(value);
    memset(value, 'v', size);
    memcpy(value + size, "\r\n", 2);
    int length = snprintf(head, sizeof(head), "$%zu\r\n", size);
    assert_null(feed(reader, head, (size_t)length));
    const rv_reply *reply = feed(reader, value, size + 2);
    assert_non_null(reply);
    assert_int_equal(reply->length, size);
    free(value);
}

/* The same in values of 100 bytes: of these each goes through the parser. */
static void feed_values(rv_reply_reader *reader, size_t size)
{
    rv_buf buf;
    rv_buf_init(&buf, SIZE_MAX / 2);
    rv_buf_addf(&buf, "*%zu\r\n", size / 100);
    for (size_t i = 0; i < size / 100; i++) rv_buf_addf(&buf, "$100\r\n%0100zu\r\n", i);
    assert_null(feed(reader, buf.data, 10));
    const rv_reply *reply = feed(reader, buf.data + 10, buf.length - 10);
    assert_non_null(reply);
    assert_int_equal(reply->count, size / 100);
    rv_buf_fini(&buf);
}

typedef void (*feed_fn)(rv_reply_reader *reader, size_t size);

static void leaves_nothing_behind(feed_fn feed_some)
{
    rv_reply_reader reader;
    rv_reply_reader_init(&reader);
    feed_some(&reader, 20 * 1024 * 1024);
    assert_true(reader.arena.held > 20 * 1024 * 1024);
    rv_reply_reader_settle(&reader);
    assert_true(reader.arena.held <= 32 * 1024);
    assert_true(reader.buffered_held <= 16 * 1024);
    rv_reply_reader_fini(&reader);
}

static void a_big_reply_leaves_nothing_behind(void **state)
{
    (void)state;
    leaves_nothing_behind(feed_value);
    leaves_nothing_behind(feed_values);
}

static void allocates_nothing(feed_fn feed_some, bool allocates_to_feed)
{
    rv_reply_reader reader;
    rv_reply_reader_init(&reader);
    for (int i = 0; i < 4; i++) {
        feed_some(&reader, 200000);
        rv_reply_reader_settle(&reader);
    }
    struct redisReader *parser = reader.parser;
    struct rv_arena_block *first = reader.arena.first;
    size_t held = reader.arena.held;
    (void)rv_mem_fail_at(0);
    for (int i = 0; i < 100; i++) {
        feed_some(&reader, 200000);
        rv_reply_reader_settle(&reader);
    }
    if (!allocates_to_feed) assert_int_equal(rv_mem_fail_at(0), 0);
    assert_ptr_equal(reader.parser, parser);
    assert_ptr_equal(reader.arena.first, first);
    assert_int_equal(reader.arena.held, held);
    rv_reply_reader_idle(&reader);
    assert_true(reader.arena.held <= 32 * 1024);
    assert_true(reader.buffered_held <= 8 * 1024);
    rv_reply_reader_fini(&reader);
}

static void a_steady_load_allocates_nothing(void **state)
{
    (void)state;
    allocates_nothing(feed_value, false);
    allocates_nothing(feed_values, true);
}

static void half_a_reply_is_kept(void **state)
{
    (void)state;
    rv_reply_reader reader;
    rv_reply_reader_init(&reader);
    assert_null(feed(&reader, "*2\r\n$5\r\nhello\r\n", 15));
    rv_reply_reader_settle(&reader);
    rv_reply_reader_idle(&reader);
    const rv_reply *reply = feed(&reader, ":1\r\n", 4);
    assert_string_equal(test_reply_text(reply), "[hello 1]");
    assert_null(feed(&reader, "*2\r\n$5\r\nhello\r\n", 15));
    rv_reply_reader_forget(&reader);
    assert_string_equal(test_reply_text(feed(&reader, "+new\r\n", 6)), "new");
    rv_reply_reader_fini(&reader);
}

static void no_memory(void **state)
{
    (void)state;
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth = 1;
    static char text[40000] = "*2\r\n$30000\r\n";
    memset(text + 12, 'x', 30000);
    memcpy(text + 12 + 30000, "\r\n*2000\r\n", 9);
    for (size_t at = 30021; at + 4 <= 30021 + 4 * 2000; at += 4) memcpy(text + at, ":1\r\n", 4);
    for (; status == REEVE_ENOMEM; nth++) {
        rv_reply_reader reader;
        const rv_reply *reply;
        rv_error error;
        rv_reply_reader_init(&reader);
        assert_int_equal(rv_reply_reader_feed(&reader, text, 30021 + 4 * 2000, &error), REEVE_OK);
        rv_mem_fail_at(nth);
        status = rv_reply_reader_next(&reader, &reply, &error);
        rv_mem_fail_at(0);
        assert_true((status == REEVE_OK) == (reply != NULL));
        rv_reply_reader_fini(&reader);
    }
    assert_int_equal(status, REEVE_OK);
    assert_true(nth > 3);
}

/* ---- looks ----------------------------------------------------------------------------------------------------- */

static void looks_into_replies(void **state)
{
    (void)state;
    rv_reply_reader reader;
    rv_reply_reader_init(&reader);
    static const char text[] = "*6\r\n:-5\r\n$2\r\n17\r\n$3\r\n1x2\r\n$-1\r\n-ERR 1\r\n$3\r\n1\0"
                               "2\r\n";
    const rv_reply *reply = feed(&reader, text, sizeof(text) - 1);
    assert_int_equal(rv_reply_int(rv_reply_at(reply, 0), 9), -5);
    assert_int_equal(rv_reply_int(rv_reply_at(reply, 1), 9), 17);
    assert_int_equal(rv_reply_int(rv_reply_at(reply, 2), 9), 9);
    assert_int_equal(rv_reply_int(rv_reply_at(reply, 3), 9), 9);
    assert_int_equal(rv_reply_int(rv_reply_at(reply, 4), 9), 9);
    assert_int_equal(rv_reply_int(rv_reply_at(reply, 5), 9), 9);
    assert_int_equal(rv_reply_int(NULL, 9), 9);
    assert_null(rv_reply_at(reply, 6));
    assert_null(rv_reply_at(NULL, 0));
    assert_null(rv_reply_at(rv_reply_at(reply, 0), 0));
    assert_true(rv_reply_is(reply, RV_ARRAY));
    assert_false(rv_reply_is(NULL, RV_ARRAY));
    assert_true(rv_reply_is_text(rv_reply_at(reply, 1), "17"));
    assert_false(rv_reply_is_text(rv_reply_at(reply, 1), "1"));
    assert_false(rv_reply_is_text(rv_reply_at(reply, 4), "ERR 1"));
    assert_false(rv_reply_is_text(NULL, ""));
    rv_reply_reader_fini(&reader);
}

/* ---- the arena alone ------------------------------------------------------------------------------------------- */

static void arena_keeps_runs_apart(void **state)
{
    (void)state;
    enum { RUNS = 500 };
    rv_arena arena;
    unsigned char *runs[RUNS];
    rv_arena_init(&arena);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < RUNS; i++) {
            runs[i] = rv_arena_alloc(&arena, i * 37);
            assert_non_null(runs[i]);
            assert_int_equal((uintptr_t)runs[i] % 16, 0);
            memset(runs[i], (int)(i % 251), i * 37);
        }
        for (size_t i = 0; i < RUNS; i++)
            for (size_t at = 0; at < i * 37; at++) assert_int_equal(runs[i][at], i % 251);
        rv_arena_rewind(&arena);
    }
    assert_null(rv_arena_alloc(&arena, SIZE_MAX));
    rv_arena_trim(&arena, 10000);
    assert_true(arena.held <= 10000);
    assert_non_null(rv_arena_alloc(&arena, 100000));
    rv_arena_fini(&arena);
    assert_int_equal(arena.held, 0);
    assert_non_null(rv_arena_alloc(&arena, 0));
    rv_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_one_piece),
        cmocka_unit_test(byte_by_byte),
        cmocka_unit_test(many_in_one_piece),
        cmocka_unit_test(a_large_array),
        cmocka_unit_test(huge_lengths),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(unknown_types),
        cmocka_unit_test(a_wrong_end),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(a_big_reply_leaves_nothing_behind),
        cmocka_unit_test(a_steady_load_allocates_nothing),
        cmocka_unit_test(half_a_reply_is_kept),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(looks_into_replies),
        cmocka_unit_test(arena_keeps_runs_apart),
    };
    return cmocka_run_group_tests_name("ut_reply", tests, NULL, NULL);
}

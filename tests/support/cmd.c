#include "support/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "support/cmocka.h"

#define TEXTS 8
#define TEXT_MAX 65536
#define WORDS_MAX 256

static char *next_text(void)
{
    static _Thread_local char texts[TEXTS][TEXT_MAX];
    static _Thread_local unsigned turn;
    return texts[turn++ % TEXTS];
}

static void show(rv_buf *buf, const rv_reply *reply);

static void show_array(rv_buf *buf, const rv_reply *reply)
{
    rv_buf_addc(buf, '[');
    for (size_t i = 0; i < reply->count; i++) {
        if (i > 0) rv_buf_addc(buf, ' ');
        show(buf, reply->items[i]);
    }
    rv_buf_addc(buf, ']');
}

static void show(rv_buf *buf, const rv_reply *reply)
{
    switch (reply->type) {
    case RV_NIL:
        rv_buf_adds(buf, "(nil)");
        return;
    case RV_INT:
        rv_buf_addi(buf, reply->number);
        return;
    case RV_ERROR:
        rv_buf_adds(buf, "(error) ");
        rv_buf_add(buf, reply->text, reply->length);
        return;
    case RV_TEXT:
    case RV_STATUS:
        rv_buf_add(buf, reply->text, reply->length);
        return;
    case RV_ARRAY:
        show_array(buf, reply);
        return;
    }
}

const char *test_reply_text(const rv_reply *reply)
{
    char *text = next_text();
    rv_buf buf;
    rv_buf_init(&buf, SIZE_MAX / 2);
    show(&buf, reply);
    assert_false(buf.failed);
    (void)snprintf(text, TEXT_MAX, "%s", rv_buf_text(&buf));
    rv_buf_fini(&buf);
    return text;
}

static const char *run(rv_conn *conn, char *line)
{
    char *words[WORDS_MAX], *rest = NULL;
    size_t count = 0;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true(count < WORDS_MAX);
        words[count++] = word;
    }
    rv_cmd(conn, count);
    for (size_t i = 0; i < count; i++) rv_args(conn, words[i]);
    const rv_reply *reply;
    reeve_status status = rv_conn_call(conn, 0, &reply);
    if (reply) return test_reply_text(reply);
    char *text = next_text();
    (void)snprintf(text, TEXT_MAX, "(%d) %s", (int)status, rv_conn_error(conn)->text);
    return text;
}

const char *test_cmd(rv_conn *conn, const char *format, ...)
{
    static _Thread_local char line[TEXT_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    assert_true(length >= 0 && (size_t)length < sizeof(line));
    return run(conn, line);
}

#include "bytes_view.h"

#include "base/text.h"
#include "utf8.h"

#define TEXT_SHOWN 4096
#define DUMP_SHOWN 128
#define DUMP_LINE 16

static void dump_line(rv_buf *buf, const unsigned char *data, size_t at, size_t length)
{
    rv_buf_addf(buf, "\n%04zx ", at);
    for (size_t i = 0; i < DUMP_LINE; i++) {
        if (i < length)
            rv_buf_addf(buf, " %02x", data[at + i]);
        else
            rv_buf_adds(buf, "   ");
    }
    rv_buf_adds(buf, "  ");
    for (size_t i = 0; i < length; i++) {
        char c = (char)data[at + i];
        rv_buf_addc(buf, c >= 0x20 && c < 0x7f ? c : '.');
    }
}

static void add_more(rv_buf *buf, size_t more)
{
    if (more > 0) rv_buf_addf(buf, "\n(%zu bytes more)", more);
}

static void add_dump(rv_buf *buf, reeve_bytes bytes)
{
    size_t shown = bytes.length < DUMP_SHOWN ? bytes.length : DUMP_SHOWN;

    rv_buf_addf(buf, "%zu bytes that are no text", bytes.length);
    for (size_t at = 0; at < shown; at += DUMP_LINE)
        dump_line(buf, bytes.data, at, shown - at < DUMP_LINE ? shown - at : DUMP_LINE);
    add_more(buf, bytes.length - shown);
}

void cli_bytes_preview(rv_buf *buf, reeve_bytes bytes)
{
    size_t shown;

    if (bytes.length == 0) {
        rv_buf_adds(buf, "(empty)");
        return;
    }
    shown = rv_utf8_cut(bytes.data, bytes.length, TEXT_SHOWN);
    if (!cli_utf8_is_text(bytes.data, shown)) {
        add_dump(buf, bytes);
        return;
    }
    rv_buf_add(buf, bytes.data, shown);
    add_more(buf, bytes.length - shown);
}

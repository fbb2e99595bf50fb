#include "protocol/lease.h"

#include <string.h>

#include "base/text.h"

#define DIGITS "0123456789"

static unsigned read_number(const char *digits)
{
    int64_t number = 0;
    return rv_parse_int(digits, 0, INT32_MAX, &number) ? (unsigned)number : 0;
}

void rv_lease_read_extra(rv_lease *lease, const rv_reply *extras, size_t *next)
{
    for (; *next < extras->count; (*next)++) {
        const rv_reply *extra = extras->items[*next];
        if (!rv_reply_is_text(rv_reply_at(extra, 0), lease->id)) continue;
        lease->failures = rv_reply_count(rv_reply_at(extra, 1));
        lease->crashes = rv_reply_count(rv_reply_at(extra, 2));
        lease->has_info = true;
        const rv_reply *letters = rv_reply_at(extra, 3);
        lease->has_checkpoint = rv_reply_is(letters, RV_TEXT) && strchr(letters->text, 'c') != NULL;
        lease->crashed_alone = rv_reply_is(letters, RV_TEXT) && strchr(letters->text, 'a') != NULL;
        if (rv_reply_is(letters, RV_TEXT)) lease->snoozes = read_number(letters->text + strcspn(letters->text, DIGITS));
        (*next)++;
        return;
    }
}

/* Whether an id has no blank, control character or byte beyond ASCII, so that lists of ids can be parsed. The rest
 * of the alphabet is not checked, because this runs for every task. */
static bool is_harmless(const char *id, size_t length)
{
    const uint64_t each = UINT64_MAX / 255, high = each << 7;
    uint64_t word, odd = 0;
    if (length == 0 || length > REEVE_ID_LENGTH_MAX) return false;
    /* Eight bytes at once: afterwards the high bit of each is set if the byte is below '!' or beyond ASCII. The rest
     * at the end is checked together with bytes before it. */
    for (size_t i = 0; i + sizeof(word) <= length; i += sizeof(word)) {
        memcpy(&word, id + i, sizeof(word));
        odd |= (word - each * '!') | word;
    }
    if (length >= sizeof(word)) {
        memcpy(&word, id + length - sizeof(word), sizeof(word));
    } else {
        word = each * '!';
        memcpy(&word, id, length);
    }
    odd |= (word - each * '!') | word;
    return (odd & high) == 0;
}

static void judge_id(rv_lease *lease, size_t length)
{
    if (is_harmless(lease->id, length)) return;
    lease->id_length = length;
    lease->envelope.malformed = "its id does not have 1 to 100 of the characters A-Z a-z 0-9 . _ - :";
}

bool rv_lease_read(rv_lease *ret, size_t queue, const rv_reply *id, const rv_reply *envelope)
{
    memset(ret, 0, sizeof(*ret));
    if (!rv_reply_is(id, RV_TEXT) || !rv_reply_is(envelope, RV_TEXT)) return false;
    ret->queue = queue;
    ret->id = id->text;
    rv_envelope_take(&ret->envelope, envelope->text, envelope->length);
    judge_id(ret, id->length);
    return true;
}

bool rv_lease_read_handed(rv_lease *ret, char id[REEVE_ID_MAX], const rv_reply *text)
{
    if (!rv_reply_is(text, RV_TEXT)) return false;
    int64_t since_ms = rv_parse_before_blank(text->text, text->length, RV_REPLY_NUMBER_MAX);
    if (since_ms < 0) return false;
    const char *end = memchr(text->text, ' ', text->length), *line = memchr(text->text, '\n', text->length);
    if (line == NULL || line < end + 2 || (size_t)(line - end) > REEVE_ID_MAX) return false;
    memset(ret, 0, sizeof(*ret));
    memcpy(id, end + 1, (size_t)(line - end) - 1);
    id[line - end - 1] = '\0';
    ret->id = id;
    ret->since_ms = since_ms;
    rv_envelope_take(&ret->envelope, line + 1, text->length - (size_t)(line + 1 - text->text));
    judge_id(ret, (size_t)(line - end) - 1);
    return true;
}

int64_t rv_lease_wait(const rv_lease *lease)
{
    if (lease->failures > 0 || lease->crashes > 0 || lease->envelope.ready_ms < 0) return -1;
    return lease->since_ms > lease->envelope.ready_ms ? lease->since_ms - lease->envelope.ready_ms : 0;
}

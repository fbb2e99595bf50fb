#include "support/announced.h"

#include <stdio.h>
#include <string.h>

#include "reeve/watch.h"

static char seen[REEVE_EVENT_PLACE_MAX]; /* up to where events were looked at */
static int64_t base;

void test_announced_anew(int64_t since_ms)
{
    (void)snprintf(seen, sizeof(seen), "0-0");
    base = since_ms;
}

void test_keep_events(int64_t count)
{
    test_ok(test_client, reeve_events_keep(test_client, "q", count));
}

static void add_event(char *text, size_t size, const reeve_event *event)
{
    size_t length = strlen(text);
    length += (size_t)snprintf(text + length, size - length, "%s%s:%s", length > 0 ? " " : "", event->what, event->id);
    if (event->due_ms >= 0)
        length += (size_t)snprintf(text + length, size - length, "@%lld", (long long)(event->due_ms - base));
    if (event->delay_ms >= 0)
        length += (size_t)snprintf(text + length, size - length, "+%lld", (long long)event->delay_ms);
    if (event->kind != NULL) length += (size_t)snprintf(text + length, size - length, "(%s)", event->kind);
    if (strcmp(event->what, "priority") == 0) (void)snprintf(text + length, size - length, "=%d", event->priority);
}

const char *test_announced_of(const char *id)
{
    static char text[8192];
    reeve_watch *watch = NULL;
    const reeve_event *event = NULL;
    reeve_status status;
    text[0] = '\0';
    test_ok(test_client,
            reeve_watch_open(&watch, test_client, &(reeve_watch_options){.queue = "q", .id = id, .after = seen}));
    while ((status = reeve_watch_next(watch, 0, &event)) == REEVE_OK) {
        add_event(text, sizeof(text), event);
        (void)snprintf(seen, sizeof(seen), "%s", event->place);
    }
    assert_int_equal(status, REEVE_ETIMEOUT);
    reeve_watch_close(watch);
    return text;
}

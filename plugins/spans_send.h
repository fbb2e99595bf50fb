/*
 * spans_send.h - sends spans to a receiver of OTLP over HTTP as JSON, from a thread of its own. Nobody waits for it: where the receiver
 * is away or slow, spans wait in a queue of limited length, and those that do not fit are lost and counted.
 */
#ifndef SPANS_SEND_H
#define SPANS_SEND_H

#include <stdbool.h>
#include <stddef.h>

#define SPANS_WAITING_MAX 2048

/* Starts the thread. endpoint: http://HOST[:PORT][/PATH], to which /v1/traces is added; before and after: what goes around the spans of
 * a request, both stay the caller's. 0, or an errno: EINVAL the endpoint is not valid. */
int spans_send_start(const char *endpoint, const char *before, const char *after);

/* Adds to the counter of lost spans, reeve_plugin_spans_lost_total. Any thread. */
void spans_send_count_lost(size_t count);

/* Copies a span, or counts it as lost. Any thread; does not block. */
void spans_send_put(const char *span, size_t length);

/* Sends what waits, for at most two seconds, and ends the thread. */
void spans_send_stop(void);

#endif

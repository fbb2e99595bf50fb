/*
 * proxy.h - between a client and a real server, to lose replies: the server does what it was asked, and nobody hears of
 * it.
 *
 *     test_proxy *proxy = test_proxy_start(redis);
 *     ... a client opened with test_proxy_url(proxy) ...
 *     test_proxy_lose(proxy, "EVALSHA", 0);    the replies to the next request with these bytes in it are not passed on
 *     ... its next call ...                    and the connection is closed
 */
#ifndef TEST_PROXY_H
#define TEST_PROXY_H

#include <stddef.h>

#include "support/redis.h"

typedef struct test_proxy test_proxy;

test_proxy *test_proxy_start(rv_test_redis *redis);
void test_proxy_stop(test_proxy *proxy);
const char *test_proxy_url(const test_proxy *proxy);

/*
 * Of the replies to the next request that contains some text, pass bytes are passed on; the rest is read (all that
 * the server was sent has then been carried out) and dropped, and the connection closed.
 */
void test_proxy_lose(test_proxy *proxy, const char *text, size_t pass);
/* The same, without passing anything on, for so many requests in a row. */
void test_proxy_lose_all(test_proxy *proxy, const char *text, unsigned times);

/*
 * The end of the next request that contains some text is kept back: the server has it before it, and does not carry
 * it out, while the client hears nothing. Released, it is carried out, unless the server has ended that connection;
 * returns when either is so.
 */
void test_proxy_hold(test_proxy *proxy, const char *text);
/* The same, and the client loses its connection soon after. */
void test_proxy_hold_and_lose(test_proxy *proxy, const char *text);
bool test_proxy_holds(const test_proxy *proxy);
void test_proxy_release(test_proxy *proxy);

/* The next request that contains some text reaches the server. From then on the client hears nothing over its
 * connection, which the client alone closes: the server's half stays open until the proxy stops; cut: it is closed at
 * once. */
void test_proxy_mute(test_proxy *proxy, const char *text, bool cut);
bool test_proxy_mutes(const test_proxy *proxy);
/* The same for an open connection whose last request (a PING does not count) ends with this text, or a little behind
 * it. Waits until it is found: a request that another may follow before the proxy looks is one for test_proxy_mute. */
void test_proxy_mute_open(test_proxy *proxy, const char *text, bool cut);

/* The same for all open connections, which are closed at the server's side; later ones work. */
void test_proxy_mute_all(test_proxy *proxy);

/* An open connection whose last request ends with this text, or a little behind it: what the server says is kept back
 * from here on. Waits until it is found. Passed on: all of it, and what comes later. */
void test_proxy_keep_back(test_proxy *proxy, const char *text);
/* The same without waiting, so that the request may be still to come. The server has been sent it when it is found. */
void test_proxy_keep_back_next(test_proxy *proxy, const char *text);
bool test_proxy_keeps_back(const test_proxy *proxy);
void test_proxy_pass_on(test_proxy *proxy);

/* From now on a connection that brings a request with some text in it is closed at once, unanswered; "": none is. */
void test_proxy_slam(test_proxy *proxy, const char *text);

/* From now on each piece that the server says is so late. */
void test_proxy_delay(test_proxy *proxy, unsigned ms);

/* How many replies were lost so far, or connections closed. */
unsigned test_proxy_lost(const test_proxy *proxy);

#endif

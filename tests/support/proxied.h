/*
 * proxied.h - a client whose connections lead through a proxy (proxy.h) to the server of the test.
 */
#ifndef TEST_PROXIED_H
#define TEST_PROXIED_H

#include "reeve/client.h"
#include "support/proxy.h"

/* The place must have been started (queue.h). The test fails where the client cannot be opened. */
void test_proxied_open(test_proxy **ret_proxy, reeve_client **ret, int64_t timeout_ms);
void test_proxied_close(test_proxy *proxy, reeve_client *client);

#endif

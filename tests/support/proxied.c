#include "support/proxied.h"

#include "support/queue.h"

void test_proxied_open(test_proxy **ret_proxy, reeve_client **ret, int64_t timeout_ms)
{
    char words[512];
    *ret_proxy = test_proxy_start(test_redis);
    const reeve_client_options options = {.redis = test_proxy_url(*ret_proxy), .timeout_ms = timeout_ms};
    if (reeve_client_open_with_error(ret, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
}

void test_proxied_close(test_proxy *proxy, reeve_client *client)
{
    reeve_client_close(client);
    test_proxy_stop(proxy);
}

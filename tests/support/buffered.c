#include "support/buffered.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/worker.h"

char test_buffer_path[256], test_buffer_told[4096];
reeve_client *test_buffered;

int test_buffer_set_up(void **state)
{
    int failed = test_place_empty(state);
    test_buffer_told[0] = '\0';
    (void)snprintf(test_buffer_path, sizeof(test_buffer_path), "%s/buffer", test_redis_dir(test_redis));
    (void)unlink(test_buffer_path);
    return failed;
}

int test_buffer_tear_down(void **state)
{
    (void)state;
    reeve_client_close(test_buffered);
    test_buffered = NULL;
    return 0;
}

static void note_refused(const char *handle, reeve_status status, const char *message, void *user)
{
    size_t length = strlen(test_buffer_told);
    (void)message;
    (void)snprintf(test_buffer_told + length, sizeof(test_buffer_told) - length, "%s%s=%d ", (const char *)user, handle,
                   (int)status);
}

reeve_status test_buffer_open_with(reeve_client **ret, const char *url, const char *file, int64_t bytes,
                                   char words[512])
{
    const reeve_client_options options = {.redis = url,
                                          .timeout_ms = 20000,
                                          .buffer_path = file,
                                          .buffer_bytes = bytes,
                                          .buffer_wait_ms = 300,
                                          .buffer_refused = note_refused,
                                          .buffer_user = (void *)"!"};
    return reeve_client_open_with_error(ret, &options, words, 512);
}

void test_buffer_open(const char *file, int64_t bytes)
{
    char words[512] = "";
    if (test_buffer_open_with(&test_buffered, test_redis_url(test_redis), file, bytes, words) != REEVE_OK)
        fail_msg("%s", words);
}

reeve_status test_buffer_put(const char *queue, const char *id)
{
    const reeve_task_spec spec = {.queue = queue, .type = "t", .id = id, .payload = {"a\0b", 3}};
    return reeve_enqueue(test_buffered, &spec, NULL);
}

void test_buffer_expect(uint64_t tasks, uint64_t delivered, uint64_t refused)
{
    reeve_buffer_info info;
    assert_int_equal(reeve_client_buffer(test_buffered, &info), REEVE_OK);
    assert_int_equal(info.tasks, tasks);
    assert_int_equal(info.delivered, delivered);
    assert_int_equal(info.refused, refused);
    assert_true((info.oldest_ms > 0) == (tasks > 0));
}

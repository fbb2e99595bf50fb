/* buffered.h - a client with a buffer (reeve/buffer.h), and what its tests ask of it. */
#ifndef REEVE_TESTS_BUFFERED_H
#define REEVE_TESTS_BUFFERED_H

#include <stdint.h>

#include "reeve/buffer.h"

/* The file of the buffer; what `buffer_refused` was told; the client. */
extern char test_buffer_path[256], test_buffer_told[4096];
extern reeve_client *test_buffered;

int test_buffer_set_up(void **state);
int test_buffer_tear_down(void **state);

reeve_status test_buffer_open_with(reeve_client **ret, const char *url, const char *file, int64_t bytes,
                                   char words[512]);
void test_buffer_open(const char *file, int64_t bytes);

/* Enqueues a task of type t. */
reeve_status test_buffer_put(const char *queue, const char *id);

void test_buffer_expect(uint64_t tasks, uint64_t delivered, uint64_t refused);

#endif

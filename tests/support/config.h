/*
 * config.h - configurations for tests: files with this text, which are loaded or refused. In the current directory.
 */
#ifndef TEST_CONFIG_H
#define TEST_CONFIG_H

#include "config/config.h"

/* The least that a worker needs. */
#define TEST_POOL "pools = ( { queues = [ \"a\" ]; } );\n"

void test_write_file(const char *name, const char *text, size_t length);
void test_write_text(const char *name, const char *text);

/* What good.conf with this text becomes; the caller frees it. */
rv_config *test_config(const char *text);

/* A file is refused with exactly these lines; bad.conf with this text is, with REEVE_EINVAL. */
void test_config_refused_file(const char *name, reeve_status expected, const char *lines);
void test_config_refused(const char *text, const char *lines);

#endif

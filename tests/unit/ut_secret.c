/* ut_secret.c - a URL or password in a file: who may read it, what it says, and how it comes into a URL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "redis/secret.h"
#include "redis/url.h"
#include "support/cmocka.h"

static char path[64];

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof(path), "/tmp/reeve-ut.XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const char *text, size_t length, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void assert_says(const char *text, const char *expected)
{
    char *secret;
    rv_error error = {0};
    write_file(text, strlen(text), 0600);
    assert_int_equal(rv_secret_read(&secret, path, &error), REEVE_OK);
    assert_string_equal(secret, expected);
    rv_secret_free(secret);
}

static void assert_refused(const char *words)
{
    char *secret = path;
    rv_error error = {0};
    assert_int_equal(rv_secret_read(&secret, path, &error), REEVE_EINVAL);
    assert_null(secret);
    assert_non_null(strstr(error.text, words));
    assert_null(strstr(error.text, "hush"));
}

static void the_first_line_is_read(void **state)
{
    (void)state;
    assert_says("hush\n", "hush");
    assert_says("hush", "hush");
    assert_says(" \thu sh \r\nmore\n", "hu sh");
    char *longest = malloc(4097);
    assert_non_null(longest);
    memset(longest, 'x', 4096);
    longest[4096] = '\0';
    assert_says(longest, longest);
    free(longest);
}

static void what_cannot_be_used_is_refused(void **state)
{
    char large[5000];
    (void)state;
    write_file("\nhush\n", 6, 0600);
    assert_refused("empty");
    write_file("", 0, 0600);
    assert_refused("empty");
    memset(large, 'x', sizeof(large));
    write_file(large, sizeof(large), 0600);
    assert_refused("more than 4096");
    write_file(large, 4097, 0600);
    assert_refused("more than 4096");
    static const mode_t modes[] = {0604, 0602, 0644, 0666, 0620};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        write_file("hush\n", 5, modes[i]);
        assert_refused("chmod 600");
    }
    /* A group may read what is root's, and only that. */
    write_file("hush\n", 5, 0640);
    if (geteuid() != 0) assert_refused("chmod 600");
}

static void what_is_no_file_is_refused(void **state)
{
    char *secret;
    rv_error error = {0};
    (void)state;
    assert_int_equal(rv_secret_read(&secret, "/tmp", &error), REEVE_EINVAL);
    assert_non_null(strstr(error.text, "neither a file nor a pipe"));
    assert_int_equal(rv_secret_read(&secret, "/nonexistent/x", &error), REEVE_EINVAL);
    assert_non_null(strstr(error.text, "/nonexistent/x"));
}

static void a_pipe_is_read(void **state)
{
    int ends[2];
    char name[32], *secret;
    rv_error error = {0};
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "hush\n", 5), 5);
    (void)snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
    assert_int_equal(rv_secret_read(&secret, name, &error), REEVE_OK);
    assert_string_equal(secret, "hush");
    rv_secret_free(secret);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* Every byte of a password comes through. */
static void a_password_comes_into_a_url(void **state)
{
    static const char password[] = "a:/@?#%\xc3\xa4 &+b";
    static const struct {
        const char *url, *user;
    } cases[] = {{"redis://host", NULL},
                 {"redis://bob@host:1/2", "bob"},
                 {"redis://bob:@host", "bob"},
                 {"redis://:@host", NULL},
                 {"unix:///path.sock?db=1", NULL},
                 {"redis-cluster://h1,h2", NULL},
                 {"redis-sentinel://u:@h1,h2/m", "u"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *url;
        rv_error error = {0};
        rv_url parsed;
        assert_int_equal(rv_secret_in_url(&url, cases[i].url, password, &error), REEVE_OK);
        assert_int_equal(rv_url_parse(&parsed, url, &error), REEVE_OK);
        assert_string_equal(parsed.password, password);
        if (cases[i].user != NULL)
            assert_string_equal(parsed.user, cases[i].user);
        else
            assert_null(parsed.user);
        rv_url_fini(&parsed);
        rv_secret_free(url);
    }
}

static void a_url_that_takes_none_is_refused(void **state)
{
    static const char *const urls[] = {"embedded:", "embedded:/dir", "redis://:pw@host", "redis://u:pw@host", ""};
    (void)state;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        char *url;
        rv_error error = {0};
        assert_int_equal(rv_secret_in_url(&url, urls[i], "hush", &error), REEVE_EURL);
        assert_null(strstr(error.text, "hush"));
        assert_null(strstr(error.text, "pw"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_line_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_used_is_refused, set_up, tear_down),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_pipe_is_read),
        cmocka_unit_test(a_password_comes_into_a_url),
        cmocka_unit_test(a_url_that_takes_none_is_refused),
    };

    return cmocka_run_group_tests_name("ut_secret", tests, NULL, NULL);
}

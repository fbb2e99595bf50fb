/* Looking hosts up with a deadline. This program's getaddrinfo is a resolver that hangs until it is told to answer. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "redis/lookup.h"
#include "redis/transport.h"
#include "support/cmocka.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool answers;
static unsigned asked, answered;

static struct addrinfo *make_address(void)
{
    struct addrinfo *made = calloc(1, sizeof(*made));
    assert_non_null(made);
    made->ai_family = AF_INET;
    return made;
}

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **ret)
{
    (void)port;
    bool figures = strspn(host, "0123456789.") == strlen(host);
    if (hints->ai_flags & AI_NUMERICHOST) {
        if (!figures) return EAI_NONAME;
        *ret = make_address();
        return 0;
    }
    pthread_mutex_lock(&lock);
    asked++;
    pthread_cond_broadcast(&changed);
    while (!answers) pthread_cond_wait(&changed, &lock);
    answered++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (strcmp(host, "unknown") == 0) return EAI_AGAIN;
    *ret = make_address();
    return 0;
}

void freeaddrinfo(struct addrinfo *made)
{
    free(made);
}

static void set_answers(bool answer)
{
    pthread_mutex_lock(&lock);
    answers = answer;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* So many have been asked for, and answered. */
static void await_counts(unsigned some_asked, unsigned some_answered)
{
    pthread_mutex_lock(&lock);
    while (asked < some_asked || answered < some_answered) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static int set_up(void **state)
{
    (void)state;
    set_answers(false);
    asked = answered = 0;
    return 0;
}

static reeve_status look_up(const char *host, int64_t ms, const rv_waker *waker, const rv_waker *quit, rv_error *error)
{
    rv_lookup *lookup;
    reeve_status status = rv_lookup_host(&lookup, host, 6379, rv_deadline(ms), waker, quit, error);
    if (status != REEVE_OK) return status;
    assert_non_null(rv_lookup_addresses(lookup));
    rv_lookup_release(lookup);
    return status;
}

static void an_address_in_figures_needs_no_resolver(void **state)
{
    (void)state;
    rv_error error = {0};
    assert_int_equal(look_up("127.0.0.1", 0, NULL, NULL, &error), REEVE_OK);
    assert_int_equal(asked, 0);
}

static void a_resolver_that_hangs_is_given_up_and_asked_once(void **state)
{
    (void)state;
    rv_error error = {0};
    int64_t begin = rv_now_ms();
    for (int i = 0; i < 5; i++) {
        assert_int_equal(look_up("slow", 30, NULL, NULL, &error), REEVE_ECONNECT);
        assert_non_null(strstr(error.text, "in time"));
    }
    assert_in_range(rv_now_ms() - begin, 150, 20000);
    await_counts(1, 0);
    assert_int_equal(asked, 1);
    set_answers(true);
    await_counts(1, 1);
    assert_int_equal(look_up("slow", 20000, NULL, NULL, &error), REEVE_OK); /* (that answer, or another one) */
}

static void what_cannot_be_looked_up_says_why(void **state)
{
    (void)state;
    rv_error error = {0};
    set_answers(true);
    assert_int_equal(look_up("unknown", 20000, NULL, NULL, &error), REEVE_ECONNECT);
    assert_non_null(strstr(error.text, "cannot be looked up: "));
}

static void bells_end_the_wait(void **state)
{
    (void)state;
    rv_error error = {0};
    rv_waker bell;
    assert_int_equal(rv_waker_init(&bell, &error), REEVE_OK);
    rv_waker_ring(&bell);
    assert_int_equal(look_up("slow2", 60000, &bell, NULL, &error), REEVE_EINTERRUPTED);
    assert_int_equal(look_up("slow2", 60000, NULL, &bell, &error), REEVE_ECONNECT);
    set_answers(true);
    await_counts(1, 1);
    rv_waker_fini(&bell);
}

static void a_connection_is_not_held_up_by_a_resolver(void **state)
{
    (void)state;
    rv_error error = {0};
    rv_transport transport;
    const rv_address address = {.host = "slow3", .port = 6379};
    rv_transport_init(&transport, NULL);
    int64_t begin = rv_now_ms();
    assert_int_equal(rv_transport_open(&transport, &address, rv_deadline(100), NULL, &error), REEVE_ECONNECT);
    assert_in_range(rv_now_ms() - begin, 90, 20000);
    set_answers(true);
    await_counts(1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_address_in_figures_needs_no_resolver, set_up),
        cmocka_unit_test_setup(a_resolver_that_hangs_is_given_up_and_asked_once, set_up),
        cmocka_unit_test_setup(what_cannot_be_looked_up_says_why, set_up),
        cmocka_unit_test_setup(bells_end_the_wait, set_up),
        cmocka_unit_test_setup(a_connection_is_not_held_up_by_a_resolver, set_up),
    };
    return cmocka_run_group_tests_name("ut_lookup", tests, NULL, NULL);
}

/* The bell: it stays rung until it is silenced, and may be rung anywhere. */
#include "redis/waker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/cmocka.h"

static void stays_rung(void **state)
{
    (void)state;
    rv_waker waker;
    assert_int_equal(rv_waker_init(&waker, NULL), REEVE_OK);
    assert_int_equal(fcntl(waker.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_false(rv_waker_wait(&waker, 0));
    rv_waker_silence(&waker); /* silent already */
    rv_waker_ring(&waker);
    rv_waker_ring(&waker);
    assert_true(rv_waker_wait(&waker, 0));
    assert_true(rv_waker_wait(&waker, RV_FOREVER));
    rv_waker_silence(&waker);
    assert_false(rv_waker_wait(&waker, 0));
    rv_waker_fini(&waker);
    rv_waker_fini(&waker);
}

static void waits_until_the_deadline(void **state)
{
    (void)state;
    rv_waker waker;
    assert_int_equal(rv_waker_init(&waker, NULL), REEVE_OK);
    int64_t deadline = rv_deadline(30);
    assert_false(rv_waker_wait(&waker, deadline));
    assert_true(rv_now_ms() >= deadline);
    rv_waker_fini(&waker);
}

static void *ring(void *context)
{
    rv_waker_ring(context);
    return NULL;
}

static void is_heard_across_threads(void **state)
{
    (void)state;
    rv_waker waker;
    pthread_t thread;
    assert_int_equal(rv_waker_init(&waker, NULL), REEVE_OK);
    assert_int_equal(pthread_create(&thread, NULL, ring, &waker), 0);
    assert_true(rv_waker_wait(&waker, RV_FOREVER));
    pthread_join(thread, NULL);
    rv_waker_fini(&waker);
}

static rv_waker signalled;

static void on_signal(int number)
{
    (void)number;
    errno = 4711;
    rv_waker_ring(&signalled);
    if (errno != 4711) _exit(1);
    errno = 0;
}

/* Also when it cannot be rung any louder, and write(2) fails. */
static void can_be_rung_in_a_signal_handler(void **state)
{
    (void)state;
    const uint64_t max = UINT64_MAX - 1;
    assert_int_equal(rv_waker_init(&signalled, NULL), REEVE_OK);
    void (*before)(int) = signal(SIGUSR1, on_signal);
    assert_int_equal(write(signalled.fd, &max, sizeof(max)), sizeof(max));
    assert_int_equal(raise(SIGUSR1), 0);
    assert_true(rv_waker_wait(&signalled, 0));
    rv_waker_silence(&signalled);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_true(rv_waker_wait(&signalled, 0));
    signal(SIGUSR1, before);
    rv_waker_fini(&signalled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_rung),
        cmocka_unit_test(waits_until_the_deadline),
        cmocka_unit_test(is_heard_across_threads),
        cmocka_unit_test(can_be_rung_in_a_signal_handler),
    };
    return cmocka_run_group_tests_name("ut_waker", tests, NULL, NULL);
}

/* Large payloads and results through a worker, byte for byte; and how often a payload is copied on its way, to its
 * handler and from its producer. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "redis/reply_reader.h"
#include "support/worker.h"

#define MIB ((size_t)1024 * 1024)

/* ---- what is read from sockets, and where to; and where from it is written --------------------------------------- */

typedef struct read_place {
    const char *start;
    size_t length;
} read_place;

static _Thread_local read_place places[4096];
static _Thread_local size_t place_count;
static _Thread_local read_place lender; /* how much of these bytes was sent from here */
static _Thread_local size_t lent;

/* In place of the C library's: notes where the bytes went. */
ssize_t recv(int fd, void *data, size_t length, int flags)
{
    ssize_t got = recvfrom(fd, data, length, flags, NULL, NULL);
    if (got > 0 && place_count < sizeof(places) / sizeof(places[0]))
        places[place_count++] = (read_place){data, (size_t)got};
    return got;
}

ssize_t send(int fd, const void *data, size_t length, int flags)
{
    ssize_t put = sendto(fd, data, length, flags, NULL, 0);
    uintptr_t first = (uintptr_t)lender.start, at = (uintptr_t)data;
    if (put > 0 && at >= first && at - first < lender.length) lent += (size_t)put;
    return put;
}

/* How many of these bytes this thread read right there. */
static size_t read_there(reeve_bytes bytes)
{
    uintptr_t first = (uintptr_t)bytes.data, last = first + bytes.length;
    size_t sum = 0;
    for (size_t i = 0; i < place_count; i++) {
        uintptr_t from = (uintptr_t)places[i].start, to = from + places[i].length;
        if (from < first) from = first;
        if (to > last) to = last;
        if (from < to) sum += to - from;
    }
    return sum;
}

/* ---- handlers ---------------------------------------------------------------------------------------------------- */

/* A payload is made from its id and its length alone: noise, repeated with a number before each time. (64 MiB of noise
 * would take minutes under valgrind.) */
static void make_payload(char *data, size_t length, const char *id)
{
    char noise[4099];
    unsigned seed = 2166136261u;
    for (; *id; id++) seed = (seed ^ (unsigned char)*id) * 16777619u;
    for (size_t i = 0; i < sizeof(noise); i++) {
        seed = seed * 1664525u + 1013904223u;
        noise[i] = (char)(seed >> 24);
    }
    for (size_t at = 0; at < length; at += sizeof(noise)) {
        size_t size = length - at < sizeof(noise) ? length - at : sizeof(noise);
        memcpy(noise, &at, sizeof(at));
        memcpy(data + at, noise, size);
    }
}

static atomic_ulong wrong, ran;
static atomic_size_t direct; /* the bytes of the last payload that were read to their place */

static reeve_outcome run_check(reeve_task *task, void *user)
{
    (void)user;
    reeve_bytes payload = reeve_task_payload(task);
    atomic_store(&direct, read_there(payload));
    place_count = 0;
    char *wanted = malloc(payload.length + 1);
    TEST_MUST(wanted != NULL);
    make_payload(wanted, payload.length, reeve_task_id(task));
    /* A zero byte follows it. */
    if (memcmp(wanted, payload.data, payload.length) != 0 || ((const char *)payload.data)[payload.length] != '\0')
        atomic_fetch_add(&wrong, 1);
    free(wanted);
    atomic_fetch_add(&ran, 1);
    bool fits = payload.length <= REEVE_RESULT_MAX;
    return reeve_task_done(task, fits ? payload.data : "whole", fits ? payload.length : 5);
}

static int set_up(void **state)
{
    atomic_store(&wrong, 0);
    atomic_store(&ran, 0);
    atomic_store(&direct, 0);
    return test_place_empty(state);
}

static reeve_worker *start_worker(unsigned threads, unsigned batch)
{
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "check", run_check, NULL), REEVE_OK);
    test_worker_pool(worker, "q", threads, batch);
    test_worker_start(worker);
    return worker;
}

static void put(const char *id, size_t length)
{
    char *payload = malloc(length + 1);
    assert_non_null(payload);
    make_payload(payload, length, id);
    test_put_spec((reeve_task_spec){.id = id, .type = "check", .payload = {payload, length}});
    free(payload);
}

/* Waits for it, and compares its result with what it was given. */
static void await(const char *id, size_t length)
{
    reeve_task_info *info;
    test_ok(test_client, reeve_wait(test_client, "q", id, 240000, &info));
    assert_int_equal(info->state, REEVE_STATE_COMPLETED);
    if (length <= REEVE_RESULT_MAX) {
        char *wanted = malloc(length + 1);
        assert_non_null(wanted);
        make_payload(wanted, length, id);
        assert_int_equal(info->result.length, length);
        assert_int_equal(memcmp(info->result.data, wanted, length), 0);
        free(wanted);
    } else {
        assert_int_equal(info->result.length, 5);
    }
    reeve_task_info_free(info);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void byte_for_byte(void **state)
{
    (void)state;
    static const size_t lengths[] = {RV_PLACED_MIN - 200, RV_PLACED_MIN,    MIB - 1, MIB, MIB + 1,
                                     REEVE_RESULT_MAX,    REEVE_PAYLOAD_MAX};
    enum { COUNT = sizeof(lengths) / sizeof(lengths[0]) };
    const char *max = getenv("REEVE_TEST_LARGEST"); /* (they are in order) */
    size_t count = 0;
    char id[COUNT][16];
    for (; count < COUNT && (max == NULL || lengths[count] <= strtoul(max, NULL, 10)); count++) {
        (void)snprintf(id[count], sizeof(id[count]), "w%zu", count);
        put(id[count], lengths[count]);
    }
    assert_true(count >= 5);
    reeve_worker *worker = start_worker(2, 4);
    for (size_t i = 0; i < count; i++) await(id[i], lengths[i]);
    test_worker_end(worker);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(atomic_load(&ran), count);
}

/* All sizes around where a value begins to have its place, in batches. */
static void around_the_limit(void **state)
{
    (void)state;
    enum { COUNT = 150 };
    char id[16];
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(id, sizeof(id), "a%zu", i);
        put(id, RV_PLACED_MIN - 120 + i);
    }
    reeve_worker *worker = start_worker(2, 16);
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(id, sizeof(id), "a%zu", i);
        await(id, RV_PLACED_MIN - 120 + i);
    }
    test_worker_end(worker);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(atomic_load(&ran), COUNT);
}

/*
 * What a read from the socket put where the handler finds it was copied once; the rest twice more at most. That is what
 * came with the value's length in one read, and an end of less than RV_PLACED_MIN.
 */
static void check_copies(const char *how)
{
    size_t there = atomic_load(&direct);
    print_message("a payload of 1 MiB, %s: %.1f %% of it read to where its handler finds it\n", how,
                  100.0 * (double)there / (double)MIB);
    assert_true(there >= MIB - 32 * 1024 - RV_PLACED_MIN);
    assert_true(there <= MIB);
}

static void one_copy_when_it_waited(void **state)
{
    (void)state;
    put("w", MIB);
    reeve_worker *worker = start_worker(1, 1);
    await("w", MIB);
    check_copies("that waited");
    test_worker_end(worker);
}

static void one_copy_when_it_is_handed_over(void **state)
{
    (void)state;
    reeve_worker *worker = start_worker(1, 1);
    put("first", 1); /* (with it the session begins; an idle thread of that session is handed the next) */
    await("first", 1);
    TEST_AWAIT(test_number("LLEN reeve:{q}:idle") == 1);
    put("h", MIB);
    await("h", MIB);
    check_copies("handed over");
    test_worker_end(worker);
}

/* ---- from the producer ------------------------------------------------------------------------------------------- */

static void sent_from_where_it_is(void **state)
{
    (void)state;
    char *payload = malloc(MIB);
    assert_non_null(payload);
    make_payload(payload, MIB, "s");
    lender = (read_place){payload, MIB};
    lent = 0;
    (void)test_cmd(test_conn, "SCRIPT FLUSH"); /* (so that it is sent twice) */
    test_put_spec((reeve_task_spec){.id = "s", .type = "check", .payload = {payload, MIB}});
    assert_int_equal(lent, 2 * MIB);
    lent = 0;
    test_ok(test_client, reeve_delete(test_client, "q", "s"));
    test_put_spec((reeve_task_spec){.id = "s", .type = "check", .payload = {payload, MIB}});
    assert_int_equal(lent, MIB);
    lender = (read_place){0};
    free(payload);
    reeve_worker *worker = start_worker(1, 1);
    await("s", MIB);
    test_worker_end(worker);
    assert_int_equal(atomic_load(&wrong), 0);
}

/* Long and short ones in one call, before and after Redis forgot the script and the connection was lost. */
static void many_in_a_call(void **state)
{
    (void)state;
    enum { EACH = 12, COUNT = 3 * EACH };
    static const size_t lengths[] = {100, 64 * 1024 - 1, 64 * 1024, 300000};
    static char ids[COUNT][16];
    static reeve_task_spec specs[EACH];
    reeve_enqueued results[EACH];
    for (size_t round = 0; round < 3; round++) {
        char *payloads[EACH];
        for (size_t i = 0; i < EACH; i++) {
            size_t length = lengths[i % 4];
            char *id = ids[round * EACH + i];
            (void)snprintf(id, sizeof(ids[0]), "m%zu-%zu", round, i);
            payloads[i] = malloc(length);
            assert_non_null(payloads[i]);
            make_payload(payloads[i], length, id);
            specs[i] = (reeve_task_spec){.queue = "q", .id = id, .type = "check", .payload = {payloads[i], length}};
        }
        if (round == 1) (void)test_cmd(test_conn, "SCRIPT FLUSH");
        if (round == 2) test_kill_connections();
        test_ok(test_client, reeve_enqueue_many(test_client, specs, EACH, results));
        for (size_t i = 0; i < EACH; i++) free(payloads[i]);
    }
    reeve_worker *worker = start_worker(2, 4);
    for (size_t i = 0; i < COUNT; i++) await(ids[i], lengths[i % EACH % 4]);
    test_worker_end(worker);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(atomic_load(&ran), COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(byte_for_byte, set_up),
        cmocka_unit_test_setup(around_the_limit, set_up),
        cmocka_unit_test_setup(one_copy_when_it_waited, set_up),
        cmocka_unit_test_setup(one_copy_when_it_is_handed_over, set_up),
        cmocka_unit_test_setup(sent_from_where_it_is, set_up),
        cmocka_unit_test_setup(many_in_a_call, set_up),
    };
    return cmocka_run_group_tests_name("ct_payload", tests, test_place_start, test_place_stop);
}

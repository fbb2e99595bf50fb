/* Operations of the dashboard's server: the list of them, while the thread of one that has ended is still under way. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/queue.h"
#include "web/web.h"
#include "web/web_audit.h"
#include "web/web_clients.h"
#include "web/web_operations.h"

#define LISTED 50 /* of the server */
#define HANG_S 60 /* a test that hangs ends */

static web_server web;
static char *answer;

/* ---- the log of actions, in which each operation writes its end: these take the place of the server's own ------ */

static sem_t held, let_go;
static atomic_bool holds; /* the next thread that writes an end is held there */

void web_audit(const web_call *call)
{
    (void)call;
}

void web_audit_words(const char *user, const char *action, const char *what, const char *outcome)
{
    (void)user;
    (void)action;
    (void)what;
    (void)outcome;
    if (!atomic_exchange(&holds, false)) return;
    (void)sem_post(&held);
    while (sem_wait(&let_go) != 0) continue;
}

static void wait_for(sem_t *event)
{
    while (sem_wait(event) != 0) continue;
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

static web_role role = WEB_ADMIN; /* of whoever calls */
static unsigned status;           /* of the answer before */

/* Runs the function of a route. */
static const char *run(void (*route)(web_call *call), const char *parameter, const char *body)
{
    rv_http_request request = {.status = 200, .path = "", .method = "POST"};
    web_call call = {.web = &web, .http = &request, .who = {.name = "ann", .role = role}};
    size_t length;

    free(answer);
    answer = NULL;
    (void)snprintf(call.params.value[0], sizeof(call.params.value[0]), "%s", parameter);
    call.params.count = 1;
    call.body = body == NULL ? NULL : cJSON_Parse(body);
    call.out = open_memstream(&answer, &length);
    route(&call);
    (void)fclose(call.out);
    cJSON_Delete(call.body);
    status = request.status;
    return answer;
}

static const char *begin_one(void)
{
    return run(web_run_operate, "q", "{\"action\":\"retry\",\"filter\":{\"state\":\"dead\"}}");
}

static bool is_in(unsigned number, const char *phase)
{
    char parameter[16], text[64];

    (void)snprintf(parameter, sizeof(parameter), "%u", number);
    (void)snprintf(text, sizeof(text), "\"operation\":%u,\"phase\":\"%s\"", number, phase);
    return strstr(run(web_run_operation, parameter, NULL), text) != NULL;
}

static void finish(unsigned number)
{
    while (!is_in(number, "done")) (void)usleep(200);
}

static int set_up(void **state)
{
    int failed = test_place_empty(state);

    web = (web_server){.options = {.redis = test_redis_url(test_redis), .ns = "reeve"}};
    web.clients = web_clients_open(&web);
    web.operations = web_operations_open(&web);
    (void)sem_init(&held, 0, 0);
    (void)sem_init(&let_go, 0, 0);
    (void)alarm(HANG_S);
    return failed != 0 || web.clients == NULL || web.operations == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    (void)alarm(0);
    free(answer);
    answer = NULL;
    return 0;
}

/* ---- the tests ------------------------------------------------------------------------------------------------- */

/* The list is full, and the thread of its oldest entry has told its end, but has not ended: the entry stays, and
 * another one makes room. (The new operation waited for that thread with the lock held, which it took once more.) */
static void an_end_that_is_told_before_its_thread_has_ended(void **state)
{
    (void)state;
    atomic_store(&holds, true);
    assert_non_null(strstr(begin_one(), "\"operation\":1,"));
    wait_for(&held);
    assert_true(is_in(1, "done"));
    for (unsigned i = 2; i <= LISTED; i++) {
        (void)begin_one();
        finish(i);
    }
    assert_true(is_in(1, "done"));
    assert_non_null(strstr(begin_one(), "\"operation\":51,"));
    assert_true(is_in(1, "done"));
    (void)sem_post(&let_go);
    web_operations_close(web.operations);
    web_clients_close(web.clients);
}

/* Who may not begin a deletion may not end that of an administrator either. */
static void a_deletion_is_cancelled_by_administrators(void **state)
{
    (void)state;
    (void)run(web_run_operate, "q", "{\"action\":\"delete\",\"filter\":{\"state\":\"dead\"},\"expected\":0}");
    finish(1);
    (void)begin_one();
    finish(2);
    role = WEB_OPERATOR;
    (void)run(web_run_operation_cancel, "1", NULL);
    assert_int_equal(status, 403);
    (void)run(web_run_operation, "1", NULL);
    assert_int_equal(status, 200);
    (void)run(web_run_operation_cancel, "2", NULL);
    assert_int_equal(status, 200);
    role = WEB_ADMIN;
    (void)run(web_run_operation_cancel, "1", NULL);
    assert_int_equal(status, 200);
    web_operations_close(web.operations);
    web_clients_close(web.clients);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_end_that_is_told_before_its_thread_has_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_deletion_is_cancelled_by_administrators, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("ct_web_operations", tests, test_place_start, test_place_stop);
}

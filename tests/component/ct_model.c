/*
 * The protocol against a model of it: random sequences of operations, with a clock that is moved, replies that are lost
 * and sessions that die, are carried out by the scripts and by the model, and after each step all that is in Redis is
 * compared (tests/model/model.h). A failure prints its seed and the shortest list that was found to fail.
 *
 *     REEVE_TEST_SEED    the first sequence's number (1 when not set, so that each run is the same), the following ones
 *                        count up; or "random", to hunt: the number is printed
 *     REEVE_TEST_ROUNDS  how many sequences
 *     REEVE_TEST_COVER   set: how often each transition happened is printed
 *     REEVE_TEST_SHRINK_MS  for how long a list that fails is shrunk; 20000 when not set
 *     REEVE_TEST_CHECK   set: the data are checked (reeve_check) after each step
 *     REEVE_TEST_FIND    a transition's words: prints the shortest list that leads to it, as if it were a failure
 */
#include <stdlib.h>

#include "model/model.h"
#include "support/queue.h"

#define ROUNDS 400

static void lists_do_what_the_model_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < model_path_count; i++) model_replay(&model_paths[i]);
    for (size_t i = 0; i < model_path_alone_count; i++) model_replay(&model_paths_alone[i]);
}

static bool done;

static void scripts_do_what_the_model_says(void **state)
{
    (void)state;
    model_rounds(ROUNDS);
    done = true;
}

/* Of the sequences above; few of them may well miss something. */
static void every_transition_happened(void **state)
{
    (void)state;
    if (!done) skip();
    if (getenv("REEVE_TEST_COVER")) model_show_cover();
    if (getenv("REEVE_TEST_ROUNDS")) return;
    model_show_missing();
    assert_true(model_covered_all());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_do_what_the_model_says),
        cmocka_unit_test(scripts_do_what_the_model_says),
        cmocka_unit_test(every_transition_happened),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_model", tests, test_place_start, test_place_stop);
}

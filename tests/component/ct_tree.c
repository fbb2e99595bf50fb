/* The tree of a task: its parents and children, to any depth, up to a limit. */
#include <stdio.h>

#include "support/depend.h"

static reeve_tree_task **tree;
static size_t tree_count;
static uint64_t tree_more;

/* The tree as text: for each task its depth, "^" a parent or "v" a child, and its id; "*" repeated, "?" gone, "+n" left out. */
static const char *tree_of(const char *queue, const char *id, size_t limit)
{
    static char text[4000];
    size_t at = 0;
    test_ok(test_client, reeve_tree_get(test_client, queue, id, limit, &tree, &tree_count, &tree_more));
    for (size_t i = 0; i < tree_count; i++) {
        const reeve_tree_task *task = tree[i];
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u%s%s%s%s", i > 0 ? " " : "", task->depth,
                               task->side == REEVE_TREE_PARENT  ? "^"
                               : task->side == REEVE_TREE_CHILD ? "v"
                                                                : "",
                               task->handle, task->repeated ? "*" : "", task->type == NULL ? "?" : "");
        if (task->more > 0) at += (size_t)snprintf(text + at, sizeof(text) - at, "+%d", (int)task->more);
    }
    reeve_tree_free(tree, tree_count);
    return text;
}

static void parents_and_children(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a f:q/b");
    test_put_after("q", "d", "f:q/c");
    test_put_after("other", "e", "f:q/c f:q/a");
    assert_string_equal(tree_of("q", "c", 0), "0q/c 1^q/a 1^q/b 1vq/d 1vother/e");
    assert_string_equal(tree_of("other", "e", 0), "0other/e 1^q/c 2^q/a* 2^q/b 1^q/a");
    assert_string_equal(tree_of("q", "a", 0), "0q/a 1vq/c 2vq/d 2vother/e* 1vother/e");
    assert_int_equal(tree_more, 0);
}

static void what_has_ended(void **state)
{
    (void)state;
    test_put("q", "a z");
    test_put_after("q", "b", "g:q/a fg:q/never f:q/z");
    test_complete("q", "a");
    assert_string_equal(tree_of("q", "b", 0), "0q/b 1^q/a 1^q/never? 1^q/z");
    test_ok(test_client, reeve_tree_get(test_client, "q", "b", 0, &tree, &tree_count, NULL));
    assert_string_equal(tree[1]->ended, "completed");
    assert_string_equal(tree[1]->on_death, "go");
    assert_int_equal(tree[1]->state, REEVE_STATE_COMPLETED);
    assert_string_equal(tree[2]->ended, "completed");
    assert_null(tree[3]->ended);
    reeve_tree_free(tree, tree_count);
}

static void a_circle_ends(void **state)
{
    (void)state;
    const reeve_parent b = {.handle = "q/b"};
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_ok(test_client, reeve_add_dependency(test_client, "q", "a", &b, 1));
    assert_string_equal(tree_of("q", "a", 0), "0q/a 1^q/b 2^q/a* 1vq/b 2vq/a*");
}

static void a_limit_keeps_what_is_near(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a f:q/b");
    test_put_after("q", "d", "f:q/c");
    test_put_after("q", "e", "f:q/d f:q/c");
    assert_string_equal(tree_of("q", "e", 4), "0q/e 1^q/d 2^q/c* 1^q/c+2");
    assert_int_equal(tree_more, 2);
    assert_string_equal(tree_of("q", "e", 1), "0q/e+2");
    for (int i = 0; i < 150; i++) {
        char id[8];
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_put_after("q", id, "f:q/a");
    }
    test_ok(test_client, reeve_tree_get(test_client, "q", "a", REEVE_TREE_MAX, &tree, &tree_count, &tree_more));
    assert_int_equal(tree[0]->more, 51);
    reeve_tree_free(tree, tree_count);
}

static void refusals(void **state)
{
    (void)state;
    test_refused(test_client, reeve_tree_get(test_client, "q", "a", 0, &tree, &tree_count, NULL), REEVE_ENOTFOUND,
                 "q/a");
    test_refused(test_client, reeve_tree_get(test_client, "q", "a b", 0, &tree, &tree_count, NULL), REEVE_EINVAL, "");
    test_refused(test_client, reeve_tree_get(test_client, "q q", "a", 0, &tree, &tree_count, NULL), REEVE_EINVAL, "");
    test_refused(test_client, reeve_tree_get(test_client, "q", "a", 1001, &tree, &tree_count, NULL), REEVE_EINVAL,
                 "1001");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(parents_and_children, test_place_empty),
        cmocka_unit_test_setup(what_has_ended, test_place_empty),
        cmocka_unit_test_setup(a_circle_ends, test_place_empty),
        cmocka_unit_test_setup(a_limit_keeps_what_is_near, test_place_empty),
        cmocka_unit_test_setup(refusals, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_tree", tests, test_place_start, test_place_stop);
}

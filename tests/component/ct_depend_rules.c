/* A child whose parents have the rule "death" beside other rules: each parent's own rule applies to its end. */
#include <stddef.h>

#include "support/depend.h"
#include "support/queue.h"

typedef struct rules_case {
    const char *parents; /* x death, f fail, g go, w wait */
    const char *ends;    /* "+" completes, "-" dies, one after the other */
    const char *state;   /* of the child then; "": it was deleted */
} rules_case;

static const rules_case cases[] = {
    {"x:q/a f:q/b", "+a +b", ""},      {"x:q/a f:q/b", "+b +a", ""},        {"x:q/a f:q/b", "-a", "ready"},
    {"x:q/a f:q/b", "-b", "dead"},     {"x:q/a f:q/b", "+a -b", "dead"},    {"x:q/a f:q/b", "+b -a", "ready"},
    {"x:q/a g:q/b", "-b +a", ""},      {"x:q/a g:q/b", "-b -a", "ready"},   {"x:q/a w:q/b", "-b", "blocked"},
    {"x:q/a w:q/b", "-b -a", "ready"}, {"x:q/a w:q/b", "-b +a", "blocked"}, {"f:q/b x:q/a", "+b +a", ""},
};

static void end_parents(const char *ends)
{
    for (const char *at = ends; *at != '\0'; at++) {
        char id[2] = {at[1], '\0'};
        if (*at == '+') test_complete("q", id);
        if (*at == '-') test_kill("q", id);
        if (*at != ' ') at++;
    }
    test_settle_queues("p q");
}

/* The child is in this queue, and has its parents from the start or gets them later. */
static void try_case(const rules_case *one, const char *queue, bool later)
{
    (void)test_place_empty(NULL);
    if (later) test_put("q", "z");
    test_put("q", one->ends[1] == 'a' ? "a b" : "b a");
    test_put_after(queue, "d", later ? "f:q/z" : one->parents);
    if (later) test_add_edges(queue, "d", one->parents);
    if (later) test_complete("q", "z");
    test_settle_queues("p q");
    end_parents(one->ends);
    test_state_is(queue, "d", one->state);
}

static void each_rule_applies_to_its_parent(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        try_case(&cases[i], "q", false);
        try_case(&cases[i], "p", false);
        try_case(&cases[i], "q", true);
    }
}

/* Of parents that had died before, the first in the list decides. */
static void the_first_of_dead_parents_decides(void **state)
{
    (void)state;
    test_put("q", "a b");
    end_parents("-a -b");
    test_put_after("q", "c", "x:q/a f:q/b");
    test_put_after("q", "d", "f:q/b x:q/a");
    test_settle_queues("q");
    test_state_is("q", "c", "ready");
    test_state_is("q", "d", "dead");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_rule_applies_to_its_parent, test_place_empty),
        cmocka_unit_test_setup(the_first_of_dead_parents_decides, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_depend_rules", tests, test_place_start, test_place_stop);
}

/* Hash slots of keys, and the slots that commands go to. */
#include "redis/slots.h"

#include <stdio.h>
#include <string.h>

#include "redis/route.h"
#include "support/cmocka.h"

static unsigned slot_of(const char *key)
{
    return rv_slots_of(key, strlen(key));
}

/* From the specification of Redis Cluster, and from CLUSTER KEYSLOT. */
static void known_keys(void **state)
{
    (void)state;
    assert_int_equal(slot_of("123456789"), 0x31C3);
    assert_int_equal(slot_of("foo"), 12182);
    assert_int_equal(slot_of("bar"), 5061);
    assert_int_equal(slot_of(""), 0);
    assert_int_equal(rv_slots_of(NULL, 0), 0);
}

static void the_hash_tag_counts(void **state)
{
    (void)state;
    assert_int_equal(slot_of("{user1000}.following"), slot_of("user1000"));
    assert_int_equal(slot_of("{user1000}.following"), 3443);
    assert_int_equal(slot_of("foo{{bar}}zap"), slot_of("{bar"));
    assert_int_equal(slot_of("foo{bar}{zap}"), slot_of("bar"));
    assert_int_not_equal(slot_of("foo{}{bar}"), slot_of("bar"));
    assert_int_equal(slot_of("reeve:{mail}:tasks"), slot_of("mail"));
    assert_true(rv_slots_has_tag("a{b}", 4));
    assert_false(rv_slots_has_tag("a{}b", 4));
    assert_false(rv_slots_has_tag("a{b", 3));
    assert_false(rv_slots_has_tag("a}b{", 4));
}

/* Words of a command, with blanks between them. */
static void add(rv_commands *commands, const char *text)
{
    char copy[256], *rest = NULL;
    size_t count = 1;
    (void)snprintf(copy, sizeof(copy), "%s", text);
    for (const char *at = text; *at != '\0'; at++) count += *at == ' ';
    rv_command_begin(commands, count, NULL);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        rv_command_adds(commands, word);
}

static int route(const char *text)
{
    int slot;
    rv_commands commands;
    rv_command_init(&commands);
    add(&commands, text);
    rv_route_all(&commands, &slot);
    rv_command_fini(&commands);
    return slot;
}

static void commands_go_to_the_slot_of_their_key(void **state)
{
    (void)state;
    const int q = (int)slot_of("q");
    assert_int_equal(route("GET r:{q}:a"), q);
    assert_int_equal(route("EVALSHA 0123 1 r:{q}: x"), q);
    assert_int_equal(route("EVAL return 1 r:{q}: x"), q);
    assert_int_equal(route("XREAD COUNT 10 BLOCK 5 STREAMS r:{q}:events $"), q);
    assert_int_equal(route("BLPOP r:{q}:wake 0"), q);
    assert_int_equal(route("MEMORY USAGE r:{q}:tasks"), q);
    assert_int_equal(route("SUBSCRIBE r:{q}:done:1"), q);
    assert_int_equal(route("SUBSCRIBE r:control"), RV_ROUTE_ALL);
    assert_int_equal(route("SMEMBERS r:queues"), slot_of("r:queues"));
    assert_int_equal(route("TIME"), RV_ROUTE_ANY);
    assert_int_equal(route("CONFIG GET maxmemory"), RV_ROUTE_ANY);
    assert_int_equal(route("XREAD COUNT 10"), RV_ROUTE_ANY);
}

static void a_command_without_a_key_goes_with_its_neighbour(void **state)
{
    (void)state;
    static const char *const texts[] = {"GET {a}",    "TIME", "GET {b}", "WATCH {c}1",         "MULTI",
                                        "SET {c}2 x", "EXEC", "TIME",    "EVALSHA 1 1 {d}: x", "TIME"};
    const char *const tags[] = {"a", "b", "b", "c", "c", "c", "c", "d", "d", "d"};
    const bool in[] = {false, false, false, false, true, true, true, false, false, false};
    int slots[10];
    bool marks[10];
    rv_commands commands;
    rv_command_init(&commands);
    for (size_t i = 0; i < 10; i++) add(&commands, texts[i]);
    rv_route_all(&commands, slots);
    rv_route_mark_transactions(&commands, marks);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(slots[i], slot_of(tags[i]));
        assert_int_equal(marks[i], in[i]);
    }
    rv_command_fini(&commands);
}

static void wait_goes_with_what_was_written_before(void **state)
{
    (void)state;
    int slots[3];
    rv_commands commands;
    rv_command_init(&commands);
    add(&commands, "SET {a} x");
    add(&commands, "WAIT 1 100");
    add(&commands, "SET {b} x");
    rv_route_all(&commands, slots);
    assert_int_equal(slots[1], slot_of("a"));
    assert_true(rv_route_is_wait(&commands, 1));
    assert_false(rv_route_is_wait(&commands, 0));
    rv_command_fini(&commands);
}

/* Lent bytes are not in the buffer, and stand behind the key. */
static void lent_arguments_do_not_hide_the_key(void **state)
{
    (void)state;
    static char lent[RV_LENT_MIN + 1];
    int slots[2];
    rv_commands commands, copy;
    rv_command_init(&commands);
    rv_command_init(&copy);
    rv_command_begin(&commands, 4, NULL);
    rv_command_adds(&commands, "HSET");
    rv_command_adds(&commands, "{a}x");
    rv_command_adds(&commands, "id");
    rv_command_lend2(&commands, "", 0, lent, sizeof(lent));
    add(&commands, "GET {b}");
    rv_route_all(&commands, slots);
    assert_int_equal(slots[0], slot_of("a"));
    assert_int_equal(slots[1], slot_of("b"));
    rv_command_forward(&copy, &commands, 1);
    rv_command_forward(&copy, &commands, 0);
    assert_int_equal(copy.count, 2);
    assert_int_equal(copy.lent_count, 1);
    rv_route_all(&copy, slots);
    assert_int_equal(slots[0], slot_of("b"));
    assert_int_equal(slots[1], slot_of("a"));
    rv_command_fini(&commands);
    rv_command_fini(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_keys),
        cmocka_unit_test(the_hash_tag_counts),
        cmocka_unit_test(commands_go_to_the_slot_of_their_key),
        cmocka_unit_test(a_command_without_a_key_goes_with_its_neighbour),
        cmocka_unit_test(wait_goes_with_what_was_written_before),
        cmocka_unit_test(lent_arguments_do_not_hide_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

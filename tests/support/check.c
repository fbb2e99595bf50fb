#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reeve/check.h"
#include "support/queue.h"

enum { FOUND_MAX = 512, WORDS_MAX = 256 };

typedef struct found {
    char words[FOUND_MAX][WORDS_MAX];
    size_t count;
    const char *kind; /* all are of this kind; NULL: of any */
} found;

static void note(const reeve_finding *finding, void *context)
{
    found *all = context;
    assert_true(all->count < FOUND_MAX);
    if (all->kind != NULL) assert_string_equal(finding->kind, all->kind);
    assert_true(*finding->text != '\0' && *finding->why != '\0' && *finding->repair != '\0');
    assert_null(strchr(finding->text, '%'));
    if (getenv("REEVE_TEST_SHOW") != NULL)
        print_message("%s %s: %s\n", finding->repaired ? "repaired" : "found", finding->kind, finding->text);
    (void)snprintf(all->words[all->count++], WORDS_MAX, "%s %s", finding->kind, finding->subject);
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* How many were found; they are in `ret`, unless that is NULL. */
static size_t check(const char *queue, bool repair, const char *kind, char *ret, size_t size)
{
    static found all;
    reeve_checked checked;
    all = (found){.kind = kind};
    test_ok(test_client, reeve_check(test_client, queue, repair, note, NULL, &all, &checked));
    assert_int_equal(checked.findings, all.count);
    if (repair) assert_int_equal(checked.repaired, all.count);
    qsort(all.words, all.count, WORDS_MAX, compare);
    if (ret != NULL) ret[0] = '\0';
    for (size_t i = 0, length = 0; i < all.count && ret != NULL; i++)
        length += (size_t)snprintf(ret + length, size - length, "%s%s", i > 0 ? ", " : "", all.words[i]);
    return all.count;
}

void test_check_finds(const char *queue, const char *findings)
{
    static char text[65536];
    char before[65536];
    rv_copy_text(before, sizeof(before), test_digest());
    (void)check(queue, false, NULL, text, sizeof(text));
    assert_string_equal(text, findings);
    assert_string_equal(test_digest(), before);
}

void test_check_repairs(const char *queue, const char *findings)
{
    static char text[65536];
    (void)check(queue, true, NULL, text, sizeof(text));
    assert_string_equal(text, findings);
    test_check_finds(queue, "");
}

void test_check_finds_kind(const char *queue, const char *kind)
{
    assert_true(check(queue, false, kind, NULL, 0) > 0);
}

void test_check_repairs_kind(const char *queue, const char *kind)
{
    assert_true(check(queue, true, kind, NULL, 0) > 0);
    test_check_finds(queue, "");
}

void test_check_repairs_all(const char *queue)
{
    test_check_repairs_kind(queue, NULL);
}

void test_check_repairs_any(const char *queue)
{
    (void)check(queue, true, NULL, NULL, 0);
    test_check_finds(queue, "");
}

const char *test_check_key(const char *family, const char *session)
{
    static char key[128];
    (void)snprintf(key, sizeof(key), "reeve:{q}:%s:%s", family, session);
    return key;
}

void test_check_drains(const char *queue, size_t count)
{
    test_hand hand;
    size_t done = 0;
    test_hand_init(&hand, "9", queue);
    test_maintain_all(queue);
    while (test_lease(&hand, 1) > 0) {
        char id[REEVE_ID_MAX];
        rv_copy_text(id, sizeof(id), hand.leased[0].id);
        test_settle(&hand, {0, {.id = id, .outcome = REEVE_OUTCOME_DONE, .has_info = hand.leased[0].has_info}});
        assert_string_equal(hand.refused, "");
        done++;
        test_maintain_all(queue);
    }
    assert_int_equal(done, count);
    test_check_finds(queue, "");
}

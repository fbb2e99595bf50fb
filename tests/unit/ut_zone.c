/* Time zones by name: what is read from tzdata agrees with the C library, and what is no zone is refused with words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cron.h"
#include "base/tzif.h"
#include "base/zone.h"
#include "support/cmocka.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static rv_zone zone_of(const char *name)
{
    rv_zone zone = -1;
    rv_error error = {0};
    if (rv_zone_find(name, &zone, &error) != REEVE_OK) fail_msg("%s", error.text);
    return zone;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static void names(void **state)
{
    (void)state;
    assert_int_equal(zone_of("utc"), RV_ZONE_UTC);
    assert_int_equal(zone_of("UTC"), RV_ZONE_UTC);
    assert_int_equal(zone_of("Local"), RV_ZONE_LOCAL);
    rv_zone berlin = zone_of("Europe/Berlin"), paris = zone_of("Europe/Paris");
    assert_true(berlin != paris && berlin > RV_ZONE_LOCAL);
    assert_int_equal(zone_of("Europe/Berlin"), berlin);
    assert_string_equal(rv_zone_name(RV_ZONE_UTC), "utc");
    assert_string_equal(rv_zone_name(RV_ZONE_LOCAL), "local");
    assert_string_equal(rv_zone_name(berlin), "Europe/Berlin");
}

static void no_zones(void **state)
{
    (void)state;
    static const char *const bad[] = {"",        "ut", "utc ",      "+01:00",         "Europe/", "/etc/passwd",
                                      "../etc",  ".",  "Europe/..", "Europe/Nowhere", "Europe",  "tzdata.zi",
                                      "zone.tab"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        rv_error error = {0};
        rv_zone zone = 77;
        if (rv_zone_find(bad[i], &zone, &error) != REEVE_EINVAL) fail_msg("%s is a zone", bad[i]);
        assert_int_equal(zone, 77);
        assert_true(error.text[0] != '\0');
    }
    assert_int_equal(rv_zone_find(NULL, &(rv_zone){0}, NULL), REEVE_EINVAL);
}

static void without_tzdata(void **state)
{
    (void)state;
    rv_error error = {0};
    rv_zone zone;
    assert_int_equal(setenv("TZDIR", "/nonexistent/zoneinfo", 1), 0);
    assert_int_equal(rv_zone_find("Asia/Tokyo", &zone, &error), REEVE_EINVAL);
    assert_non_null(strstr(error.text, "needs tzdata"));
    assert_non_null(strstr(error.text, "/nonexistent/zoneinfo"));
    assert_int_equal(zone_of("utc"), RV_ZONE_UTC);
    assert_int_equal(unsetenv("TZDIR"), 0);
    (void)zone_of("Asia/Tokyo"); /* a failure is not kept */
}

/* ---- offsets ---------------------------------------------------------------------------------------------------- */

static const char *const all[] = {"Europe/Berlin",
                                  "Europe/Dublin",
                                  "Europe/London",
                                  "Europe/Moscow",
                                  "Europe/Istanbul",
                                  "America/New_York",
                                  "America/Sao_Paulo",
                                  "America/St_Johns",
                                  "America/Santiago",
                                  "America/Godthab",
                                  "America/Caracas",
                                  "Africa/Casablanca",
                                  "Africa/Cairo",
                                  "Asia/Gaza",
                                  "Asia/Kathmandu",
                                  "Asia/Tehran",
                                  "Asia/Jerusalem",
                                  "Asia/Pyongyang",
                                  "Australia/Lord_Howe",
                                  "Australia/Sydney",
                                  "Pacific/Apia",
                                  "Pacific/Chatham",
                                  "Pacific/Kiritimati",
                                  "Antarctica/Troll",
                                  "Etc/GMT+12",
                                  "Etc/UTC",
                                  "EST5EDT",
                                  "CET"};

static void same_at(const char *name, rv_zone zone, int64_t moment)
{
    time_t seconds = (time_t)moment;
    struct tm local;
    assert_non_null(localtime_r(&seconds, &local));
    if (local.tm_gmtoff != rv_zone_offset(zone, moment))
        fail_msg("%s at %lld: %lld, and not %ld", name, (long long)moment, (long long)rv_zone_offset(zone, moment),
                 (long)local.tm_gmtoff);
}

/* Every 50 hours for 1970 to 2040, then more rarely to 2400; around each change to the second. */
static void as_the_c_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(all); i++) {
        rv_zone zone = zone_of(all[i]);
        assert_int_equal(setenv("TZ", all[i], 1), 0);
        tzset();
        int64_t before = rv_zone_offset(zone, 0);
        for (int64_t at = 0; at < 13569465600; at += at < 2208988800 ? 180000 : 1800000) {
            same_at(all[i], zone, at);
            int64_t now = rv_zone_offset(zone, at), low = at - 1800000, high = at;
            while (now != before && high - low > 1) {
                int64_t middle = low + (high - low) / 2;
                if (rv_zone_offset(zone, middle) == before)
                    low = middle;
                else
                    high = middle;
            }
            for (int64_t near = high - 2; now != before && near <= high + 2; near++) same_at(all[i], zone, near);
            before = now;
        }
    }
    assert_int_equal(unsetenv("TZ"), 0);
    tzset();
}

/* Several zones in one process: the same spec fires at different times. */
static void slots_of_several_zones(void **state)
{
    (void)state;
    static const struct {
        const char *zone;
        int64_t after, slot; /* in seconds */
    } table[] = {
        {"utc", 1798675200, 1798682400},              /* 2026-12-31: 02:00Z */
        {"Europe/Berlin", 1798675200, 1798678800},    /* 01:00Z */
        {"America/New_York", 1798675200, 1798700400}, /* 07:00Z */
        {"Asia/Kathmandu", 1798675200, 1798748100},   /* 20:15Z */
        {"Europe/Berlin", 1774738800, 1774746000},    /* 2026-03-29: 2:00 is leapt over, 3:00 is 01:00Z */
    };
    rv_cron cron;
    assert_int_equal(rv_cron_parse(&cron, "0 2 * * *", NULL), REEVE_OK);
    for (size_t i = 0; i < COUNT(table); i++) {
        int64_t slot = rv_cron_next(&cron, zone_of(table[i].zone), table[i].after * 1000);
        if (slot != table[i].slot * 1000)
            fail_msg("%s: %lld, and not %lld", table[i].zone, (long long)slot / 1000, (long long)table[i].slot);
    }
    /* 2026-10-25: 2:00 is shown twice, at 00:00Z and 01:00Z: the first counts. */
    rv_zone berlin = zone_of("Europe/Berlin");
    int64_t first = rv_cron_next(&cron, berlin, (int64_t)1792886399 * 1000);
    assert_int_equal(first, (int64_t)1792886400 * 1000);
    assert_int_equal(rv_cron_next(&cron, berlin, first), first + (int64_t)25 * 3600 * 1000);
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

static void rules(void **state)
{
    (void)state;
    static const char *const good[] = {"UTC0",
                                       "<+0545>-5:45",
                                       "CET-1CEST,M3.5.0,M10.5.0/3",
                                       "IST-1GMT0,M10.5.0,M3.5.0/1",
                                       "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
                                       "XXX3EDT4,0/0,J365/23",
                                       "AAA+1:02:03BBB-4,J60/167:59:59,59"};
    static const char *const bad[] = {"",
                                      "A1",
                                      "UTC",
                                      "CET-1CEST",
                                      "CET-1CEST,M3.5.0",
                                      "CET-25",
                                      "CET-1CEST,M13.1.0,M1.1.0",
                                      "<+05-5",
                                      "CET-1CEST,M3.6.0,M10.5.0",
                                      "CET-1 ",
                                      "CET-1CEST,J0,J1",
                                      "CET-1CEST,M3.5.0/168,M10.5.0",
                                      "CET-1CEST,366,1",
                                      "CET-1:60"};
    rv_tzif_rule rule;
    for (size_t i = 0; i < COUNT(good); i++)
        if (!rv_tzif_rule_read(&rule, good[i], strlen(good[i]))) fail_msg("%s is no rule", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (rv_tzif_rule_read(&rule, bad[i], strlen(bad[i]))) fail_msg("%s is a rule", bad[i]);
    assert_true(rv_tzif_rule_read(&rule, good[5], strlen(good[5]))); /* summer all year */
    for (int64_t at = 1767225600; at < 1767225600 + 3 * 366 * 86400; at += 1800)
        assert_int_equal(rv_tzif_rule_offset(&rule, at), -4 * 3600);
}

/* Each cut, and each byte of the head changed: read or refused, with no error of memory. */
static void malformed_files(void **state)
{
    (void)state;
    static unsigned char bytes[65536], copy[65536];
    FILE *file = fopen("/usr/share/zoneinfo/Europe/Berlin", "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    rv_tzif zone;
    assert_true(rv_tzif_read(&zone, bytes, length));
    assert_true(zone.rule.is_set);
    rv_tzif_fini(&zone);
    for (size_t cut = 0; cut < length; cut++) {
        unsigned char *exact = malloc(cut + 1);
        assert_non_null(exact);
        memcpy(exact, bytes, cut);
        if (rv_tzif_read(&zone, exact, cut)) fail_msg("%zu bytes are a zone", cut);
        free(exact);
    }
    for (size_t at = 0; at < length; at++) {
        for (int value = 0; value < 256; value += 51) {
            memcpy(copy, bytes, length);
            copy[at] = (unsigned char)value;
            if (rv_tzif_read(&zone, copy, length)) rv_tzif_fini(&zone);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(no_zones),
        cmocka_unit_test(without_tzdata),
        cmocka_unit_test(as_the_c_library),
        cmocka_unit_test(slots_of_several_zones),
        cmocka_unit_test(rules),
        cmocka_unit_test(malformed_files),
    };
    return cmocka_run_group_tests_name("ut_zone", tests, NULL, NULL);
}

#include "base/zone.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/tzif.h"

#define FILE_MAX ((size_t)256 * 1024)
#define FIRST 2 /* of those by name */

typedef struct named {
    char name[RV_ZONE_NAME_MAX + 1];
    rv_tzif tzif;
} named;

/* Only grows. The lock is held to add; a zone that was found is read without. */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static named *_Atomic zones[RV_ZONES_MAX];
static atomic_int zone_count;

/* ---- reading a file --------------------------------------------------------------------------------------------- */

static const char *directory(void)
{
    const char *given = secure_getenv("TZDIR");
    return given != NULL && *given == '/' ? given : "/usr/share/zoneinfo";
}

/* Words with slashes between them, none of which begins with a point: nothing outside the directory. */
static bool is_name(const char *name)
{
    size_t length = strlen(name);
    bool begins = true;
    if (length == 0 || length > RV_ZONE_NAME_MAX || name[length - 1] == '/') return false;
    for (; *name != '\0'; name++) {
        if (begins && !isalnum((unsigned char)*name)) return false;
        begins = *name == '/';
        if (!begins && !isalnum((unsigned char)*name) && strchr("._+-", *name) == NULL) return false;
    }
    return true;
}

static reeve_status no_zone(const char *name, rv_error *error)
{
    struct stat about;
    if (stat(directory(), &about) != 0)
        return rv_fail(error, REEVE_EINVAL, "the time zone \"%.64s\" needs tzdata: there is no %.200s here", name,
                       directory());
    return rv_fail(error, REEVE_EINVAL,
                   "there is no time zone \"%.64s\" in %.200s: expected utc, local, or a name such as "
                   "Europe/Berlin",
                   name, directory());
}

static size_t read_all(int fd, unsigned char *target)
{
    size_t length = 0;
    ssize_t got;
    while (length < FILE_MAX &&
           ((got = read(fd, target + length, FILE_MAX - length)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0) length += (size_t)got;
    return length;
}

static reeve_status load(named *zone, rv_error *error)
{
    char path[512];
    unsigned char *bytes;
    int fd;
    if (snprintf(path, sizeof(path), "%s/%s", directory(), zone->name) >= (int)sizeof(path))
        return no_zone(zone->name, error);
    if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) return no_zone(zone->name, error);
    if ((bytes = rv_alloc(FILE_MAX)) == NULL) {
        (void)close(fd);
        return rv_fail(error, REEVE_ENOMEM, "no memory for a time zone");
    }
    bool good = rv_tzif_read(&zone->tzif, bytes, read_all(fd, bytes));
    (void)close(fd);
    rv_free(bytes);
    return good ? REEVE_OK : rv_fail(error, REEVE_EINVAL, "%.300s is no time zone that can be used here", path);
}

/* ---- finding one ------------------------------------------------------------------------------------------------ */

static bool search(const char *name, rv_zone *ret)
{
    int count = atomic_load(&zone_count);
    for (int i = 0; i < count; i++) {
        if (strcmp(atomic_load(&zones[i])->name, name) != 0) continue;
        *ret = FIRST + i;
        return true;
    }
    return false;
}

/* The lock is held. */
static reeve_status add(const char *name, rv_zone *ret, rv_error *error)
{
    int at = atomic_load(&zone_count);
    if (search(name, ret)) return REEVE_OK;
    if (at == RV_ZONES_MAX)
        return rv_fail(error, REEVE_EINVAL, "this process uses %d time zones already", RV_ZONES_MAX);
    named *zone = rv_zalloc(sizeof(*zone));
    if (zone == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a time zone");
    rv_copy_text(zone->name, sizeof(zone->name), name);
    reeve_status status = load(zone, error);
    if (status != REEVE_OK) {
        rv_free(zone);
        return status;
    }
    atomic_store(&zones[at], zone);
    atomic_store(&zone_count, at + 1);
    *ret = FIRST + at;
    return REEVE_OK;
}

reeve_status rv_zone_find(const char *name, rv_zone *ret, rv_error *error)
{
    if (name == NULL) return rv_fail(error, REEVE_EINVAL, "the time zone has no name");
    if (strcasecmp(name, "utc") == 0 || strcasecmp(name, "local") == 0) {
        *ret = tolower((unsigned char)name[0]) == 'u' ? RV_ZONE_UTC : RV_ZONE_LOCAL;
        return REEVE_OK;
    }
    if (!is_name(name)) return no_zone(name, error);
    if (search(name, ret)) return REEVE_OK;
    rv_lock(&adding);
    reeve_status status = add(name, ret, error);
    rv_unlock(&adding);
    return status;
}

const char *rv_zone_name(rv_zone zone)
{
    if (zone == RV_ZONE_UTC) return "utc";
    if (zone == RV_ZONE_LOCAL) return "local";
    return atomic_load(&zones[zone - FIRST])->name;
}

int64_t rv_zone_offset(rv_zone zone, int64_t moment)
{
    time_t seconds = (time_t)moment;
    struct tm local = {0};
    if (zone == RV_ZONE_UTC) return 0;
    if (zone != RV_ZONE_LOCAL) return rv_tzif_offset(&atomic_load(&zones[zone - FIRST])->tzif, moment);
    return localtime_r(&seconds, &local) != NULL ? local.tm_gmtoff : 0;
}

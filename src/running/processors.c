#include "running/processors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_list.h"
#include "base/text.h"

#define PATH_SIZE 4096

unsigned rv_processors_quota(long long quota, long long period)
{
    if (quota <= 0 || period <= 0) return UINT32_MAX;
    long long whole = (quota + period - 1) / period;
    return whole < UINT32_MAX ? (unsigned)whole : UINT32_MAX;
}

static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    bool read = fgets(line, (int)size, file) != NULL;
    (void)fclose(file);
    if (read) line[strcspn(line, "\n")] = '\0';
    return read;
}

/* Of cgroup v2: "max 100000" or "150000 100000". */
static unsigned unified_quota(const char *folder)
{
    char path[PATH_SIZE + 64], line[100];
    long long numbers[2];
    (void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", folder);
    if (!read_line(path, line, sizeof(line)) || !rv_parse_numbers(line, numbers, 2, NULL)) return UINT32_MAX;
    return rv_processors_quota(numbers[0], numbers[1]);
}

static bool read_figure(const char *folder, const char *name, long long *ret)
{
    char path[PATH_SIZE + 64], line[100];
    (void)snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/%s", folder, name);
    return read_line(path, line, sizeof(line)) && rv_parse_numbers(line, ret, 1, NULL);
}

/* Of cgroup v1; the quota is -1 where there is none. */
static unsigned legacy_quota(const char *folder)
{
    long long quota, period;
    if (!read_figure(folder, "cpu.cfs_quota_us", &quota) || !read_figure(folder, "cpu.cfs_period_us", &period))
        return UINT32_MAX;
    return rv_processors_quota(quota, period);
}

/* The smallest quota of a control group and of those that it is in. */
static unsigned smallest_quota(char *folder, unsigned (*quota_of)(const char *folder))
{
    unsigned smallest = quota_of("");
    for (char *slash; (slash = strrchr(folder, '/')) != NULL; *slash = '\0') {
        unsigned quota = slash[1] != '\0' ? quota_of(folder) : UINT32_MAX;
        if (quota < smallest) smallest = quota;
    }
    return smallest;
}

/* Whether a list of controllers, "cpu,cpuacct", has cpu. */
static bool has_cpu(const char *controllers, size_t length)
{
    for (const char *end = controllers + length; controllers < end;) {
        size_t word = strcspn(controllers, ",:");
        if (word == 3 && memcmp(controllers, "cpu", 3) == 0) return true;
        controllers += word + 1;
    }
    return false;
}

/* Lines of /proc/self/cgroup: "0::/folder" (v2), "4:cpu,cpuacct:/folder" (v1). */
static unsigned group_quota(void)
{
    char line[PATH_SIZE];
    unsigned smallest = UINT32_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL) return smallest;
    while (fgets(line, sizeof(line), file) != NULL) {
        char *list = strchr(line, ':'), *folder = list != NULL ? strchr(list + 1, ':') : NULL;
        if (folder == NULL) continue;
        line[strcspn(line, "\n")] = '\0';
        unsigned quota = UINT32_MAX;
        if (folder == list + 1) quota = smallest_quota(folder + 1, unified_quota);
        if (has_cpu(list + 1, (size_t)(folder - list - 1))) quota = smallest_quota(folder + 1, legacy_quota);
        if (quota < smallest) smallest = quota;
    }
    (void)fclose(file);
    return smallest;
}

static unsigned at_least_one(unsigned count, unsigned limit)
{
    if (count > limit) count = limit;
    return count > 0 ? count : 1;
}

unsigned rv_processors(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    return at_least_one((unsigned)count, group_quota());
}

reeve_status rv_processors_of(const char *cpus, unsigned *ret, rv_error *error)
{
    cpu_set_t asked, allowed, both;
    unsigned all = rv_processors();
    if (cpus == NULL) {
        *ret = all;
        return REEVE_OK;
    }
    if (!rv_cpu_list_parse(cpus, &asked))
        return rv_fail(error, REEVE_EINVAL, "\"%.100s\" is no list of processors, such as 0-3,8", cpus);
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) allowed = asked;
    CPU_AND(&both, &asked, &allowed);
    if (CPU_COUNT(&both) == 0)
        return rv_fail(error, REEVE_EINVAL, "this process may use none of the processors \"%.100s\"", cpus);
    *ret = at_least_one((unsigned)CPU_COUNT(&both), all);
    return REEVE_OK;
}

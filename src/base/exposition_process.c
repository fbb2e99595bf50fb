/*
 * exposition_process.c - the metrics of the process itself, from /proc and the system.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/exposition.h"
#include "base/process_memory.h"
#include "reeve/reeve.h"

static double open_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    double count = 0;

    if (directory == NULL) return 0;
    while (readdir(directory) != NULL) count++;
    (void)closedir(directory);
    return count > 3 ? count - 3 : 0; /* without ".", ".." and the directory itself */
}

void rv_exposition_process(rv_exposition *to, int64_t started_ms)
{
    struct rusage usage = {0};
    struct rlimit files = {0};

    (void)getrusage(RUSAGE_SELF, &usage);
    (void)getrlimit(RLIMIT_NOFILE, &files);
    rv_exposition_counter(to, "process_cpu_seconds", "seconds", "Processor time of the process.",
                          (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    rv_exposition_gauge(to, "process_resident_memory_bytes", "bytes", "Resident memory of the process.",
                        (double)rv_process_memory(0));
    rv_exposition_gauge(to, "process_start_time_seconds", "seconds", "When the process began, since the epoch.",
                        (double)started_ms / 1000);
    rv_exposition_gauge(to, "process_open_fds", NULL, "Open file descriptors.", open_descriptors());
    rv_exposition_gauge(to, "process_max_fds", NULL, "Maximum number of open file descriptors.",
                        (double)files.rlim_cur);
}

void rv_exposition_build_info(rv_exposition *to)
{
    const char *const labels[] = {"version", reeve_version(), NULL};

    rv_exposition_family(to, "reeve_build_info", RV_EXPOSITION_GAUGE, NULL, "The version of reeve; always 1.");
    rv_exposition_sample(to, labels, 1);
}

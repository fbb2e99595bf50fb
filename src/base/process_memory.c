#include "base/process_memory.h"

#include <stdio.h>
#include <unistd.h>

#include "base/text.h"

int64_t rv_process_memory(int pid)
{
    char path[64], line[128];
    long long pages[2] = {0, 0}; /* the size of the process, and what of it is resident */
    (void)snprintf(path, sizeof(path), "/proc/%d/statm", pid);
    FILE *file = fopen(pid == 0 ? "/proc/self/statm" : path, "re");
    if (file == NULL) return 0;
    if (fgets(line, sizeof(line), file) == NULL || !rv_parse_numbers(line, pages, 2, NULL)) pages[1] = 0;
    (void)fclose(file);
    return (int64_t)pages[1] * sysconf(_SC_PAGESIZE);
}

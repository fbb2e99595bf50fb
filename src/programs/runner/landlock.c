#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/landlock.h, of all versions so far. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { VERSION_FLAG = 1, RULE_PATH_BENEATH = 1 };
#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define FS_READ (FS_EXECUTE | FS_READ_FILE | FS_READ_DIR)
#define NET_TCP UINT64_C(3)   /* bind and connect */
#define SCOPE_ALL UINT64_C(3) /* abstract unix sockets, signals */

typedef struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scoped;
} ruleset;

typedef struct __attribute__((packed)) beneath {
    uint64_t allowed;
    int32_t parent;
} beneath;

/* By version: 1 has 13 rights of files, 2 adds moves between directories, 3 truncation, 5 ioctl of devices. */
static uint64_t rights_of(int version)
{
    unsigned count = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    return (UINT64_C(1) << count) - 1;
}

bool host_landlock_begin(host_landlock *ret, bool files, bool network)
{
    long version = syscall(CREATE_RULESET, NULL, 0, VERSION_FLAG);
    *ret = (host_landlock){.fd = -1, .version = (int)version};
    if (version < 1 || (!files && version < 4)) return false;
    ret->files = files ? rights_of((int)version) : 0;
    ret->has_network = network && version >= 4;
    const ruleset rules = {
        .files = ret->files, .network = ret->has_network ? NET_TCP : 0, .scoped = version >= 6 ? SCOPE_ALL : 0};
    size_t size = version >= 6 ? sizeof(rules) : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    ret->fd = (int)syscall(CREATE_RULESET, &rules, size, 0);
    return ret->fd >= 0;
}

bool host_landlock_allow(const host_landlock *rules, const char *path, bool writable)
{
    struct stat about;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) return false;
    beneath rule = {.allowed = rules->files & (writable ? UINT64_MAX : FS_READ), .parent = fd};
    bool done = fstat(fd, &about) == 0;
    if (done && !S_ISDIR(about.st_mode)) rule.allowed &= FS_OF_FILES;
    done = done && syscall(ADD_RULE, rules->fd, RULE_PATH_BENEATH, &rule, 0) == 0;
    int failed = errno;
    (void)close(fd);
    errno = failed;
    return done;
}

bool host_landlock_enforce(host_landlock *rules)
{
    bool done = syscall(RESTRICT_SELF, rules->fd, 0) == 0;
    (void)close(rules->fd);
    rules->fd = -1;
    return done;
}

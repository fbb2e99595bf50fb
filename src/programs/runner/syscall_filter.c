#include "syscall_filter.h"

#ifdef REEVE_SECCOMP
#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* No handler needs them: they change the system, reach into other processes, or have been ways around a sandbox. */
static const char *const denied[] = {"acct",
                                     "add_key",
                                     "adjtimex",
                                     "bpf",
                                     "chroot",
                                     "clock_adjtime",
                                     "clock_settime",
                                     "delete_module",
                                     "fanotify_init",
                                     "finit_module",
                                     "fsconfig",
                                     "fsmount",
                                     "fsopen",
                                     "fspick",
                                     "init_module",
                                     "ioperm",
                                     "iopl",
                                     "kcmp",
                                     "kexec_file_load",
                                     "kexec_load",
                                     "keyctl",
                                     "lookup_dcookie",
                                     "mount",
                                     "mount_setattr",
                                     "move_mount",
                                     "name_to_handle_at",
                                     "open_by_handle_at",
                                     "open_tree",
                                     "perf_event_open",
                                     "personality",
                                     "pidfd_getfd",
                                     "pivot_root",
                                     "process_madvise",
                                     "process_vm_readv",
                                     "process_vm_writev",
                                     "ptrace",
                                     "quotactl",
                                     "reboot",
                                     "request_key",
                                     "setdomainname",
                                     "sethostname",
                                     "setns",
                                     "settimeofday",
                                     "swapoff",
                                     "swapon",
                                     "syslog",
                                     "umount2",
                                     "unshare",
                                     "userfaultfd",
                                     "vhangup"};

static bool deny(scmp_filter_ctx filter, const char *name)
{
    int number = seccomp_syscall_resolve_name(name);
    return number < 0 || seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0) == 0; /* unknown: another machine */
}

static bool deny_sockets(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_NE, AF_UNIX)) == 0;
}

bool host_syscall_filter_begin(bool dangerous, bool no_network)
{
    /* A ring could do what the filter does not see. */
    static const char *const rings[] = {"io_uring_setup", "io_uring_enter", "io_uring_register"};
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == NULL) return false;
    bool good = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0) == 0;
    for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) good = good && deny(filter, rings[i]);
    for (size_t i = 0; dangerous && i < sizeof(denied) / sizeof(denied[0]); i++) good = good && deny(filter, denied[i]);
    if (dangerous)
        good = good && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                                        SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, TIOCSTI)) == 0;
    if (no_network) good = good && deny_sockets(filter);
    good = good && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return good;
}

#else
bool host_syscall_filter_begin(bool dangerous, bool no_network)
{
    (void)dangerous;
    (void)no_network;
    return false;
}
#endif

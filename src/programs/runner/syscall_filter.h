/*
 * syscall_filter.h - a filter of system calls, by libseccomp where the build has it (REEVE_SECCOMP).
 */
#ifndef HOST_SYSCALL_FILTER_H
#define HOST_SYSCALL_FILTER_H

#include <stdbool.h>

/* dangerous: calls that change the system or look into other processes fail with EPERM. no_network: sockets other than those of
 * unix and of the kernel's user database fail with EACCES. For the calling thread and those that it starts. False: it is
 * not in force. */
bool host_syscall_filter_begin(bool dangerous, bool no_network);

#endif

/*
 * below.h - opening files that stay below a directory.
 */
#ifndef REEVE_PLUGINS_BELOW_H
#define REEVE_PLUGINS_BELOW_H

/*
 * Opens path, relative to a directory, as open() does. directory is the open directory, root its real path without a
 * slash at its end ("" for the root directory). Nothing outside of the directory is opened: neither by "..", nor by an
 * absolute path, nor by a link.
 *
 * Returns the file, which the caller closes, or -1 with errno as open() sets it; EXDEV: path leads out of the directory;
 * ENOSYS: there is neither openat2() (Linux 5.6) nor /proc here. Blocks as long as open() with these flags does.
 */
int below_open(int directory, const char *root, const char *path, int flags);

#endif

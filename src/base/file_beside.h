/*
 * file_beside.h - finds what is installed beside a library or program, so that a tree that was moved still works.
 */
#ifndef RV_BASE_FILE_BESIDE_H
#define RV_BASE_FILE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path at the relative path `there` from the directory of the file, whose links are followed. False when the file is
 * NULL or not there, or the path is too long. Whether something is at the path is not asked. */
bool rv_file_beside(char *ret, size_t size, const char *file, const char *there);

/* The shared object that has this code; NULL when it is linked into the program, which the loader may know by a name relative to
 * another directory. */
const char *rv_file_beside_library(const void *code);

#endif

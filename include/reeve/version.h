/*
 * version.h - the version of reeve. The build reads it from here.
 */
#ifndef REEVE_VERSION_H
#define REEVE_VERSION_H

#define REEVE_VERSION_MAJOR 0
#define REEVE_VERSION_MINOR 1
#define REEVE_VERSION_PATCH 0

#define REEVE_STRINGIFY_(x) #x
#define REEVE_STRINGIFY(x) REEVE_STRINGIFY_(x)
#define REEVE_VERSION                    \
    REEVE_STRINGIFY(REEVE_VERSION_MAJOR) \
    "." REEVE_STRINGIFY(REEVE_VERSION_MINOR) "." REEVE_STRINGIFY(REEVE_VERSION_PATCH)

/* Marks the functions that the shared library exports. */
#if defined(__GNUC__)
#define REEVE_API __attribute__((visibility("default")))
#define REEVE_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define REEVE_API
#define REEVE_PRINTF(at, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library in use, as "major.minor.patch". Any thread; never fails. */
REEVE_API const char *reeve_version(void);

#ifdef __cplusplus
}
#endif
#endif

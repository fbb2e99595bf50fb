#include "mhd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The name of all versions whose header this is. */
#define LIBRARY "libmicrohttpd.so.12"

rv_mhd_functions rv_mhd;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[256]; /* "": it is loaded */

static void find(void *library, const char *name, void *ret_function)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL && failure[0] == '\0') (void)snprintf(failure, sizeof(failure), "%s: no %s", LIBRARY, name);
    memcpy(ret_function, &symbol, sizeof(symbol)); /* C has no conversion of an object's pointer to a function's */
}

static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        (void)snprintf(failure, sizeof(failure), "%s", reason != NULL ? reason : LIBRARY);
        return;
    }
#define FIND(name) find(library, "MHD_" #name, &rv_mhd.name);
    RV_MHD_FUNCTIONS(FIND)
#undef FIND
}

reeve_status rv_mhd_load(rv_error *error)
{
    (void)pthread_once(&once, load);
    if (failure[0] == '\0') return REEVE_OK;
    return rv_fail(error, REEVE_ESYSTEM, "cannot load the HTTP server: %s; it is in Debian's package libmicrohttpd12",
                   failure);
}

/*
 * main.c - tenants: a service that makes reports for many tenants; see README.md.
 *
 *     tenants serve [REDIS-URL]        (without one: $REEVE_REDIS, else the embedded server)
 *     tenants submit [REDIS-URL]       requests on standard input
 */
#include <stdio.h>
#include <string.h>

#include "tenants.h"

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "", *redis = argc > 2 ? argv[2] : NULL;

    if (argc <= 3 && strcmp(verb, "serve") == 0) return serve(redis);
    if (argc <= 3 && strcmp(verb, "submit") == 0) return submit(redis);
    fprintf(stderr, "usage: tenants serve|submit [REDIS-URL]\n");
    return 2;
}

#include "support/certs.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/cmocka.h"

#define KEY "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"

static void run(const char *dir, const char *command)
{
    char line[2048];
    int length = snprintf(line, sizeof(line),
                          "cd '%s' && { %s; } >openssl.log 2>&1 || { cat openssl.log >&2; exit 1; }", dir, command);
    assert_true(length > 0 && (size_t)length < sizeof(line));
    if (system(line) != 0) fail_msg("%s", command); /* NOLINT(cert-env33-c): a command of the test's own */
}

void test_certs_authority(const char *dir, const char *name)
{
    char command[1024];
    (void)snprintf(command, sizeof(command),
                   "openssl req -x509 " KEY " -days 2 -subj '/CN=%s' -keyout %s.key -out %s.pem", name, name, name);
    run(dir, command);
}

void test_certs_make(const char *dir, const char *name, const char *authority, const char *names, int days)
{
    char command[1024];
    (void)snprintf(command, sizeof(command),
                   "printf 'subjectAltName=%s\n' >%s.ext && openssl req -new " KEY
                   " -subj '/CN=%s' -keyout %s.new.key -out %s.csr && openssl x509 -req -in %s.csr -CA %s.pem "
                   "-CAkey %s.key -CAcreateserial -extfile %s.ext -days %d -out %s.new.pem && mv %s.new.key %s.key && "
                   "mv %s.new.pem %s.pem",
                   names, name, name, name, name, name, authority, authority, name, days, name, name, name, name, name);
    run(dir, command);
}

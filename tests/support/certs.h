/*
 * certs.h - certificates for tests of TLS: an authority of the test's own, and what it signs. Files are PEM, and stand
 * in a directory that the caller owns. Made by the program openssl; a step that fails ends the test.
 */
#ifndef TEST_CERTS_H
#define TEST_CERTS_H

/* Makes DIR/<name>.pem and DIR/<name>.key: a self-signed authority. */
void test_certs_authority(const char *dir, const char *name);

/*
 * The same, signed by DIR/<authority>.pem. names: as in subjectAltName ("DNS:localhost,IP:127.0.0.1"). days: from now
 * on; a negative number makes one that has expired. What has that name already is replaced.
 */
void test_certs_make(const char *dir, const char *name, const char *authority, const char *names, int days);

#endif

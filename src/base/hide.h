/*
 * hide.h - passwords of URLs in a program's arguments, which everybody on the machine can read.
 */
#ifndef RV_HIDE_H
#define RV_HIDE_H

/*
 * Replaces each argument that has a URL with a password by a copy, and the password in the list of processes by as many
 * asterisks: that before the host ("redis://user:password@host"), and the values of parameters that may be secrets
 * ("?sentinel_password=..."). The first thing in main: until then it can be read. Without memory it stays.
 */
void rv_hide_passwords(int argc, char **argv);

#endif

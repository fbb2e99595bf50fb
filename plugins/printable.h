/*
 * printable.h - text from outside, made fit for a message.
 */
#ifndef REEVE_PLUGINS_PRINTABLE_H
#define REEVE_PLUGINS_PRINTABLE_H

#include <stddef.h>

/*
 * Copies text, cut to what target can take, with every control character and every byte that is no UTF-8 written as
 * \xHH
 * (\n, \r and \t as such), so that a path can neither break a line nor steer a terminal.
 */
void printable(char *target, size_t size, const char *text);

#endif

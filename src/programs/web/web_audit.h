/*
 * web_audit.h - a line in the log for each action, also for those that were refused: who, from where, what, how it went.
 */
#ifndef WEB_AUDIT_H
#define WEB_AUDIT_H

#include "web.h"

/* Logs a call. */
void web_audit(const web_call *call);

/* Logs an operation that goes on after its call. */
void web_audit_words(const char *user, const char *action, const char *what, const char *outcome);

#endif

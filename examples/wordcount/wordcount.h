/*
 * wordcount.h - the handlers of the plugin, a file each.
 */
#ifndef WORDCOUNT_H
#define WORDCOUNT_H

#include <reeve/depend.h>
#include <reeve/plugin.h>

reeve_outcome wordcount_split(reeve_task *task, void *user);
reeve_outcome wordcount_count(reeve_task *task, void *user);
reeve_outcome wordcount_summary(reeve_task *task, void *user);

#endif

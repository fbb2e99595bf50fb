/*
 * wordcount.c - a plugin that counts words in all files of a directory, in a pipeline: see README.md.
 */
#include "wordcount.h"

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "wordcount.split", .run = wordcount_split, .attempts = 5,
     .summary = "deals out the files below the directory in the payload; metadata: output=FILE"},
    {REEVE_HANDLER, .type = "wordcount.count", .run = wordcount_count, .attempts = 5,
     .summary = "counts the words of some files"},
    {REEVE_HANDLER, .type = "wordcount.summary", .run = wordcount_summary, .attempts = 5,
     .summary = "adds up what its parents counted, and writes it to the metadata's output"},
};

REEVE_PLUGIN(.name = "wordcount", .version = "1.0", .summary = "words of a directory, and how often",
             .handlers = handlers, .handler_count = sizeof(handlers) / sizeof(handlers[0]))

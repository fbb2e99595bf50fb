/*
 * streams.h - the standard streams of a program.
 */
#ifndef RV_STREAMS_H
#define RV_STREAMS_H

/*
 * Opens /dev/null in place of each standard stream that is closed, so that no socket or file gets the number of a
 * stream and what is printed goes into it. They are opened so that their use fails: standard input for writing, the
 * others for reading. At the beginning of main, before any other file is opened. Without /dev/null they stay closed.
 */
void rv_streams_fill(void);

#endif

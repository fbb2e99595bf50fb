/*
 * web_preview.h - the turns of previews. A preview goes through all tasks of a state, which takes long in a large queue: a
 * few run at a time, two of one client, and others wait for their turn.
 */
#ifndef WEB_PREVIEW_H
#define WEB_PREVIEW_H

struct web_previews *web_previews_open(void);
/* No call may be running. NULL: does nothing. */
void web_previews_close(struct web_previews *previews);

#endif

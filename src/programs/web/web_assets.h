/*
 * web_assets.h - the files of src/programs/web/assets, made into the program by embed_assets.lua.
 */
#ifndef WEB_ASSETS_H
#define WEB_ASSETS_H

#include <stddef.h>

typedef struct web_asset {
    const char *name; /* NULL ends the list */
    const char *type;
    const char *etag; /* with its quotes */
    const unsigned char *data;
    size_t length;
    const unsigned char *gzip;
    size_t gzip_length;
} web_asset;

extern const web_asset web_asset_list[];

#endif

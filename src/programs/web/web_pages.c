/*
 * web_pages.c - the dashboard: the page and its assets, which are in the program. All pages are one document; the part
 * behind # in the address says which one is shown.
 */
#include <stdio.h>
#include <string.h>

#include "web.h"
#include "web_assets.h"

/* "gzip" or "gzip;q=1", but not "gzip;q=0". */
static bool takes_gzip(const web_call *call)
{
    const char *accepted = rv_http_server_header(call->http, "Accept-Encoding");
    const char *at = accepted == NULL ? NULL : strstr(accepted, "gzip");
    const char *quality = at == NULL ? NULL : strstr(at, "q=");

    if (at == NULL) return false;
    return quality == NULL || quality > at + strcspn(at, ",") ||
           strspn(quality + 2 + strspn(quality + 2, "0."), "123456789") > 0;
}

/* An asset changes only with the program: its name has a mark of its content (ETag). */
static void send(web_call *call, const web_asset *asset)
{
    const char *known = rv_http_server_header(call->http, "If-None-Match");

    call->http->type = asset->type;
    call->http->etag = asset->etag;
    call->http->cache = "no-cache";
    if (known != NULL && strstr(known, asset->etag) != NULL) {
        call->http->status = 304;
        return;
    }
    call->http->gzipped = takes_gzip(call);
    if (call->http->gzipped)
        (void)fwrite(asset->gzip, 1, asset->gzip_length, call->out);
    else
        (void)fwrite(asset->data, 1, asset->length, call->out);
}

static void find(web_call *call, const char *name)
{
    for (const web_asset *asset = web_asset_list; asset->name != NULL; asset++) {
        if (strcmp(asset->name, name) != 0) continue;
        send(call, asset);
        return;
    }
    web_refuse(call, 404, "not_found", "there is no such asset");
}

void web_run_page(web_call *call)
{
    find(call, "index.html");
}

void web_run_asset(web_call *call)
{
    find(call, call->params.value[0]);
}

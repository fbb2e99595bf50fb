#include "base/repeated.h"

#include <string.h>

#include "base/error.h"

bool rv_repeated_is_new(rv_repeated *repeated, const char *text, int64_t now_ms)
{
    char shown[sizeof(repeated->text)];
    rv_copy_text(shown, sizeof(shown), text);
    bool known = repeated->text[0] != '\0' && strcmp(repeated->text, shown) == 0;
    if (known && now_ms - repeated->logged_ms < RV_REPEATED_MS) return false;
    memcpy(repeated->text, shown, sizeof(shown));
    repeated->logged_ms = now_ms;
    return true;
}

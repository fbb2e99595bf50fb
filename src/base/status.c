#include "reeve/status.h"

#include "reeve/version.h"

const char *reeve_status_text(reeve_status status)
{
    switch (status) {
#define STATUS_TEXT(name, number, text) \
    case REEVE_##name:                  \
        return text;
        REEVE_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

const char *reeve_version(void)
{
    return REEVE_VERSION;
}

#include "keys.h"

#include <stdio.h>
#include <string.h>

static int read_hex(unsigned char ret[KEY_BYTES], const char *digits)
{
    if (strlen(digits) != (size_t)2 * KEY_BYTES) return -1;
    for (size_t i = 0; i < KEY_BYTES; i++) {
        unsigned value = 0;

        if (sscanf(digits + 2 * i, "%2x", &value) != 1) return -1;
        ret[i] = (unsigned char)value;
    }
    return 0;
}

static int read_line(key_ring *ring, const char *line)
{
    char id[KEY_ID_MAX + 1], digits[2 * KEY_BYTES + 2];
    secret_key *key = &ring->keys[ring->count];

    if (ring->count == KEYS_MAX || sscanf(line, "%32s %65s", id, digits) != 2) return -1;
    if (keys_find(ring, id) != NULL || read_hex(key->bytes, digits) != 0) return -1;
    memcpy(key->id, id, sizeof(id));
    ring->count++;
    return 0;
}

int keys_read(key_ring *ret, const char *path)
{
    char line[256];
    FILE *file = fopen(path, "r");
    int failed = 0;

    ret->count = 0;
    if (file == NULL) {
        fprintf(stderr, "encrypt: %s cannot be read\n", path);
        return -1;
    }
    while (failed == 0 && fgets(line, sizeof(line), file) != NULL) {
        if (line[0] != '#' && line[0] != '\n') failed = read_line(ret, line);
    }
    fclose(file);
    if (failed == 0 && ret->count > 0) return 0;
    fprintf(stderr, "encrypt: %s: expected lines \"<id> <%d hex digits>\", each id once\n", path, 2 * KEY_BYTES);
    return -1;
}

const secret_key *keys_find(const key_ring *ring, const char *id)
{
    for (size_t i = 0; i < ring->count; i++) {
        if (strcmp(ring->keys[i].id, id) == 0) return &ring->keys[i];
    }
    return NULL;
}

#include "protocol/cron_layered.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "protocol/cron_definition.h"
#include "protocol/spec.h"

static const rv_siphash_key no_key;

static bool hash_task(const reeve_task_spec *task, const rv_siphash_key *key, uint64_t *ret)
{
    rv_buf text;
    rv_buf_init(&text, SIZE_MAX);
    rv_spec_write_options(&text, task);
    rv_buf_addc(&text, '\n');
    rv_spec_write_envelope(&text, task);
    bool good = !text.failed;
    if (good) *ret = rv_siphash(key, text.data, text.length);
    rv_buf_fini(&text);
    return good;
}

/* What layers transform and what they need to undo it. */
static bool hash_content(const reeve_task_spec *task, uint64_t *ret)
{
    const reeve_task_spec content = {
        .type = task->type, .payload = task->payload, .meta = task->meta, .meta_count = task->meta_count};
    return hash_task(&content, &no_key, ret);
}

static void write_digest(char ret[RV_CRON_DIGEST_MAX], const rv_siphash_key *key, uint64_t hash)
{
    bool keyed = key->word[0] != 0 || key->word[1] != 0;
    (void)snprintf(ret, RV_CRON_DIGEST_MAX, "%s%016" PRIx64, keyed ? "k" : "", hash);
}

bool rv_cron_layered_is_digest(const char *text)
{
    size_t length = strspn(text, "k0123456789abcdef");
    return length > 0 && length < RV_CRON_DIGEST_MAX && text[length] == '\0';
}

bool rv_cron_layered_write(char ret[RV_CRON_LAYERED_MAX], const char *digest, const reeve_task_spec *task)
{
    uint64_t hash, content;
    if (!hash_task(task, &no_key, &hash) || !hash_content(task, &content)) return false;
    (void)snprintf(ret, RV_CRON_LAYERED_MAX, "%s:%016" PRIx64 ":%016" PRIx64, digest, hash, content);
    return true;
}

static bool read_hash(const char *text, char end, uint64_t *ret)
{
    if (strspn(text, "0123456789abcdef") != 16 || text[16] != end) return false;
    *ret = strtoull(text, NULL, 16);
    return true;
}

static bool read_layered(const char *layered, char ret_digest[RV_CRON_DIGEST_MAX], uint64_t *ret_hash,
                         uint64_t *ret_content)
{
    size_t length = strspn(layered, "k0123456789abcdef");
    if (length == 0 || length >= RV_CRON_DIGEST_MAX || layered[length] != ':') return false;
    memcpy(ret_digest, layered, length);
    ret_digest[length] = '\0';
    const char *hashes = layered + length + 1;
    return read_hash(hashes, ':', ret_hash) && read_hash(hashes + 17, '\0', ret_content);
}

/* The digest of the task before the layers stays, unless its options have changed: then it is none that was given. */
static reeve_status digest_again(char ret[RV_CRON_DIGEST_MAX], const reeve_cron_entry *entry, rv_error *error)
{
    uint64_t hash, content, old_hash = 0, old_content = 0;
    bool known = read_layered(entry->layered, ret, &old_hash, &old_content);
    if (!hash_task(entry->task, &no_key, &hash) || !hash_content(entry->task, &content))
        return rv_fail(error, REEVE_ENOMEM, "no memory for a recurring entry");
    if (!known || content != old_content) {
        return rv_fail(error, REEVE_EINVAL,
                       "the task of the entry has passed layers, and its type, payload or metadata are not those that "
                       "were read: set them all anew, and `layered` to NULL");
    }
    if (hash != old_hash) write_digest(ret, &no_key, hash);
    return REEVE_OK;
}

reeve_status rv_cron_layered_digest(char ret[RV_CRON_DIGEST_MAX], const reeve_cron_entry *entry,
                                    const reeve_task_spec *given, const rv_siphash_key *key, rv_error *error)
{
    uint64_t before, after;
    ret[0] = '\0';
    if (entry->layered != NULL) return digest_again(ret, entry, error);
    if (!hash_task(given, key, &before) || !hash_task(entry->task, key, &after))
        return rv_fail(error, REEVE_ENOMEM, "no memory for a recurring entry");
    if (before != after) write_digest(ret, key, before);
    return REEVE_OK;
}

static bool has_times_of(const reeve_cron_entry *one, const reeve_cron_entry *other)
{
    rv_buf a, b;
    rv_buf_init(&a, SIZE_MAX);
    rv_buf_init(&b, SIZE_MAX);
    rv_cron_definition_write_times(&a, one);
    rv_cron_definition_write_times(&b, other);
    bool same = !a.failed && !b.failed && a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
    rv_buf_fini(&a);
    rv_buf_fini(&b);
    return same;
}

bool rv_cron_layered_is_made_of(const reeve_cron_entry *stored, const reeve_cron_entry *given)
{
    char digest[RV_CRON_DIGEST_MAX], wanted[RV_CRON_DIGEST_MAX];
    uint64_t hash, other, content;
    if (!has_times_of(stored, given) || !hash_task(given->task, &no_key, &hash)) return false;
    if (stored->layered == NULL) return hash_task(stored->task, &no_key, &other) && hash == other;
    if (!read_layered(stored->layered, digest, &other, &content)) return false;
    write_digest(wanted, &no_key, hash);
    return digest[0] == 'k' || strcmp(digest, wanted) == 0;
}

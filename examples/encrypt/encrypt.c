/*
 * encrypt.c - a plugin of one layer: payloads are encrypted before they reach Redis, and decrypted before a handler or a
 * consumer sees them. README.md shows how it is used.
 *
 *     cc -std=c11 -shared -fPIC -o encrypt.so encrypt.c seal.c keys.c $(pkg-config --cflags reeve) -lcrypto
 *
 * The environment variable ENCRYPT_KEYS names the file of keys. The id of the key that encrypted a payload is in the
 * metadata of its task, under "key": so keys can be exchanged while tasks wait.
 */
#include <reeve/plugin.h>
#include <stdlib.h>

#include "seal.h"

static key_ring ring;

static int load(void)
{
    const char *path = getenv("ENCRYPT_KEYS");

    return keys_read(&ring, path != NULL ? path : "keys");
}

/* ---- at an enqueue ----------------------------------------------------------------------------------------------- */

static reeve_status encrypt(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    const secret_key *key = &ring.keys[ring.count - 1];
    size_t length = spec->payload.length + SEAL_BYTES;
    unsigned char *sealed = reeve_outgoing_alloc(task, length);

    (void)user;
    if (sealed == NULL) return REEVE_ENOMEM;
    if (seal(sealed, key, spec->type, spec->payload.data, spec->payload.length) != 0)
        return reeve_outgoing_refuse(task, REEVE_ESYSTEM, "the payload cannot be encrypted with key %s", key->id);
    spec->payload = (reeve_bytes){sealed, length};
    reeve_outgoing_set_digest_key(task, key->bytes, sizeof(key->bytes));
    return reeve_outgoing_set_meta(task, "key", key->id);
}

/* ---- before an attempt ------------------------------------------------------------------------------------------- */

/* Also for the tasks of batch handlers and of consumers. */
static void decrypt(reeve_task *task, void *user)
{
    const char *id = reeve_task_meta(task, "key");
    const secret_key *key = id != NULL ? keys_find(&ring, id) : NULL;
    reeve_bytes sealed = reeve_task_payload(task);
    unsigned char *plain = malloc(sealed.length + 1);
    int failed = 1;

    (void)user;
    if (key != NULL && plain != NULL) failed = unseal(plain, key, reeve_task_type(task), sealed.data, sealed.length);
    if (failed == 0 && reeve_task_set_payload(task, plain, sealed.length - SEAL_BYTES) != REEVE_OK) failed = 1;
    free(plain);
    if (id == NULL)
        (void)reeve_task_fail(task, "plain", "the payload is not encrypted");
    else if (key == NULL) /* a worker that has not got the new key yet leaves the task to others */
        (void)reeve_task_retry(task, -1, "key", "there is no key %s", id);
    else if (failed > 0)
        (void)reeve_task_retry(task, -1, "memory", "no memory for the payload");
    else if (failed < 0)
        (void)reeve_task_fail(task, "seal", "the payload does not open with key %s", id);
}

static const reeve_layer layers[] = {{REEVE_LAYER, .name = "encrypt", .summary = "encrypts payloads with AES-256-GCM",
                                      .enqueue = encrypt, .before = decrypt}};

REEVE_PLUGIN(.name = "encrypt", .summary = "payloads that only workers with the keys can read", .load = load,
             .layers = layers, .layer_count = 1)

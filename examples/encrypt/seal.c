#include "seal.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

#define NONCE_BYTES 12
#define TAG_BYTES 16

static int begin(EVP_CIPHER_CTX *cipher, const secret_key *key, const char *type, const unsigned char *nonce,
                 int encrypt)
{
    int length;

    return EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), NULL, key->bytes, nonce, encrypt) == 1 &&
           EVP_CipherUpdate(cipher, NULL, &length, (const unsigned char *)type, (int)strlen(type)) == 1;
}

int seal(unsigned char *ret, const secret_key *key, const char *type, const void *data, size_t length)
{
    unsigned char *tag = ret + NONCE_BYTES, *out = ret + SEAL_BYTES;
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int written, good;

    good = cipher != NULL && length <= INT_MAX && RAND_bytes(ret, NONCE_BYTES) == 1 &&
           begin(cipher, key, type, ret, 1) &&
           (length == 0 || EVP_CipherUpdate(cipher, out, &written, data, (int)length) == 1) &&
           EVP_CipherFinal_ex(cipher, out + length, &written) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, tag) == 1;
    EVP_CIPHER_CTX_free(cipher);
    return good ? 0 : -1;
}

int unseal(unsigned char *ret, const secret_key *key, const char *type, const void *data, size_t length)
{
    const unsigned char *nonce = data;
    unsigned char tag[TAG_BYTES];
    EVP_CIPHER_CTX *cipher;
    int written, good;

    if (length < SEAL_BYTES || length > INT_MAX) return -1;
    memcpy(tag, nonce + NONCE_BYTES, TAG_BYTES);
    length -= SEAL_BYTES;
    cipher = EVP_CIPHER_CTX_new();
    good = cipher != NULL && begin(cipher, key, type, nonce, 0) &&
           (length == 0 || EVP_CipherUpdate(cipher, ret, &written, nonce + SEAL_BYTES, (int)length) == 1) &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, TAG_BYTES, tag) == 1 &&
           EVP_CipherFinal_ex(cipher, ret + length, &written) == 1;
    EVP_CIPHER_CTX_free(cipher);
    return good ? 0 : -1;
}

#include "web_users.h"

#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cli.h"

#define USERS_MAX 1000
#define SECRET_MAX 256
#define SESSIONS_MAX 1000
#define SESSION_MS (INT64_C(12) * 3600 * 1000)
#define PEERS_MAX 256
#define TRIES_EACH 10
#define TRIES_ALL 60
#define TRIES_MS 60000
/* A hash that no password has, so that unknown names take as long as known ones. */
#define NO_HASH "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7"

typedef struct known {
    web_who who;
    char secret[SECRET_MAX]; /* a hash, or a token */
} known;

typedef struct known_list {
    known *list;
    size_t count;
} known_list;

typedef struct session {
    char token[WEB_TOKEN_SIZE]; /* "": free */
    web_who who;
    int64_t ends_at;
} session;

typedef struct tries {
    char peer[48];
    int64_t since;
    unsigned count;
} tries;

struct web_users {
    const web_options *options;
    pthread_mutex_t lock;
    known_list people, tokens; /* of the last reading of the files */
    unsigned reading;
    session sessions[SESSIONS_MAX];
    tries peers[PEERS_MAX], all;
    pthread_mutex_t hashing; /* one password at a time: a hash takes much memory and time by design */
};

/* ---- the files ------------------------------------------------------------------------------------------------- */

static bool read_line(char *line, known *ret)
{
    char *role = strchr(line, ':'), *secret = role == NULL ? NULL : strchr(role + 1, ':');

    if (secret == NULL) return false;
    *role++ = *secret++ = '\0';
    if (line[0] == '\0' || strlen(line) >= sizeof(ret->who.name) || !rv_utf8_is_valid(line, strlen(line))) return false;
    if (!web_role_parse(role, &ret->who.role)) return false;
    if (strlen(secret) < 8 || strlen(secret) >= SECRET_MAX) return false;
    rv_copy_text(ret->who.name, sizeof(ret->who.name), line);
    rv_copy_text(ret->secret, sizeof(ret->secret), secret);
    return true;
}

static reeve_status read_lines(FILE *file, const char *path, known_list *ret, rv_error *error)
{
    char line[512];
    unsigned number = 0;

    while (fgets(line, sizeof(line), file) != NULL) {
        number++;
        if (strchr(line, '\n') == NULL && !feof(file))
            return rv_fail(error, REEVE_EINVAL, "%s: line %u is longer than %zu bytes", path, number, sizeof(line) - 2);
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#') continue;
        known *grown = ret->count == USERS_MAX ? NULL : rv_realloc_array(ret->list, ret->count + 1, sizeof(*grown));
        if (grown == NULL) return rv_fail(error, REEVE_ENOMEM, "%s: more than %d lines", path, USERS_MAX);
        ret->list = grown;
        if (!read_line(line, &grown[ret->count]))
            return rv_fail(error, REEVE_EINVAL,
                           "%s: line %u: expected NAME:ROLE:SECRET, with viewer, operator or admin", path, number);
        ret->count++;
    }
    if (ret->count == 0) return rv_fail(error, REEVE_EINVAL, "%s: there is nobody in it", path);
    return REEVE_OK;
}

static reeve_status read_file(const char *path, known_list *ret, rv_error *error)
{
    struct stat about;
    FILE *file = path == NULL ? NULL : fopen(path, "re");

    if (path == NULL) return REEVE_OK;
    if (file == NULL) return rv_fail(error, REEVE_ESYSTEM, "%s: %s", path, strerror(errno));
    reeve_status status = REEVE_OK;
    if (fstat(fileno(file), &about) == 0 && (about.st_mode & 077) != 0)
        status = rv_fail(error, REEVE_EINVAL, "%s: others can read it; chmod 600 %s", path, path);
    if (status == REEVE_OK) status = read_lines(file, path, ret, error);
    (void)fclose(file);
    return status;
}

static void forget(known_list *of)
{
    if (of->list != NULL) explicit_bzero(of->list, of->count * sizeof(*of->list));
    rv_free(of->list);
    *of = (known_list){.list = NULL};
}

static bool read_files(const web_options *options, known_list *ret_people, known_list *ret_tokens, rv_error *error)
{
    return read_file(options->users, ret_people, error) == REEVE_OK &&
           read_file(options->tokens, ret_tokens, error) == REEVE_OK;
}

struct web_users *web_users_open(const web_options *options, rv_error *error)
{
    struct web_users *users = rv_zalloc(sizeof(*users));

    if (users == NULL) {
        (void)rv_fail(error, REEVE_ENOMEM, "no memory");
        return NULL;
    }
    users->options = options;
    rv_lock_init(&users->lock);
    rv_lock_init(&users->hashing);
    if (read_files(options, &users->people, &users->tokens, error)) return users;
    web_users_close(users);
    return NULL;
}

void web_users_close(struct web_users *users)
{
    if (users == NULL) return;
    forget(&users->people);
    forget(&users->tokens);
    rv_lock_fini(&users->lock);
    rv_lock_fini(&users->hashing);
    rv_free(users);
}

/* ---- secrets --------------------------------------------------------------------------------------------------- */

/* In a time that does not tell where two texts differ. */
static bool equal(const char *one, const char *other)
{
    size_t length = strlen(one), other_length = strlen(other);
    unsigned char differ = length != other_length;

    for (size_t i = 0; i < length; i++)
        differ |= (unsigned char)one[i] ^ (unsigned char)other[other_length == 0 ? 0 : i % other_length];
    return differ == 0;
}

static const known *find(const known_list *in, const char *name)
{
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->list[i].who.name, name) == 0) return &in->list[i];
    return NULL;
}

/* A copy of the user's line, with the number of its reading. False: there is none. */
static bool copy(struct web_users *users, const char *name, known *ret, unsigned *ret_reading)
{
    rv_lock(&users->lock);
    const known *one = find(&users->people, name);
    if (one != NULL) *ret = *one;
    *ret_reading = users->reading;
    rv_unlock(&users->lock);
    return one != NULL;
}

bool web_users_check(struct web_users *users, const char *name, const char *password, web_who *ret,
                     unsigned *ret_reading)
{
    struct crypt_data *data = rv_zalloc(sizeof(*data));
    known one;

    if (data == NULL) return false;
    bool known_name = copy(users, name, &one, ret_reading);
    const char *hash = known_name ? one.secret : NO_HASH, *made;
    rv_lock(&users->hashing);
    made = crypt_r(password, hash, data);
    rv_unlock(&users->hashing);
    bool good = made != NULL && made[0] != '*' && equal(made, hash) && known_name;
    explicit_bzero(data, sizeof(*data));
    rv_free(data);
    if (good) *ret = one.who;
    explicit_bzero(&one, sizeof(one));
    return good;
}

bool web_users_token(struct web_users *users, const char *token, web_who *ret)
{
    bool found = false;

    rv_lock(&users->lock);
    for (size_t i = 0; i < users->tokens.count; i++) {
        if (!equal(users->tokens.list[i].secret, token)) continue;
        *ret = users->tokens.list[i].who;
        found = true;
    }
    rv_unlock(&users->lock);
    return found;
}

bool web_users_named(struct web_users *users, const char *name, web_who *ret)
{
    rv_lock(&users->lock);
    const known *one = find(&users->people, name);
    if (one != NULL) *ret = one->who;
    rv_unlock(&users->lock);
    return one != NULL;
}

/* ---- logins ---------------------------------------------------------------------------------------------------- */

static bool count_try(tries *one, int64_t now, unsigned max)
{
    if (now - one->since >= TRIES_MS) {
        one->since = now;
        one->count = 0;
    }
    return one->count++ < max;
}

bool web_users_may_try(struct web_users *users, const char *peer)
{
    tries *one = NULL;
    int64_t now = rv_now_ms();

    rv_lock(&users->lock);
    for (size_t i = 0; i < PEERS_MAX && one == NULL; i++)
        if (strcmp(users->peers[i].peer, peer) == 0) one = &users->peers[i];
    for (size_t i = 0; i < PEERS_MAX && one == NULL; i++)
        if (users->peers[i].peer[0] == '\0' || now - users->peers[i].since >= TRIES_MS) {
            one = &users->peers[i];
            one->since = 0;
            rv_copy_text(one->peer, sizeof(one->peer), peer);
        }
    bool may = one != NULL && count_try(one, now, TRIES_EACH) && count_try(&users->all, now, TRIES_ALL);
    rv_unlock(&users->lock);
    return may;
}

/* ---- sessions -------------------------------------------------------------------------------------------------- */

static session *find_session(struct web_users *users, const char *token)
{
    for (size_t i = 0; i < SESSIONS_MAX; i++)
        if (users->sessions[i].token[0] != '\0' && equal(users->sessions[i].token, token)) return &users->sessions[i];
    return NULL;
}

/* A free place, or that of the session that ends first. */
static session *free_session(struct web_users *users)
{
    session *first = &users->sessions[0];

    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        if (users->sessions[i].token[0] == '\0') return &users->sessions[i];
        if (users->sessions[i].ends_at < first->ends_at) first = &users->sessions[i];
    }
    return first;
}

bool web_users_begin(struct web_users *users, const web_who *who, unsigned reading, char ret_token[WEB_TOKEN_SIZE])
{
    unsigned char bytes[(WEB_TOKEN_SIZE - 1) / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) return false;
    for (size_t i = 0; i < sizeof(bytes); i++) (void)snprintf(ret_token + 2 * i, 3, "%02x", bytes[i]);
    rv_lock(&users->lock);
    bool good = reading == users->reading; /* (or the file may have another password by now) */
    session *one = free_session(users);
    if (good) {
        one->who = *who;
        one->ends_at = rv_deadline(SESSION_MS);
        memcpy(one->token, ret_token, WEB_TOKEN_SIZE);
    }
    rv_unlock(&users->lock);
    return good;
}

bool web_users_session(struct web_users *users, const char *token, web_who *ret)
{
    rv_lock(&users->lock);
    session *one = find_session(users, token);
    bool good = one != NULL && one->ends_at > rv_now_ms();
    if (good) *ret = one->who;
    if (one != NULL && !good) one->token[0] = '\0';
    rv_unlock(&users->lock);
    return good;
}

void web_users_end(struct web_users *users, const char *token)
{
    rv_lock(&users->lock);
    session *one = find_session(users, token);
    if (one != NULL) one->token[0] = '\0';
    rv_unlock(&users->lock);
}

/* ---- reading the files again ----------------------------------------------------------------------------------- */

/* A session goes on while its user's password stays the same, with the role that the user has now. The lock is held. */
static void renew_session(const struct web_users *users, const known_list *people, session *one)
{
    const known *before = find(&users->people, one->who.name), *now = find(people, one->who.name);

    if (before != NULL && now != NULL && strcmp(before->secret, now->secret) == 0)
        one->who = now->who;
    else
        one->token[0] = '\0';
}

reeve_status web_users_renew(struct web_users *users, rv_error *error)
{
    known_list people = {.list = NULL}, tokens = {.list = NULL}, old_people, old_tokens;

    if (!read_files(users->options, &people, &tokens, error)) {
        forget(&people);
        forget(&tokens);
        return error->status;
    }
    rv_lock(&users->lock);
    for (size_t i = 0; i < SESSIONS_MAX; i++)
        if (users->sessions[i].token[0] != '\0') renew_session(users, &people, &users->sessions[i]);
    old_people = users->people;
    old_tokens = users->tokens;
    users->people = people;
    users->tokens = tokens;
    users->reading++;
    rv_unlock(&users->lock);
    forget(&old_people);
    forget(&old_tokens);
    return REEVE_OK;
}

/* ---- --hash-password ------------------------------------------------------------------------------------------- */

int web_users_hash(void)
{
    char password[512], setting[CRYPT_GENSALT_OUTPUT_SIZE];
    struct crypt_data *data = rv_zalloc(sizeof(*data));
    const char *hash = NULL;

    if (isatty(STDIN_FILENO) == 1) (void)fprintf(stderr, "password: ");
    if (data != NULL && fgets(password, sizeof(password), stdin) != NULL) {
        password[strcspn(password, "\r\n")] = '\0';
        if (password[0] != '\0' && crypt_gensalt_rn("$y$", 0, NULL, 0, setting, sizeof(setting)) != NULL)
            hash = crypt_r(password, setting, data);
    }
    if (hash == NULL || hash[0] == '*') {
        (void)fprintf(stderr, "reeve: web: no password on standard input\n");
        rv_free(data);
        return CLI_REFUSED;
    }
    (void)printf("%s\n", hash);
    rv_free(data);
    return CLI_DONE;
}

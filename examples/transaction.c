/*
 * transaction.c - an order is marked as paid and its invoice is enqueued, both or neither: one MULTI on the program's own
 * connection.
 *
 *     transaction SOCKET ORDER...          (the unix socket of Redis; namespace "reeve")
 *
 *     cc -std=c11 -o transaction transaction.c $(pkg-config --cflags --libs reeve hiredis)
 *
 * It prints the handle of each task. An order that has an invoice is not invoiced again: its id is that of the order.
 */
#include <reeve/hiredis.h>
#include <stdio.h>
#include <string.h>

#define QUEUE "invoices"

/* HSET order:<order> state paid, within a transaction. */
static int append_payment(redisContext *redis, const char *order)
{
    if (redisAppendCommand(redis, "MULTI") != REDIS_OK) return REDIS_ERR;
    return redisAppendCommand(redis, "HSET order:%s state paid", order);
}

/* Reads the replies to MULTI and to `count` queued commands, and that of EXEC, which the caller frees. NULL: the
 * connection is lost. */
static redisReply *read_transaction(redisContext *redis, size_t count)
{
    redisReply *reply = NULL;

    for (size_t i = 0; i < count + 2; i++) {
        if (reply != NULL) freeReplyObject(reply);
        reply = NULL;
        if (redisGetReply(redis, (void **)&reply) != REDIS_OK) return NULL;
    }
    return reply;
}

/* The elements of EXEC's reply are those of HSET, then of the commands. */
static reeve_status read_results(reeve_commands *commands, const redisReply *exec)
{
    reeve_status first = REEVE_OK;

    for (size_t i = 0; i < commands->count; i++) {
        reeve_status status = reeve_hiredis_read(commands, i, exec->element[i + 1]);

        if (status == REEVE_EEXISTS) {
            fprintf(stderr, "transaction: %s\n", commands->error);
            status = REEVE_OK;
        }
        if (status != REEVE_OK && first == REEVE_OK) first = status;
    }
    return first;
}

static int send_transaction(redisContext *redis, const char *order, reeve_commands *commands)
{
    redisReply *exec;
    reeve_status status;

    if (append_payment(redis, order) != REDIS_OK || reeve_hiredis_append(redis, commands) != REDIS_OK ||
        redisAppendCommand(redis, "EXEC") != REDIS_OK)
        return 1;
    exec = read_transaction(redis, 1 + commands->count);
    if (exec == NULL || exec->type != REDIS_REPLY_ARRAY || exec->elements != 1 + commands->count) {
        fprintf(stderr, "transaction: order %s: %s\n", order,
                exec == NULL                      ? redis->errstr
                : exec->type == REDIS_REPLY_ERROR ? exec->str
                                                  : "nothing was carried out");
        if (exec != NULL) freeReplyObject(exec);
        return 1;
    }
    status = read_results(commands, exec);
    freeReplyObject(exec);
    if (status == REEVE_OK)
        printf("%s/%s\n", QUEUE, commands->tasks[0].id);
    else
        fprintf(stderr, "transaction: order %s: %s\n", order, commands->error);
    return status == REEVE_OK ? 0 : 1;
}

static int pay(redisContext *redis, const char *order)
{
    const reeve_task_spec spec = {.queue = QUEUE, .type = "echo", .payload = {order, strlen(order)}, .id = order};
    reeve_commands *commands = NULL;
    char words[512] = "";
    int failed;

    if (reeve_enqueue_commands(&commands, NULL, &spec, 1, words, sizeof(words)) != REEVE_OK) {
        fprintf(stderr, "transaction: order %s: %s\n", order, words);
        return 1;
    }
    failed = send_transaction(redis, order, commands);
    reeve_commands_free(commands);
    return failed;
}

int main(int argc, char **argv)
{
    redisContext *redis;
    int failed = 0;

    if (argc < 3) {
        fprintf(stderr, "usage: transaction SOCKET ORDER...\n");
        return 2;
    }
    redis = redisConnectUnix(argv[1]);
    if (redis == NULL || redis->err != 0) {
        fprintf(stderr, "transaction: %s: %s\n", argv[1], redis != NULL ? redis->errstr : "no memory");
        if (redis != NULL) redisFree(redis);
        return 3;
    }
    for (int i = 2; i < argc && failed == 0; i++) failed = pay(redis, argv[i]);
    redisFree(redis);
    return failed;
}

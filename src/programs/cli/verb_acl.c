/*
 * verb_acl.c - the rights in Redis that each part of a system needs, as rules for ACL SETUSER.
 *
 * A script runs with the rights of its caller, and checks them before its first write (src/lua/lib/rights.lua). So a
 * user needs the commands of the scripts that it calls, but only on the keys of its queues.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "json.h"
#include "protocol/keys.h"
#include "protocol/partition.h"
#include "verbs.h"

#define QUEUES_MAX 100

struct acl_options {
    const char *queues[QUEUES_MAX];
    size_t count;
};

struct role {
    const char *name;
    /* Patterns of keys and channels: '@' stands for the namespace; and those for each queue, '#'. */
    const char *common;
    const char *queue;
    const char *commands;
};

/* What every connection sends. */
#define CONNECTION "+ping +time +select +role +client|setname +client|id +wait +cluster|slots "
#define SCRIPTS "+evalsha +script|load "
#define READS                                                                                                       \
    "+exists +type +get +hexists +hget +hgetall +hkeys +hlen +hmget +hscan +hstrlen +lindex +llen +lpos +lrange "   \
    "+mget "                                                                                                        \
    "+scard +sismember +smembers +smismember +srandmember +sscan +zcard +zcount +zintercard +zmscore +zrandmember " \
    "+zrange "                                                                                                      \
    "+zrangebyscore "                                                                                               \
    "+zrank +zrevrange +zrevrangebyscore +zscan +zscore +xlen +xrange +xrevrange +xread +ttl +pttl "
#define WRITES                                                                                                   \
    "+del +expire +expireat +pexpire +pexpireat +hdel +hincrby +hset +hsetnx +linsert +lpop +lpush +lrem +lset " \
    "+ltrim +rename +renamenx +rpush +sadd +set +srem +unlink +zadd +zincrby +zpopmin +zrem +zremrangebyrank "   \
    "+zremrangebyscore +xadd +xtrim +persist "
#define NOTICES "+publish +subscribe +unsubscribe +pubsub|numsub "
#define TRANSACTIONS "+multi +exec +discard +watch +unwatch "
/* Ends connections that were lost (docs/limits.md). */
#define LOST "+client|list +client|kill "
/* In a cluster, a wait for queues of several nodes ends the others when one is over. */
#define WAITS "+client|unblock "
/* CONFIG GET tells passwords, too, and SCAN the names of all keys: for operators only. */
#define CHECKS "+config|get +scan +dbsize"
#define DIAGNOSIS "+info +acl|whoami "

#define PRODUCER CONNECTION SCRIPTS "+eval +blpop " READS WRITES NOTICES TRANSACTIONS
#define QUEUE "~@:{#}:* &@:{#}:* ~@:{#~*}:* &@:{#~*}:*"
#define REGISTRY \
    "~@:queues ~@:format ~@:partitions ~@:workers ~@:worker:* ~@:answer:* ~@:crashes ~@:cron &@:control &@:alive:*"

static const struct role roles[] = {
    {"producer", "~@:queues ~@:format %R~@:partitions %R~@:workers %R~@:worker:* ~@:answer:* &@:control &@:alive:*",
     QUEUE, PRODUCER},
    {"worker", REGISTRY, QUEUE, PRODUCER LOST WAITS},
    {"operator", REGISTRY, QUEUE, PRODUCER LOST WAITS DIAGNOSIS CHECKS},
    /* Scripts that only read are called with the prefix of a queue as their key, which no key has. */
    {"viewer", "%R~@:queues %R~@:format %R~@:partitions %R~@:workers %R~@:worker:* %R~@:crashes %R~@:cron &@:control",
     "%R~@:{#}:* ~@:{#}: &@:{#}:* %R~@:{#~*}:* ~@:{#~*}: &@:{#~*}:*",
     CONNECTION SCRIPTS READS "+subscribe +unsubscribe " DIAGNOSIS},
};

static int read_queue(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct acl_options *options = pointer;

    (void)option;
    if (options->count == QUEUES_MAX) return cli_usage(cli, "more than %d queues", QUEUES_MAX);
    if (cli_queue_argument(cli, value) != CLI_DONE) return CLI_USAGE;
    rv_partition_canonicalize(value); /* (a key has that name) */
    options->queues[options->count++] = value;
    return CLI_DONE;
}

static const cli_option acl_table[] = {
    {"queue", "Q", "only this queue; can be repeated (all queues)", CLI_OTHER, 0, 0, 0, read_queue},
    {0},
};

static const struct role *find_role(const char *name)
{
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        if (strcmp(roles[i].name, name) == 0) return &roles[i];
    return NULL;
}

static void add_patterns(rv_buf *out, const char *patterns, const char *ns, const char *queue)
{
    for (const char *at = patterns; *at != '\0'; at++) {
        if (*at == '@')
            rv_buf_adds(out, ns);
        else if (*at == '#')
            rv_buf_adds(out, queue);
        else
            rv_buf_addc(out, *at);
    }
    rv_buf_addc(out, ' ');
}

static void write_rules(rv_buf *out, const struct role *role, const struct acl_options *options, const char *ns)
{
    rv_buf_adds(out, "resetkeys resetchannels -@all ");
    add_patterns(out, role->common, ns, "");
    for (size_t i = 0; i < options->count; i++) add_patterns(out, role->queue, ns, options->queues[i]);
    if (options->count == 0) add_patterns(out, role->queue, ns, "*");
    rv_buf_adds(out, role->commands);
}

static void print_rules(const cli_context *cli, const struct role *role, const char *rules)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("%s\n", rules);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_json_text(&json, "role", role->name);
    cli_json_text(&json, "rules", rules);
    cli_json_end(&json);
}

static int acl(cli_context *cli, void *options)
{
    const struct role *role = find_role(cli->rest[0]);
    rv_error error = {0};
    rv_buf rules;

    if (role == NULL) return cli_usage(cli, "ROLE is producer, worker, operator or viewer");
    const char *ns = rv_keys_choose_ns(cli->ns, &error);
    if (ns == NULL) return cli_usage(cli, "%s", error.text);
    rv_buf_init(&rules, 65536);
    write_rules(&rules, role, options, ns);
    while (rules.length > 0 && rules.data[rules.length - 1] == ' ') rules.length--;
    bool failed = rules.failed;
    if (!failed) {
        rules.data[rules.length] = '\0';
        print_rules(cli, role, rv_buf_text(&rules));
    }
    rv_buf_fini(&rules);
    return failed ? cli_no_memory(cli) : CLI_DONE;
}

const cli_verb cli_verb_acl = {
    .name = "acl",
    .section = CLI_SERVERS,
    .synopsis = "ROLE [--queue Q]...",
    .summary = "Prints the rights (ACL SETUSER) that a role needs in Redis",
    .options = acl_table,
    .options_size = sizeof(struct acl_options),
    .min = 1,
    .max = 1,
    .run = acl,
    .notes =
        "ROLE is\n"
        "  producer  enqueues tasks, waits for them, and changes tasks of its queues\n"
        "  worker    runs tasks. Name also the queues of the tasks that its handlers enqueue\n"
        "  operator  uses all commands of `reeve`\n"
        "  viewer    reads queues, tasks and workers, and changes nothing\n"
        "\n"
        "The rules replace all rights of the user, except its passwords. Lua scripts run with the rights of their\n"
        "caller: a producer or worker can therefore change the keys of its queues directly, without reeve.\n"
        "\n"
        "Examples:\n"
        "  redis-cli ACL SETUSER shop on '>password' $(reeve acl producer --queue mail)\n"
        "  redis-cli ACL SETUSER workers on '>password' $(reeve acl worker)\n",
    .exits = "0 the rules were printed",
};

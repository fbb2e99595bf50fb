/*
 * main.c - checksum-tree: the digests of all files below a directory, computed by whatever workers serve the queue.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)

static const char usage[] =
    "usage: checksum-tree [--redis URL] [--queue Q] [--progress] [--manifest OUT] DIR\n"
    "\n"
    "Enqueues a \"checksum\" task for every regular file below DIR, waits for the outcomes, and sums them up.\n"
    "\n"
    "  --redis URL      where Redis is; default: the environment's REEVE_REDIS, else the embedded server\n"
    "  --queue Q        the queue that the tasks go to; default: files\n"
    "  --progress       show on standard error how far it is\n"
    "  --manifest OUT   write OUT as `sha256sum` would for the same files, in byte order of their names\n"
    "\n"
    "Exit status: 0 every file has an outcome, done or failed; 1 trouble; 2 usage; 3 no Redis; 128 + n ended by signal "
    "n.\n";

volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

/* The first signal asks; a second one of its kind ends the program the usual way. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

/* False: the caller exits with *ret_status. */
static bool read_options(struct tree *tree, int argc, char **argv, int *ret_status)
{
    static const struct option options[] = {
        {"redis", required_argument, NULL, 'r'}, {"queue", required_argument, NULL, 'q'},
        {"progress", no_argument, NULL, 'p'},    {"manifest", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'r') tree->redis = optarg;
        if (option == 'q') tree->queue = optarg;
        if (option == 'p') tree->progress = true;
        if (option == 'm') tree->manifest = optarg;
        if (option == 'h' || option == '?') {
            *ret_status = option == 'h' ? 0 : 2;
            fputs(usage, option == 'h' ? stdout : stderr);
            return false;
        }
    }
    if (argc - optind == 1 && argv[optind][0] != '\0') {
        tree->directory = argv[optind];
        return true;
    }
    fputs(usage, stderr);
    *ret_status = 2;
    return false;
}

static bool open_client(struct tree *tree)
{
    const reeve_client_options options = {.size = sizeof(options), .redis = tree->redis, .name = "checksum-tree"};
    char words[512] = "";

    if (reeve_client_open_with_error(&tree->client, &options, words, sizeof(words)) == REEVE_OK) return true;
    say("%s", words);
    return false;
}

/* Every outcome must be there when we ask for it, however many there are. */
static bool prepare_queue(struct tree *tree)
{
    const reeve_keep completed = {7 * DAY_MS, -1}, dead = {90 * DAY_MS, -1};
    const reeve_queue_settings settings = {.size = sizeof(settings), .completed = &completed, .dead = &dead};
    reeve_queue_info info;
    reeve_status status;

    do {
        status = reeve_queue_set(tree->client, tree->queue, &settings);
        if (status == REEVE_OK) status = reeve_queue(tree->client, tree->queue, &info);
    } while (patience_again(tree, status));
    if (status != REEVE_OK) return false;
    tree->ended_before =
        info.count[REEVE_STATE_COMPLETED] + info.count[REEVE_STATE_DEAD] + info.count[REEVE_STATE_CANCELLED];
    return true;
}

static bool run(struct tree *tree)
{
    if (tree->manifest != NULL && !manifest_check(tree)) return false;
    if (!prepare_queue(tree)) return false;
    tree->began_ms = now_ms();
    if (!walk(tree) || !watch(tree)) return false;
    sort_by_path(tree);
    summarise(tree);
    if (tree->missing > 0) say("%zu tasks are gone: deleted by hand, or lost with Redis's data", tree->missing);
    if (tree->manifest != NULL && !manifest_write(tree)) return false;
    return tree->missing == 0;
}

static void free_tree(struct tree *tree)
{
    reeve_client_close(tree->client);
    for (size_t i = 0; i < tree->file_count; i++) {
        free(tree->files[i].path);
        free(tree->files[i].kind);
        free(tree->files[i].message);
    }
    free(tree->files);
}

int main(int argc, char **argv)
{
    struct tree tree = {.queue = "files"};
    int status = 1;

    if (!read_options(&tree, argc, argv, &status)) return status;
    catch_signals();
    if (!open_client(&tree)) return 3;
    if (run(&tree)) status = 0;
    if (stop_signal != 0) {
        say("stopped waiting; %zu tasks were enqueued and stay in the queue %s", tree.sent, tree.queue);
        status = 128 + (int)stop_signal;
    }
    free_tree(&tree);
    if (fflush(stdout) != 0 || ferror(stdout)) status = status == 0 ? 1 : status;
    return status;
}

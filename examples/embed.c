/*
 * embed.c - a worker inside a program that has a main loop of its own.
 *
 *     embed [REDIS-URL]            (without one: $REEVE_REDIS, else the embedded server)
 *
 * The program's loop polls standard input and a timer, as it did before reeve came; reeve's threads run beside it. The
 * handler changes what the loop looks at, so both sides take a lock. INT, TERM, or the end of the input stop it
 * cleanly: what runs may finish for ten seconds, the rest goes back to its queue.
 *
 *     cc -std=gnu11 -o embed embed.c $(pkg-config --cflags --libs reeve)
 *
 * Try it: `reeve enqueue lines count "some words"` while it runs.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <reeve/reeve.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define STOP_WITHIN_MS 10000

/* ---- the program, as it was ------------------------------------------------------------------------------------ */

struct program {
    pthread_mutex_t lock; /* guards the counts */
    unsigned long lines;
    unsigned long words;
    int timer;
};

static volatile sig_atomic_t quit;

static void on_signal(int number)
{
    quit = number; /* the loop does the rest: poll ends with EINTR, or with the timer's next tick */
}

static bool catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigemptyset(&action.sa_mask);
    return sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGTERM, &action, NULL) == 0;
}

static void add_counts(struct program *program, unsigned long lines, unsigned long words)
{
    pthread_mutex_lock(&program->lock);
    program->lines += lines;
    program->words += words;
    pthread_mutex_unlock(&program->lock);
}

static void report(struct program *program, reeve_worker *worker)
{
    reeve_worker_stats stats;
    uint64_t ticks;

    if (read(program->timer, &ticks, sizeof(ticks)) != (ssize_t)sizeof(ticks)) return;
    reeve_worker_get_stats(worker, &stats);
    pthread_mutex_lock(&program->lock);
    printf("%lu lines, %lu words; tasks: %llu done, %llu failed, %u running%s\n", program->lines, program->words,
           (unsigned long long)stats.completed, (unsigned long long)stats.failed, stats.busy,
           stats.connected ? "" : " (no Redis)");
    pthread_mutex_unlock(&program->lock);
    fflush(stdout);
}

/* False at the end of the input. */
static bool take_input(struct program *program)
{
    char bytes[4096];
    unsigned long lines = 0;
    ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));

    for (ssize_t i = 0; i < got; i++) lines += bytes[i] == '\n';
    add_counts(program, lines, 0);
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

static int main_loop(struct program *program, reeve_worker *worker)
{
    struct pollfd watched[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = program->timer, .events = POLLIN}};

    while (!quit) {
        int ready = poll(watched, 2, -1);

        if (ready < 0 && errno != EINTR) {
            perror("embed: poll");
            return 1;
        }
        if (ready <= 0) continue;
        if (watched[1].revents != 0) report(program, worker);
        if (watched[0].revents != 0 && !take_input(program)) return 0;
    }
    return 0;
}

/* ---- what reeve adds ------------------------------------------------------------------------------------------- */

/* Type "count": counts the words of its payload. Runs on a thread of the pool. */
static reeve_outcome count_words(reeve_task *task, void *user)
{
    reeve_bytes payload = reeve_task_payload(task);
    const char *text = payload.data;
    unsigned long words = 0;
    char result[32];
    int length;

    for (size_t i = 0; i < payload.length; i++) words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    add_counts(user, 0, words);
    length = snprintf(result, sizeof(result), "%lu", words);
    return reeve_task_done(task, result, (size_t)length);
}

/* Makes and starts the worker; on failure says why and returns NULL. */
static reeve_worker *start_worker(const char *redis, struct program *program)
{
    static const char *const queues[] = {"urgent", "lines"};
    const reeve_worker_options options = {.size = sizeof(options), .redis = redis, .name = "embed"};
    const reeve_pool_options pool = {
        .size = sizeof(pool), .name = "words", .queues = queues, .queue_count = 2, .threads = 2};
    char words[512] = "";
    reeve_worker *worker = NULL;
    reeve_status status = reeve_worker_create(&worker, &options, words, sizeof(words));

    if (status != REEVE_OK) {
        fprintf(stderr, "embed: %s\n", words);
        return NULL;
    }
    status = reeve_worker_handle(worker, "count", count_words, program);
    if (status == REEVE_OK) status = reeve_worker_add_pool(worker, &pool);
    if (status == REEVE_OK) status = reeve_worker_start(worker);
    if (status != REEVE_OK) {
        fprintf(stderr, "embed: %s\n", reeve_worker_error(worker));
        reeve_worker_destroy(worker);
        return NULL;
    }
    return worker;
}

static void stop_worker(reeve_worker *worker)
{
    if (reeve_worker_stop(worker, STOP_WITHIN_MS) == REEVE_ETIMEOUT) {
        fprintf(stderr, "embed: a task is still running; its worker gave it back\n");
    }
    reeve_worker_destroy(worker); /* waits for handlers that still run: the program's memory is theirs until then */
}

int main(int argc, char **argv)
{
    struct program program = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct itimerspec every_second = {{1, 0}, {1, 0}};
    reeve_worker *worker;
    int status = 1;

    program.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (program.timer < 0 || timerfd_settime(program.timer, 0, &every_second, NULL) != 0 || !catch_signals()) {
        perror("embed");
        return 1;
    }
    reeve_log_set(reeve_log_to_logfmt, stderr, REEVE_LOG_WARN); /* the library is silent unless asked */
    worker = start_worker(argc > 1 ? argv[1] : NULL, &program);
    if (worker != NULL) {
        status = main_loop(&program, worker);
        stop_worker(worker);
    }
    close(program.timer);
    return status;
}

#include "supervise.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alive.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/repeated.h"
#include "base/text.h"
#include "crash_report.h"
#include "exit_guard.h"
#include "frozen.h"
#include "isolation/runner_leftovers.h"
#include "left_group.h"
#include "log_file.h"
#include "notify.h"
#include "redis/embedded.h"
#include "stacks.h"
#include "worker/aftermath.h"
#include "worker_child.h"

#define DEFAULT_SESSION_MS 15000
#define EMBEDDED_START_MS 10000
#define SETTLE_MS 2000 /* how long the next worker waits for a Redis that does not answer */
#define SETTLE_AGAIN_MS 500
#define WRECKS 8
#define EARLY_DEATHS 3
#define STREAK_MS 10000 /* a worker that lived as long did not die at once */
#define RESTART_MS 50   /* at first; twice as long each time */
#define RESTART_MAX_MS 10000

/* A worker that died, until Redis knows. */
typedef struct death {
    host_wreck wreck;
    host_crash_report report;
    int64_t died_ms;  /* wall clock */
    int64_t until_ms; /* then its sessions have expired */
} death;

typedef struct supervisor {
    const rv_config *config;
    rv_url url;
    rv_url address; /* of the embedded server */
    rv_embedded *embedded;
    int signals;
    sigset_t mask; /* of the worker: as the program was started with, and what is passed on, until it takes that */
    host_child child;
    int64_t start_at; /* when the next worker starts, while there is none */
    unsigned starts;
    unsigned not_started; /* how often the first worker could not be started */
    unsigned early;       /* deaths in a row before the first turn */
    unsigned streak;      /* deaths in a row, soon after the start, for which no task was blamed */
    death deaths[WRECKS];
    size_t death_count;
    int64_t settle_at;
    rv_repeated unsettled;
    int64_t crashed_at; /* when the present worker was first seen to have crashed, without ending; 0: it was not */
    host_frozen frozen;
    host_left_groups left;
    char stacks[HOST_BACKTRACE_MAX]; /* of a worker that was killed because it was frozen */
    bool was_frozen;
    bool has_worked; /* a worker */
    bool stops;      /* told to: no other worker starts */
    bool over;
    int exit_status;
} supervisor;

/* ---- what a worker left ---------------------------------------------------------------------------------------- */

static int64_t session_ms(const supervisor *s)
{
    return s->config->worker.session_ms > 0 ? s->config->worker.session_ms : DEFAULT_SESSION_MS;
}

static const rv_url *target_of(supervisor *s, rv_error *error)
{
    if (s->url.kind != RV_URL_EMBEDDED) return &s->url;
    if (s->embedded == NULL &&
        rv_embedded_join(&s->embedded, &s->url, &s->address, rv_deadline(EMBEDDED_START_MS), error) != REEVE_OK)
        return NULL;
    return &s->address;
}

static void log_death(const death *of, const rv_aftermath_counts *counts)
{
    const rv_flight_crash *crash = &of->wreck.header->crash;
    bool has_thread = atomic_load(&crash->stage) >= RV_CRASH_SIGNAL;
    char settled[RV_NUMBER_TEXT], given_back[RV_NUMBER_TEXT], crashed[RV_NUMBER_TEXT], unkept[RV_NUMBER_TEXT];
    char thread[sizeof(crash->thread) + 1] = "", type[sizeof(crash->type) + 1] = "";

    if (has_thread) memcpy(thread, crash->thread, sizeof(crash->thread));
    if (has_thread) memcpy(type, crash->type, sizeof(crash->type));
    rv_log(REEVE_LOG_ERROR, "worker.crashed", "the worker died: what it held is settled or goes back", "error",
           of->report.message, "task", counts->blamed, "type", type, "thread", thread, "crashed",
           rv_number_text(crashed, counts->crashed), "settled", rv_number_text(settled, counts->settled), "not_kept",
           rv_number_text(unkept, counts->unkept), "given_back", rv_number_text(given_back, counts->given_back),
           "backtrace", of->report.backtrace, NULL);
}

/* Of each death once, then once a minute. */
static void log_unsettled(supervisor *s, const death *of, bool is_first, const char *error)
{
    bool is_new = rv_repeated_is_new(&s->unsettled, error, rv_now_ms());

    if (!is_first && !is_new) return;
    rv_log(REEVE_LOG_WARN, "worker.crashed", "the worker died, and Redis does not take what it left: tried again",
           "error", error, "death", of->report.message, NULL);
}

static reeve_status settle(supervisor *s, const death *of, bool is_first, rv_aftermath_counts *ret)
{
    rv_error error = {0};
    rv_aftermath aftermath = {.target = target_of(s, &error),
                              .ns = s->config->ns,
                              .flight = of->wreck.header,
                              .size = of->wreck.size,
                              .died_ms = of->died_ms,
                              .message = of->report.message,
                              .backtrace = of->report.backtrace};
    reeve_status status = REEVE_ECONNECT;

    if (aftermath.target != NULL) status = rv_aftermath_settle(&aftermath, rv_deadline(SETTLE_MS), ret, &error);
    if (status == REEVE_OK) {
        log_death(of, ret);
        return status;
    }
    log_unsettled(s, of, is_first, error.text);
    return status;
}

static void forget_death(supervisor *s, size_t index)
{
    host_wreck_drop(&s->deaths[index].wreck);
    s->death_count--;
    memmove(&s->deaths[index], &s->deaths[index + 1], (s->death_count - index) * sizeof(s->deaths[0]));
}

/* Those that Redis did not take before. */
static void settle_again(supervisor *s)
{
    if (s->death_count == 0 || rv_now_ms() < s->settle_at) return;
    for (size_t i = s->death_count; i-- > 0;) {
        rv_aftermath_counts counts = {0};

        /* Also when the time is over: it may have passed while nothing ran. */
        bool settled = settle(s, &s->deaths[i], false, &counts) == REEVE_OK;
        if (settled || rv_now_ms() >= s->deaths[i].until_ms) forget_death(s, i);
    }
    s->settle_at = rv_deadline(SETTLE_AGAIN_MS);
}

/* ---- the next worker ------------------------------------------------------------------------------------------- */

static void give_up(supervisor *s, const host_crash_report *report)
{
    (void)fprintf(stderr,
                  "reeve-worker: the worker died %d times before it could take a task; the last time: %s\n"
                  "reeve-worker: look into its plugins and its log. It ends with status %d.\n",
                  EARLY_DEATHS, report->message, HOST_EXIT_DEATHS);
    s->over = true;
    s->exit_status = HOST_EXIT_DEATHS;
}

static int64_t with_jitter(int64_t ms)
{
    char text[RV_RANDOM_LENGTH + 1];
    unsigned percent = 0;

    rv_random_id(text);
    for (size_t i = 0; i < 4; i++)
        percent = percent * 16 + (unsigned)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
    return ms * (75 + percent % 51) / 100;
}

/* A death for which a task was blamed is answered at once: there are only so many of these. */
static void plan_start(supervisor *s, bool is_early, bool is_blamed, int64_t lived_ms)
{
    int64_t pause = RESTART_MS;

    s->early = is_early ? s->early + 1 : 0;
    s->streak = is_blamed || lived_ms >= STREAK_MS ? 0 : s->streak + 1;
    for (unsigned i = 1; i < s->streak && pause < RESTART_MAX_MS; i++) pause *= 2;
    if (pause > RESTART_MAX_MS) pause = RESTART_MAX_MS;
    s->start_at = s->streak == 0 ? rv_now_ms() : rv_deadline(with_jitter(pause));
}

/* The worker was killed because it was frozen: its stacks are those of all threads. */
static void tell_frozen(supervisor *s, host_crash_report *report)
{
    if (s->was_frozen && report->backtrace[0] == '\0') {
        rv_copy_text(report->message, sizeof(report->message),
                     "the worker gave no sign of life for too long while the task ran, and was killed");
        rv_copy_text(report->backtrace, sizeof(report->backtrace), s->stacks);
    }
    s->was_frozen = false;
    s->stacks[0] = '\0';
}

static void after_death(supervisor *s, int status, int64_t lived_ms)
{
    host_wreck wreck;
    rv_aftermath_counts counts = {0};

    if (!host_child_end(&s->child, &wreck)) {
        rv_log(REEVE_LOG_ERROR, "worker.crashed", "the worker died, and there is no memory to read what it left", NULL);
        plan_start(s, false, false, lived_ms);
        return;
    }
    if (s->death_count == WRECKS) forget_death(s, 0);
    death *of = &s->deaths[s->death_count];
    bool is_early = atomic_load(&wreck.header->turned) == 0;
    *of = (death){.wreck = wreck, .died_ms = rv_wall_ms(), .until_ms = rv_deadline(session_ms(s))};
    host_crash_report_make(&of->report, status, &wreck.header->crash);
    tell_frozen(s, &of->report);
    if (is_early && s->early + 1 >= EARLY_DEATHS && !s->stops) give_up(s, &of->report);
    reeve_status settled = settle(s, of, true, &counts);
    plan_start(s, is_early, counts.crashed > 0, lived_ms);
    if (settled == REEVE_OK) {
        host_wreck_drop(&of->wreck);
    } else {
        s->death_count++;
        s->settle_at = rv_deadline(SETTLE_AGAIN_MS);
    }
}

/* A worker that follows another one ended before it could work: a plugin or the configuration is faulty, perhaps for a
 * moment, as its file is being replaced. The worker before had none of that, so the service goes on. */
static void start_later(supervisor *s, int exit_status, int64_t lived_ms)
{
    char number[RV_NUMBER_TEXT];

    rv_log(REEVE_LOG_ERROR, "worker.start",
           "the new worker could not start: standard error has the reason; tried again", "status",
           rv_number_text(number, (uint64_t)exit_status), NULL);
    host_notify("STATUS=the new worker cannot start");
    plan_start(s, false, false, lived_ms);
}

/* Died while it was to stop. */
static void end_after_death(supervisor *s)
{
    s->over = true;
    s->exit_status = HOST_EXIT_STATUS;
}

static void child_ended(supervisor *s, int status)
{
    int64_t lived_ms = rv_now_ms() - s->child.started_ms;
    const rv_flight_header *header = s->child.header;
    bool has_ended = atomic_load(&header->ended) != 0, in_order = WIFEXITED(status) && has_ended;
    bool renews = atomic_load(&header->renews) != 0;
    host_wreck wreck;

    s->child.pid = 0;
    s->has_worked = s->has_worked || !has_ended || renews;
    if (!in_order) {
        after_death(s, status, lived_ms);
        if (s->stops) end_after_death(s);
        return;
    }
    bool is_failed = WEXITSTATUS(status) != 0 && s->has_worked && !s->stops;
    s->over = s->stops || (!renews && !is_failed);
    s->exit_status = is_failed ? 0 : WEXITSTATUS(status);
    s->start_at = rv_now_ms();
    if (is_failed) start_later(s, WEXITSTATUS(status), lived_ms);
    if (host_child_end(&s->child, &wreck)) host_wreck_drop(&wreck);
}

/* How long its main thread was silent; or since when it has crashed and does not end, as the action behind the crash
 * handler hangs. */
static int64_t silence_of(supervisor *s)
{
    bool has_crashed = atomic_load(&s->child.header->crash.stage) != RV_CRASH_NONE;
    int64_t now = rv_now_ms(), silence = host_frozen_silence(&s->frozen, atomic_load(&s->child.header->tick_ms), now);

    if (!has_crashed)
        s->crashed_at = 0;
    else if (s->crashed_at == 0)
        s->crashed_at = now;
    int64_t hangs = host_frozen_silence(&s->frozen, s->crashed_at, now);
    return hangs > silence ? hangs : silence;
}

/* All of them go to the log; the first, as many lines as fit, into the report. */
static void keep_stacks(supervisor *s)
{
    rv_buf stacks;

    rv_buf_init(&stacks, HOST_STACKS_MAX);
    host_stacks_last(&stacks, s->child.pid, &s->child.header->stacks);
    s->was_frozen = true;
    host_crash_report_cut(s->stacks, sizeof(s->stacks), rv_buf_text(&stacks));
    rv_buf_fini(&stacks);
}

/* A worker whose main thread gave no sign of life. */
static void end_frozen(supervisor *s)
{
    char ms[RV_NUMBER_TEXT];
    int64_t frozen_ms = s->config->worker.frozen_ms;

    if (s->child.pid == 0) host_frozen_rest(&s->frozen);
    if (s->child.pid == 0 || frozen_ms <= 0) return;
    host_frozen_look(&s->frozen, rv_now_ms(), frozen_ms);
    int64_t silence = silence_of(s);
    if (silence < frozen_ms) return;
    rv_log(REEVE_LOG_ERROR, "worker.frozen", "the worker gave no sign of life for too long: it is killed", "ms",
           rv_number_text(ms, (uint64_t)silence), NULL);
    keep_stacks(s);
    (void)kill(s->child.pid, SIGKILL);
    s->frozen.since_ms = rv_now_ms();
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

/* Tells the service manager what the worker says. */
static void pass_messages(const supervisor *s)
{
    char buffer[512];
    const char *message;

    while ((message = host_child_message(&s->child, buffer, sizeof(buffer))) != NULL) host_notify(message);
}

/* The worker, and what handlers left behind. */
static void reap(supervisor *s)
{
    int status;

    for (siginfo_t about = {0}; waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid > 0;
         about = (siginfo_t){0}) {
        pid_t pid = about.si_pid;
        if (pid == s->child.pid) host_left_group_ask(pid);
        if (waitpid(pid, &status, WNOHANG) != pid || pid != s->child.pid) continue;
        host_left_group_add(&s->left, pid);
        rv_runner_leftovers_kill_all(pid);
        pass_messages(s);
        child_ended(s, status);
    }
}

static void pass_signal(supervisor *s, int signal_number)
{
    rv_error ignored = {0};

    if (signal_number == SIGUSR2) (void)host_log_file_reopen(&ignored); /* the worker tells of a failure */
    bool is_end = signal_number == SIGTERM || signal_number == SIGINT;
    if (is_end) s->stops = true;
    if (s->child.pid != 0 && is_end) atomic_fetch_add(&s->child.header->told, 1);
    if (s->child.pid != 0)
        (void)kill(s->child.pid, signal_number);
    else if (s->stops)
        s->over = true;
}

static void read_signals(supervisor *s)
{
    struct signalfd_siginfo about;

    while (read(s->signals, &about, sizeof(about)) == sizeof(about)) {
        if (about.ssi_signo == SIGCHLD)
            reap(s);
        else
            pass_signal(s, (int)about.ssi_signo);
    }
}

static int64_t next_time(supervisor *s)
{
    int64_t next = s->child.pid == 0 ? s->start_at : RV_FOREVER, frozen_ms = s->config->worker.frozen_ms;

    if (s->death_count > 0 && s->settle_at < next) next = s->settle_at;
    int64_t kill_at = host_left_group_look(&s->left);
    if (kill_at < next) next = kill_at;
    /* The service manager expects signs of life also while no worker can give them: a plugin may take long to load. */
    bool works = s->child.pid != 0 && atomic_load(&s->child.header->ended) == 0;
    int64_t sign_at = works ? RV_FOREVER : host_alive_tick_watchdog();
    if (sign_at < next) next = sign_at;
    int64_t look_at = s->child.pid != 0 && frozen_ms > 0 ? rv_deadline(host_frozen_interval(frozen_ms)) : RV_FOREVER;
    return look_at < next ? look_at : next;
}

static void wait_for_events(supervisor *s)
{
    struct pollfd fds[] = {{.fd = s->signals, .events = POLLIN}, {.fd = s->child.notify_fd, .events = POLLIN}};

    (void)poll(fds, 2, rv_poll_timeout(next_time(s)));
    pass_messages(s);
    read_signals(s);
    end_frozen(s);
    settle_again(s);
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static bool open_signals(supervisor *s)
{
    static const int ours[] = {SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) (void)sigaddset(&set, ours[i]);
    if (sigprocmask(SIG_BLOCK, &set, &s->mask) != 0) return false;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (ours[i] != SIGCHLD) (void)sigaddset(&s->mask, ours[i]);
    s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signals >= 0;
}

/* False: the error says why. */
static bool begin(supervisor *s, const char *redis, rv_error *error)
{
    rv_error ignored;

    (void)signal(SIGCHLD, SIG_DFL); /* ignored, there would be no status */
    if (!open_signals(s)) return rv_fail(error, REEVE_ESYSTEM, "signals: %s", strerror(errno)) == REEVE_OK;
    if (rv_url_parse(&s->url, rv_url_choose(redis), error) != REEVE_OK) return false;
    if (rv_url_secure(&s->url, &s->config->tls, error) != REEVE_OK) return false;
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    rv_error_clear(&ignored);
    (void)target_of(s, &ignored); /* an embedded server outlives the worker; why it does not start, the worker says */
    if (host_log_file_set(s->config->worker.log_file, error) != REEVE_OK) return false;
    reeve_log_set(s->config->worker.log_format == RV_LOG_JSON ? reeve_log_to_json : reeve_log_to_logfmt, stderr,
                  s->config->worker.log_level);
    return true;
}

static void end(supervisor *s)
{
    host_left_group_wait(&s->left);
    while (s->death_count > 0) forget_death(s, s->death_count - 1);
    if (s->embedded != NULL) rv_embedded_leave(s->embedded);
    if (s->embedded != NULL) rv_url_fini(&s->address);
    rv_url_fini(&s->url);
    if (s->signals >= 0) (void)close(s->signals);
}

/* There is no process, or no memory for its record. That may pass, but where no worker has been yet, somebody waits for
 * the start, and may do something about it. */
static void not_started(supervisor *s, const rv_error *error)
{
    rv_log(REEVE_LOG_ERROR, "worker.start", "the worker cannot be started: tried again", "error", error->text, NULL);
    plan_start(s, false, false, 0);
    if (s->has_worked || ++s->not_started < EARLY_DEATHS) return;
    (void)fprintf(stderr, "reeve-worker: cannot start: %s\n", error->text);
    s->over = true;
    s->exit_status = 1;
}

/* Returns true in a child. */
static bool supervise(supervisor *s)
{
    while (!s->over) {
        rv_error error = {0};

        if (s->child.pid != 0 || rv_now_ms() < s->start_at) {
            wait_for_events(s);
            continue;
        }
        s->starts++;
        if (host_child_start(&s->child, &s->mask, s->config->worker.frozen_ms, &error)) {
            if (s->child.pid == 0) return true;
            continue;
        }
        not_started(s, &error);
    }
    return false;
}

int host_supervise(const rv_config *config, const char *redis, int (*run)(void *context, bool again), void *context)
{
    supervisor s = {.config = config, .signals = -1, .child = {.flight_fd = -1, .notify_fd = -1}};
    rv_error error = {0};

    if (!begin(&s, redis, &error)) {
        (void)fprintf(stderr, "reeve-worker: cannot start: %s\n", error.text);
        end(&s);
        return 1;
    }
    if (supervise(&s)) {
        reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
        (void)close(s.signals);
        rv_url_fini(&s.url);
        return run(context, s.starts > 1);
    }
    end(&s);
    return s.exit_status;
}

/*
 * plugin.hpp - handlers, layers and plugins in C++ (C++17 or later; header only).
 *
 *     static reeve_outcome greet(reeve_task *task, void *)
 *     {
 *         std::string name = parse(reeve_task_payload(task));   // may throw
 *         return reeve_task_done(task, name.data(), name.size());
 *     }
 *
 *     static const reeve_handler handlers[] = {
 *         reeve::handler<greet>("greet"),
 *         reeve::handler<resize>("resize", [](reeve_handler &h) { h.attempts = 5; h.timeout_ms = 60000; }),
 *     };
 *     REEVE_CXX_PLUGIN([](reeve_plugin &p) { p.name = "greeter"; reeve::set_handlers(p, handlers); })
 *
 * Exceptions. The library is C: an exception that leaves a plain handler, layer or hook ends the process
 * (std::terminate), and the running tasks of the process crash. Handlers and layers that are made with this header
 * catch all exceptions, and turn them into outcomes:
 *
 *     reeve::fail            the task is dead at once, with the exception's kind and message (reeve_task_fail)
 *     reeve::retry           a failed attempt with its kind and message, repeated after its delay (reeve_task_retry)
 *     any std::exception     a failed attempt, repeated after the backoff: kind is the name of its type
 *                            ("std::runtime_error"), message is what()
 *     anything else          the same, with kind "exception"
 *
 * The local objects of the handler are destroyed as usual. Hooks (thread_start, thread_stop, free_user, load, unload)
 * must not throw. Any number of threads may call the functions of this header at the same time. They do not block and
 * do no I/O.
 */
#ifndef REEVE_PLUGIN_HPP
#define REEVE_PLUGIN_HPP

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <cxxabi.h>

#include "plugin.h"
#include "worker.h"

namespace reeve
{

/* Thrown by a handler: the task failed for good. */
class fail : public std::runtime_error
{
  public:
    fail(std::string kind, const std::string &message) : std::runtime_error(message), kind_(std::move(kind))
    {
    }
    const char *kind() const noexcept
    {
        return kind_.c_str();
    }

  private:
    std::string kind_;
};

/* Thrown by a handler: this attempt failed. delay_ms: milliseconds until the next one; negative: after the backoff. */
class retry : public std::runtime_error
{
  public:
    retry(std::string kind, const std::string &message, int64_t delay_ms = -1)
        : std::runtime_error(message), kind_(std::move(kind)), delay_ms_(delay_ms)
    {
    }
    const char *kind() const noexcept
    {
        return kind_.c_str();
    }
    int64_t delay_ms() const noexcept
    {
        return delay_ms_;
    }

  private:
    std::string kind_;
    int64_t delay_ms_;
};

namespace detail
{

/* Records a std::exception in the task, under the name of its type. */
inline reeve_outcome retry_typed(reeve_task *task, const std::exception &error)
{
    int status = 0;
    char *name = abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status);
    reeve_outcome outcome = reeve_task_retry(task, -1, name != nullptr ? name : "exception", "%s", error.what());
    std::free(name);
    return outcome;
}

/* The outcome for the exception that is being handled. */
inline reeve_outcome outcome_of_exception(reeve_task *task)
{
    try {
        throw;
    } catch (const fail &error) {
        return reeve_task_fail(task, error.kind(), "%s", error.what());
    } catch (const retry &error) {
        return reeve_task_retry(task, error.delay_ms(), error.kind(), "%s", error.what());
    } catch (const std::exception &error) {
        return retry_typed(task, error);
#ifdef __GLIBCXX__
    } catch (abi::__forced_unwind &) { /* the thread is being cancelled: this exception must be thrown again */
        throw;
#endif
    } catch (...) {
        return reeve_task_retry(task, -1, "exception", "%s", "an exception that is no std::exception");
    }
}

template <reeve_handler_fn Run> reeve_outcome run(reeve_task *task, void *user)
{
    try {
        return Run(task, user);
    } catch (...) {
        return outcome_of_exception(task);
    }
}

template <reeve_layer_fn Run> reeve_outcome run_layer(reeve_task *task, reeve_next *next, void *user)
{
    try {
        return Run(task, next, user);
    } catch (...) {
        return outcome_of_exception(task);
    }
}

/* Tasks that have an outcome keep it. The other tasks get the outcome of the exception. */
template <reeve_batch_fn Run> void run_batch(reeve_task *const *tasks, size_t count, void *user)
{
    try {
        Run(tasks, count, user);
#ifdef __GLIBCXX__
    } catch (abi::__forced_unwind &) { /* the thread is being cancelled: this exception must be thrown again */
        throw;
#endif
    } catch (...) {
        for (size_t i = 0; i < count; i++) {
            if (reeve_task_outcome(tasks[i]) == REEVE_OUTCOME_NONE) outcome_of_exception(tasks[i]);
        }
    }
}

template <typename Function> reeve_outcome run_object(reeve_task *task, void *user)
{
    try {
        return (*static_cast<Function *>(user))(task);
    } catch (...) {
        return outcome_of_exception(task);
    }
}

template <typename Function> void free_object(void *user)
{
    delete static_cast<Function *>(user);
}

struct nothing {
    template <typename Struct> void operator()(Struct &) const
    {
    }
};

} // namespace detail

/*
 * Makes a handler, for a plugin's table or reeve_worker_register. Run is called as `run` of reeve_handler. `type`
 * must outlive the handler. `set` is a callable that gets the struct and can fill in further fields.
 */
template <reeve_handler_fn Run, typename Set = detail::nothing> reeve_handler handler(const char *type, Set set = Set())
{
    reeve_handler made = {};
    made.size = sizeof(made);
    made.type = type;
    made.run = detail::run<Run>;
    set(made);
    return made;
}

/* Makes a batch handler: Run is called as `run_batch` of reeve_handler. */
template <reeve_batch_fn Run, typename Set = detail::nothing>
reeve_handler batch_handler(const char *type, Set set = Set())
{
    reeve_handler made = {};
    made.size = sizeof(made);
    made.type = type;
    made.run_batch = detail::run_batch<Run>;
    set(made);
    return made;
}

/* Makes a layer, for a plugin's table or reeve_worker_add_layer. It applies to the handler of `type`; nullptr: to all
 * handlers. */
template <reeve_layer_fn Run, typename Set = detail::nothing>
reeve_layer layer(const char *name, const char *type = nullptr, Set set = Set())
{
    reeve_layer made = {};
    made.size = sizeof(made);
    made.name = name;
    made.type = type;
    made.run = detail::run_layer<Run>;
    set(made);
    return made;
}

/*
 * Registers a function object, for instance a lambda, with the signature reeve_outcome (reeve_task *). The object is
 * copied or moved to the heap. Several threads may call it at the same time. It is deleted with the worker, or at
 * once if the call fails. Throws std::bad_alloc.
 */
template <typename Function> reeve_status handle(reeve_worker *worker, const char *type, Function &&function)
{
    using object = std::decay_t<Function>;
    reeve_handler made = {};
    object *copy = new object(std::forward<Function>(function));
    made.size = sizeof(made);
    made.type = type;
    made.run = detail::run_object<object>;
    made.user = copy;
    made.free_user = detail::free_object<object>;
    reeve_status status = reeve_worker_register(worker, &made);
    if (status != REEVE_OK) delete copy;
    return status;
}

/* These functions set the handlers, the layers and the options of a plugin. The arrays must outlive the plugin. */
template <size_t Count> void set_handlers(reeve_plugin &plugin, const reeve_handler (&list)[Count])
{
    plugin.handlers = list;
    plugin.handler_count = Count;
}
template <size_t Count> void set_layers(reeve_plugin &plugin, const reeve_layer (&list)[Count])
{
    plugin.layers = list;
    plugin.layer_count = Count;
}

template <size_t Count> void set_options(reeve_plugin &plugin, const reeve_option (&list)[Count])
{
    plugin.options = list;
    plugin.option_count = Count;
    plugin.option_size = sizeof(reeve_option);
}

/* The description of a plugin, for REEVE_CXX_PLUGIN. */
template <typename Set> reeve_plugin describe(Set set)
{
    reeve_plugin made = {};
    made.size = sizeof(made);
    made.abi = REEVE_PLUGIN_ABI;
    made.handler_size = sizeof(reeve_handler);
    made.layer_size = sizeof(reeve_layer);
    set(made);
    return made;
}

} // namespace reeve

/* Defines the plugin's only exported symbol. Argument: a callable that fills in a reeve_plugin. */
#define REEVE_CXX_PLUGIN(...)                                            \
    extern "C" REEVE_API const reeve_plugin *reeve_plugin_entry(void);   \
    extern "C" REEVE_API const reeve_plugin *reeve_plugin_entry(void)    \
    {                                                                    \
        static const reeve_plugin plugin = reeve::describe(__VA_ARGS__); \
        return &plugin;                                                  \
    }

#endif

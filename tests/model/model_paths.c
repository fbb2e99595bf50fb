/*
 * Short lists that lead to places where chance seldom goes, and those that failed once. Each is run by itself, and some
 * random sequences begin with one. (REEVE_TEST_FIND finds such lists.)
 */
#include "model/model.h"

#define PATH(words, ...)                                                                                   \
    {                                                                                                      \
        words, (const model_op[]){__VA_ARGS__}, sizeof((const model_op[]){__VA_ARGS__}) / sizeof(model_op) \
    }

/* clang-format off */
const model_path model_paths[] = {
    PATH("a session leaves while its tasks are being taken back",
         {ENQUEUE, {0, 0, 6, 1}},
         {TURN, {0, 0, 0, 6}},
         {CLOCK, {TTL}},
         {TEND, {0, 0, 1}},
         {LEAVE, {0}}),
    PATH("a heartbeat, a question, a turn and a deletion while tasks are being taken back",
         {ENQUEUE, {0, 0, 6, 1}},
         {TURN, {0, 0, 0, 6}},
         {CLOCK, {TTL}},
         {TEND, {0, 0, 1}},
         {BEAT, {0, 0, 0, 2}},
         {DELETE, {0, 0}},
         {DELETE, {0, 1}},
         {DELETE, {0, 2}},
         {TURN, {0, 0, 0, 1, 3, 0, 2}},
         {RECALL, {0, 2}},
         {TEND, {0, 0, 1}}),
    PATH("what an earlier thread told of its progress goes with the task",
         {ENQUEUE, {0, 0, 1}},
         {TURN, {0, 0, 0, 1}},
         {PROGRESS, {0, 0, 50}},
         {TURN, {0, 0, 0, 0, 1, 07}},
         {KEEP, {0}},
         {TURN, {1, 0, 0, 1}},
         {TURN, {1, 0, 0, 0, 1}}),
    PATH("what a task was dead of goes with it, also if that was no attempt",
         {ENQUEUE, {0, 0, 1}},
         {TURN, {0, 0, 0, 1}},
         {TURN, {0, 0, 0, 0, 1, 05}},
         {KEEP, {0}},
         {RETRY, {0, 0}},
         {TURN, {0, 0, 0, 1}},
         {TURN, {0, 0, 0, 0, 1}}),
    PATH("the last large task goes",
         {ENQUEUE, {0, 0, 1, 0, 0, 0, 0, 8}},
         {TEND, {0}},
         {DELETE, {0, 0}},
         {TEND, {0}}),
    PATH("a thread that was told of one queue finds a task in another",
         {ENQUEUE, {1, 0, 1}},
         {POP, {0, 0, 2}},
         {ENQUEUE, {0, 0, 1}},
         {TURN, {0}},
         {TEND, {0, 1}}),
    PATH("dead tasks past their count",
         {ENQUEUE, {0, 0, 2, 1}},
         {KEEP, {0, 1, 1, -1}},
         {TURN, {0, 0, 0, 2}},
         {TURN, {0, 0, 0, 0, 2, 044}}),
    PATH("a crashed task in the second queue waits for a turn of its own",
         {ENQUEUE, {1, 0, 1}},
         {TURN, {0, 0, 1, 1}},
         {CLOCK, {TTL}},
         {TEND, {0, 1}},
         {ENQUEUE, {0, 0, 1}},
         {TURN, {1, 0, 2, 2}},
         {TURN, {1, 0, 2, 2}}),
    PATH("a session gets one crashed task at a time",
         {ENQUEUE, {0, 0, 2, 1}},
         {TURN, {0, 0, 0, 2}},
         {CLOCK, {TTL}},
         {TEND, {0}},
         {TURN, {1, 0, 0, 2}},
         {TURN, {1, 1, 0, 2}},
         {CLOCK, {PUT_OFF}},
         {TEND, {0}},
         {TURN, {2, 0, 0, 2}}),
};
/* clang-format on */

const size_t model_path_count = sizeof(model_paths) / sizeof(model_paths[0]);

#include "redis/spin.h"

#include <sched.h>

#include "base/clock.h"

/* Calls that follow a reply within this time come one right after the other. */
#define NEAR_US 100
#define MISSES_MAX 10u

static bool has_company(void)
{
    cpu_set_t processors;
    /* It fails where there are more than the set has room for. */
    return sched_getaffinity(0, sizeof(processors), &processors) != 0 || CPU_COUNT(&processors) > 1;
}

void rv_spin_init(rv_spin *spin, int64_t max_us)
{
    if (max_us > RV_SPIN_MAX_US) max_us = RV_SPIN_MAX_US;
    *spin = (rv_spin){.max_us = max_us > 0 && has_company() ? max_us : 0};
}

void rv_spin_begin(rv_spin *spin)
{
    spin->until_us = 0;
    if (spin->max_us == 0) return;
    int64_t now = rv_now_us();
    if (now - spin->replied_us > NEAR_US) return;
    if (spin->rest > 0) {
        spin->rest--;
    } else {
        spin->until_us = now + spin->max_us;
    }
}

/* About half a microsecond: each look takes the lock of the socket, which Redis wants, too. */
static void pause_a_little(void)
{
#if defined(__x86_64__) || defined(__i386__)
    for (int i = 0; i < 30; i++) __builtin_ia32_pause();
#elif defined(__aarch64__)
    for (int i = 0; i < 30; i++) __asm__ volatile("isb");
#endif
}

bool rv_spin_goes_on(const rv_spin *spin)
{
    if (spin->until_us == 0) return false;
    pause_a_little();
    return rv_now_us() < spin->until_us;
}

void rv_spin_end(rv_spin *spin)
{
    if (spin->max_us == 0) return;
    spin->replied_us = rv_now_us();
    if (spin->until_us == 0) return;
    if (spin->replied_us < spin->until_us) {
        if (spin->misses > 0) spin->misses--;
    } else if (spin->misses < MISSES_MAX) {
        spin->misses++;
    }
    spin->rest = spin->misses == 0 ? 0 : 1u << spin->misses;
}

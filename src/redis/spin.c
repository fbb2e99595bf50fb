#include "redis/spin.h"

#include <sched.h>

#include "base/clock.h"

/* Calls that follow a reply within this time come one right after the other. */
#define NEAR_US 100
#define MISSES_MOST 10u

static bool has_company(void)
{
    cpu_set_t processors;
    /* It fails where there are more than the set has room for. */
    return sched_getaffinity(0, sizeof(processors), &processors) != 0 || CPU_COUNT(&processors) > 1;
}

void rv_spin_init(rv_spin *spin, int64_t most_us)
{
    if (most_us > RV_SPIN_MOST_US) most_us = RV_SPIN_MOST_US;
    *spin = (rv_spin){.most_us = most_us > 0 && has_company() ? most_us : 0};
}

void rv_spin_begin(rv_spin *spin)
{
    spin->until_us = 0;
    if (spin->most_us == 0) return;
    int64_t now = rv_now_us();
    if (now - spin->replied_us > NEAR_US) return;
    if (spin->rest > 0) {
        spin->rest--;
    } else {
        spin->until_us = now + spin->most_us;
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
    if (spin->most_us == 0) return;
    spin->replied_us = rv_now_us();
    if (spin->until_us == 0) return;
    if (spin->replied_us < spin->until_us) {
        if (spin->misses > 0) spin->misses--;
    } else if (spin->misses < MISSES_MOST) {
        spin->misses++;
    }
    spin->rest = spin->misses == 0 ? 0 : 1u << spin->misses;
}

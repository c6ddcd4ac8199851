/* Counts the calls that can fail and makes a chosen one fail, for tests. */
#include "base/fault.h"

#ifdef BARYON_FAULTS

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static struct {
    _Atomic uint64_t count;
    _Atomic uint64_t fail_at, kill_at; /* call numbers, 0: none */
    _Atomic bool forever;
} calls[BY_FAULT_KINDS];

bool by_fault(enum by_fault_kind kind)
{
    uint64_t now = atomic_fetch_add(&calls[kind].count, 1) + 1;
    uint64_t fail_at = atomic_load(&calls[kind].fail_at);
    if (now == atomic_load(&calls[kind].kill_at))
        kill(getpid(), SIGKILL);
    if (!fail_at || now < fail_at || (now > fail_at && !atomic_load(&calls[kind].forever)))
        return false;
    errno = kind == BY_FAULT_IO ? EIO : ENOMEM;
    return true;
}

void by_fault_arm(enum by_fault_kind kind, uint64_t k, bool forever)
{
    atomic_store(&calls[kind].forever, forever);
    atomic_store(&calls[kind].fail_at, k ? atomic_load(&calls[kind].count) + k : 0);
}

void by_fault_arm_kill(enum by_fault_kind kind, uint64_t k)
{
    atomic_store(&calls[kind].kill_at, k ? atomic_load(&calls[kind].count) + k : 0);
}

uint64_t by_fault_count(enum by_fault_kind kind)
{
    return atomic_load(&calls[kind].count);
}

#endif

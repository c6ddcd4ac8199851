/* Every call of a kind fails in turn, once and from then on. Include what has `err` first. */
#ifndef BY_TEST_SWEEP_H
#define BY_TEST_SWEEP_H

#include "base/fault.h"

static inline void has_to_work(int call(void))
{
    if (call())
        fail_msg("%s", err.message);
}

/* code 0: any. */
static inline void sweep(enum by_fault_kind kind, enum baryon_code code, int call(void))
{
    has_to_work(call); /* the first one opens libraries for all that follow */
    const uint64_t before = by_fault_count(kind);
    has_to_work(call);
    const uint64_t calls = by_fault_count(kind) - before;
    assert_true(calls > 0);
    for (uint64_t k = 1; k <= calls; k++)
        for (int forever = 0; forever < 2; forever++) {
            by_fault_arm(kind, k, forever);
            by_err_clear(&err);
            const int status = call();
            by_fault_arm(kind, 0, false);
            assert_int_equal(status, -1);
            if (code)
                assert_int_equal(err.code, code);
        }
}

static inline void sweep_memory(int call(void))
{
    sweep(BY_FAULT_ALLOC, BARYON_ERR_NOMEM, call);
}

#endif

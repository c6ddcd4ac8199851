/* The memory that ONNX Runtime falls back on, and the hook of operator new that gives it up. */
#include "engine_build.h"

#include "base/room.h"
#include "engine/ort.h"
#include "engine/spare.h"

#include <dlfcn.h>

#define MIB ((size_t)1 << 20)

typedef void hook_fn(void);

static const struct by_ort *ort;
static hook_fn *(*set_hook)(hook_fn *);
static hook_fn *(*get_hook)(void);

static int enter(void **state)
{
    (void)state;
    assert_ok(by_ort_open(&ort, NULL, &err));
    void *handle = dlopen(ort->path, RTLD_NOW);
    assert_non_null(handle);
    *(void **)&set_hook = dlsym(handle, "_ZSt15set_new_handlerPFvvE");
    *(void **)&get_hook = dlsym(handle, "_ZSt15get_new_handlerv");
    assert_true(set_hook && get_hook);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    by_ort_close(ort);
    assert_null(get_hook());
    return 0;
}

static void test_room(void **state)
{
    (void)state;
    void *room = by_room_take(16 * MIB);
    assert_non_null(room);
    by_room_give(room, 16 * MIB);
    by_room_give(NULL, 16 * MIB);
    assert_true(by_room_is_there(16 * MIB));
    assert_null(by_room_take(SIZE_MAX / 2));
    assert_false(by_room_is_there(SIZE_MAX / 2));
}

/* First the room goes, then the hook: operator new throws. The next call sets up both. */
static void test_giving_up(void **state)
{
    (void)state;
    hook_fn *hook = get_hook();
    assert_non_null(hook);
    hook();
    assert_ptr_equal(get_hook(), hook);
    hook();
    assert_null(get_hook());
    assert_ok(by_spare_take(&err));
    assert_ptr_equal(get_hook(), hook);
    assert_ok(by_spare_take(&err));
    hook();
    assert_ptr_equal(get_hook(), hook);
    assert_ok(by_spare_take(&err));
}

static void of_the_caller(void)
{
}

static void test_hook_of_the_caller(void **state)
{
    (void)state;
    hook_fn *before = set_hook(of_the_caller);
    assert_ok(by_spare_take(&err));
    assert_ptr_equal(get_hook(), of_the_caller);
    by_ort_close(ort);
    assert_ptr_equal(get_hook(), of_the_caller);
    assert_ok(by_ort_open(&ort, NULL, &err));
    assert_ptr_equal(get_hook(), of_the_caller);
    set_hook(NULL);
    assert_ok(by_spare_take(&err));
    assert_ptr_equal(get_hook(), before);
}

static void test_threads(void **state)
{
    (void)state;
    assert_ok(by_spare_for_threads(4096, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_giving_up),
        cmocka_unit_test(test_hook_of_the_caller),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}

/* Reserves memory for ONNX Runtime and releases it when operator new fails. */
#include "engine/spare.h"

#include "base/room.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#define SPARE  ((size_t)16 << 20)
#define THREAD ((size_t)256 << 10) /* seen: 0.1 MiB */

typedef void hook_fn(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of taking */
static _Atomic(void *) spare;
static hook_fn *(*set_hook)(hook_fn *); /* NULL: there is no hook */
static hook_fn *(*get_hook)(void);

/* Called by operator new until there is memory or no hook. */
static void give_up(void)
{
    void *room = atomic_exchange(&spare, NULL);
    if (room)
        by_room_give(room, SPARE);
    else
        set_hook(NULL);
}

void by_spare_open(void *handle)
{
    if (set_hook)
        return;
    *(void **)&get_hook = dlsym(handle, "_ZSt15get_new_handlerv");
    if (get_hook)
        *(void **)&set_hook = dlsym(handle, "_ZSt15set_new_handlerPFvvE");
}

void by_spare_close(void)
{
    if (set_hook && get_hook() == give_up)
        set_hook(NULL);
    by_room_give(atomic_exchange(&spare, NULL), SPARE);
}

static int refuse_without_spare(size_t size, struct baryon_error *err)
{
    return by_fail(err, BARYON_ERR_NOMEM,
                   "not enough memory for ONNX Runtime: less than %zu MiB of memory (or address "
                   "space) are left",
                   size >> 20);
}

int by_spare_take(struct baryon_error *err)
{
    pthread_mutex_lock(&lock);
    if (!atomic_load(&spare))
        atomic_store(&spare, by_room_take(SPARE));
    const bool there = atomic_load(&spare);
    if (there && set_hook && !get_hook())
        set_hook(give_up);
    pthread_mutex_unlock(&lock);
    return there ? 0 : refuse_without_spare(SPARE, err);
}

int by_spare_for_threads(unsigned threads, struct baryon_error *err)
{
    const size_t size = SPARE + threads * THREAD;
    return by_room_is_there(size) ? 0 : refuse_without_spare(size, err);
}

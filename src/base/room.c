/* Checks that memory is available before a library that cannot fail needs it. */
#include "base/room.h"

#include "base/fault.h"

#include <sys/mman.h>

void *by_room_take(size_t size)
{
    if (by_fault(BY_FAULT_ALLOC))
        return NULL;
    void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

void by_room_give(void *room, size_t size)
{
    if (room)
        munmap(room, size);
}

bool by_room_is_there(size_t size)
{
    void *room = by_room_take(size);
    by_room_give(room, size);
    return room;
}

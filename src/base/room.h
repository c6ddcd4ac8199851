/*
 * Room for memory that is asked for later: it counts where address space or what a system promises
 * is limited, and takes no memory itself.
 */
#ifndef BY_ROOM_H
#define BY_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* NULL where there is none. */
void *by_room_take(size_t size);
/* Safe from any thread; allocates nothing. */
void by_room_give(void *room, size_t size);
/* Whether it could be taken. */
bool by_room_is_there(size_t size);

#endif

/*
 * Loaded into Wine before it begins, for two things that Wine 8 lacks and ONNX Runtime asks for.
 * The processor's matrix tiles: Linux gives them to nobody who does not ask. Graphics cards: ONNX
 * Runtime says on standard error that there are none, which is dropped.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASK_FOR_STATE 0x1023 /* ARCH_REQ_XCOMP_PERM */
#define TILES         18

static const char cards[] = "Failed to create DXGI factory.";
static _Thread_local bool is_line_open; /* its end comes by itself */

__attribute__((constructor)) static void ask_for_tiles(void)
{
    (void)syscall(SYS_arch_prctl, ASK_FOR_STATE, TILES);
}

static bool is_dropped(const void *bytes, size_t size)
{
    const bool is_end = is_line_open && size <= 2 && !memcmp(bytes, "\r\n" + 2 - size, size);
    is_line_open = size >= sizeof cards - 1 && !memcmp(bytes, cards, sizeof cards - 1);
    return is_end || is_line_open;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    return is_dropped(bytes, size) ? (ssize_t)size : syscall(SYS_write, fd, bytes, size);
}

/* Finds the file that a loaded library comes from. */
#include "port/macos/posix.h"

#include <dlfcn.h>
#include <mach-o/dyld.h>
#include <stdbool.h>

/* The lowest bits of a handle say how it was opened. */
static bool is_same(const void *one, const void *other)
{
    return ((uintptr_t)one ^ (uintptr_t)other) <= 3;
}

int dlinfo(void *handle, int what, void *out)
{
    static _Thread_local struct link_map map;
    (void)what;
    for (uint32_t i = _dyld_image_count(); i-- > 0;) {
        const char *name = _dyld_get_image_name(i);
        void *other = name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        const bool found = other && is_same(other, handle);
        if (other)
            dlclose(other);
        if (found) {
            map.l_name = name;
            *(struct link_map **)out = &map;
            return 0;
        }
    }
    return -1;
}

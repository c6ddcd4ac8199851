/*
 * Which system this is, as far as its packages are concerned.
 */
#ifndef BY_SYSTEM_H
#define BY_SYSTEM_H

#include <stddef.h>

enum by_system {
    BY_DEBIAN,
    BY_FEDORA,
    BY_ARCH,
    BY_ALPINE,
    BY_SUSE,
    BY_MACOS,
    BY_WINDOWS,
    BY_OTHER_SYSTEM,
    BY_SYSTEMS
};

/* name: "Debian GNU/Linux 12 (bookworm)", "" when the system does not say it. */
enum by_system by_system_find(char *name, size_t size);
/* Without an os-release file. */
enum by_system by_system_built_for(void);
/* The same of the text of an os-release file. */
enum by_system by_system_of(const char *text, char *name, size_t size);

#endif

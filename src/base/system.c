/* Finds out which system this is: by its os-release file, else what was built for. */
#include "base/system.h"

#include "base/file.h"
#include "base/format.h"
#include "base/str.h"

#include <string.h>

/* Names of os-release's ID and ID_LIKE. */
static const struct {
    const char *id;
    enum by_system system;
} families[] = {
    {"debian", BY_DEBIAN}, {"ubuntu", BY_DEBIAN}, {"fedora", BY_FEDORA},
    {"rhel", BY_FEDORA},   {"centos", BY_FEDORA}, {"arch", BY_ARCH},
    {"alpine", BY_ALPINE}, {"suse", BY_SUSE},     {"opensuse", BY_SUSE},
};

enum { OS_RELEASE_MAX = 65536 };

/* The value of a line KEY=VALUE without its quotes; false: there is no such line. */
static bool find_line(const char *text, const char *key, char *value, size_t size)
{
    const size_t length = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) || line[length] != '=')
            continue;
        const char *at = line + length + 1;
        at += *at == '"' || *at == '\'';
        by_format(value, size, "%.*s", (int)strcspn(at, "\"'\n"), at);
        return true;
    }
    return false;
}

enum by_system by_system_of(const char *text, char *name, size_t size)
{
    static const char *const keys[] = {"ID", "ID_LIKE"};
    char value[256];
    if (!find_line(text, "PRETTY_NAME", name, size))
        by_format(name, size, "%s", "");
    for (size_t key = 0; key < 2; key++)
        for (size_t i = 0; i < sizeof families / sizeof *families; i++)
            if (find_line(text, keys[key], value, sizeof value) &&
                by_has_word(value, families[i].id))
                return families[i].system;
    return BY_OTHER_SYSTEM;
}

enum by_system by_system_find(char *name, size_t size)
{
    static const char *const places[] = {"/etc/os-release", "/usr/lib/os-release"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct baryon_error unused;
        char *text = NULL;
        size_t length;
        if (by_read_file(places[i], OS_RELEASE_MAX, &text, &length, &unused) < 0)
            continue;
        const enum by_system system = by_system_of(text, name, size);
        by_free(text);
        return system;
    }
    by_format(name, size, "%s", "");
    return by_system_built_for();
}

/*
 * Names of files that a file gives, in a folder with traps around two good files.
 * Whatever the name: without links allowed only the good files are ever opened, and
 * the way for older kernels opens the same.
 */
#include "base/file.h"
#include "base/file_kind.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char root[64], model[80];
static int base, folder = -1;
static struct stat good[2];

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    if (system(command))
        perror(root);
}

static void put(const char *path)
{
    int fd = openat(base, path, O_WRONLY | O_CREAT, 0600);
    demand(fd >= 0 && write(fd, "data", 4) == 4 && close(fd) == 0);
}

/* The fuzzer's own paths are relative, so the working folder stays as it is. */
static void make_folder(void)
{
    snprintf(root, sizeof root, "/tmp/baryon-fuzz-XXXXXX");
    demand(mkdtemp(root));
    atexit(remove_root);
    snprintf(model, sizeof model, "%s/m", root);
    base = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    demand(base >= 0 && mkdirat(base, "m", 0700) == 0 && mkdirat(base, "m/s", 0700) == 0);
    put("o");
    put("m/a");
    put("m/s/b");
    put("m/h");
    demand(linkat(base, "m/h", base, "m/s/h", 0) == 0 && linkat(base, "o", base, "m/oh", 0) == 0);
    demand(symlinkat("a", base, "m/l") == 0 && symlinkat("../o", base, "m/lo") == 0);
    demand(symlinkat("s", base, "m/ls") == 0 && symlinkat("..", base, "m/up") == 0);
    demand(symlinkat("loop", base, "m/loop") == 0 && mkfifoat(base, "m/f", 0600) == 0);
    demand(fstatat(base, "m/a", &good[0], 0) == 0 && fstatat(base, "m/s/b", &good[1], 0) == 0);
    folder = open(model, O_PATH | O_DIRECTORY | O_CLOEXEC);
    demand(folder >= 0);
}

static bool is_file(int fd, const struct stat *wanted)
{
    struct stat st;
    demand(fstat(fd, &st) == 0);
    return st.st_dev == wanted->st_dev && st.st_ino == wanted->st_ino;
}

static bool try_open(const char *location, bool allow_links)
{
    struct baryon_error err;
    int fd = -1;
    by_err_clear(&err);
    if (by_open_contained(model, location, allow_links, &fd, &err)) {
        demand(err.code == BARYON_ERR_INPUT && strstr(err.message, "location "));
        demand(by_utf8_valid(err.message, strlen(err.message)));
        return false;
    }
    struct stat st;
    demand(fstat(fd, &st) == 0 && S_ISREG(st.st_mode));
    demand(allow_links || is_file(fd, &good[0]) || is_file(fd, &good[1]));
    close(fd);
    return true;
}

/* The walk follows no link, so what it opens lies in the folder; it does not count links. */
static void compare_walk(const char *location, bool opened)
{
    int fd = by_open_walk(folder, location);
    if (opened)
        demand(fd >= 0);
    if (fd >= 0) {
        demand(opened || !(is_file(fd, &good[0]) || is_file(fd, &good[1])));
        close(fd);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (folder < 0)
        make_folder();
    struct baryon_error err;
    bool valid = by_location_check((const char *)bytes, size, &err) == 0;
    char *location = strndup((const char *)bytes, size);
    demand(location);
    bool has_nul = strlen(location) != size;
    demand(!valid || !has_nul);
    bool opened = try_open(location, false);
    bool opened_links = try_open(location, true);
    demand(!opened || opened_links);
    if (!has_nul)
        demand(valid || (!opened && !opened_links));
    if (valid)
        compare_walk(location, opened);
    free(location);
    return 0;
}

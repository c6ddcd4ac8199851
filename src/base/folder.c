/* Lists and makes folders, and looks up files. */
#include "base/fault.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool by_has_suffix(const char *path, const char *suffix)
{
    size_t size = strlen(path), tail = strlen(suffix);
    if (tail > size)
        return false;
    for (size_t i = 0; i < tail; i++) {
        char a = path[size - tail + i], b = suffix[i];
        a = (char)(a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a);
        b = (char)(b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b);
        if (a != b)
            return false;
    }
    return true;
}

bool by_same_file(const char *a, const char *b)
{
    struct stat left, right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

static int make_folder(const char *path, struct baryon_error *err)
{
    struct stat st;
    if (by_fault(BY_FAULT_IO)) {
        by_fail_errno(err, BARYON_ERR_IO, "cannot be created");
        return by_err_file(err, path);
    }
    int saved;
    do {
        if (mkdir(path, 0777) == 0)
            return 0;
        saved = errno;
        if (stat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode))
                return 0;
            by_fail(err, BARYON_ERR_IO, "exists and is not a folder");
            return by_err_file(err, path);
        }
        /* Another process may have removed it in between, and made it again. */
    } while (saved == EEXIST && (lstat(path, &st) ? errno == ENOENT : S_ISDIR(st.st_mode)));
    errno = saved;
    by_fail_errno(err, BARYON_ERR_IO, "cannot be created");
    return by_err_file(err, path);
}

int by_make_folders(const char *path, struct baryon_error *err)
{
    if (!*path)
        return by_fail(err, BARYON_ERR_USAGE, "the folder's name is empty");
    /* Before half of them are made. */
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        by_fail_errno(err, BARYON_ERR_IO, "cannot be created");
        return by_err_file(err, path);
    }
    char *partial = by_strdup(path, err);
    if (!partial)
        return -1;
    int status = 0;
    for (char *slash = strchr(partial + 1, '/'); slash && status == 0;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        status = make_folder(partial, err);
        *slash = '/';
    }
    if (status == 0)
        status = make_folder(partial, err);
    by_free(partial);
    return status;
}

static bool is_regular(int folder, const struct dirent *entry)
{
    struct stat st;
    if (entry->d_type == DT_REG)
        return true;
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
        return false;
    return fstatat(folder, entry->d_name, &st, 0) == 0 && S_ISREG(st.st_mode);
}

static int add_name(struct by_listing *listing, size_t *cap, const char *name,
                    struct baryon_error *err)
{
    if (listing->count == *cap) {
        size_t grown = *cap ? *cap * 2 : 64;
        char **names = by_realloc(listing->names, grown, sizeof *names, err);
        if (!names)
            return -1;
        listing->names = names;
        *cap = grown;
    }
    char *copy = by_strdup(name, err);
    if (!copy)
        return -1;
    listing->names[listing->count++] = copy;
    return 0;
}

static int read_names(struct by_listing *listing, DIR *open_folder, struct baryon_error *err)
{
    size_t cap = 0;
    for (;;) {
        errno = 0;
        const struct dirent *entry = by_fault(BY_FAULT_IO) ? NULL : readdir(open_folder);
        if (!entry && errno)
            return by_fail_errno(err, BARYON_ERR_IO, "cannot be listed");
        if (!entry)
            return 0;
        if (entry->d_name[0] != '.' && is_regular(dirfd(open_folder), entry) &&
            add_name(listing, &cap, entry->d_name, err))
            return -1;
    }
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int by_list_folder(struct by_listing *listing, const char *folder, struct baryon_error *err)
{
    *listing = (struct by_listing){0};
    DIR *open_folder = by_fault(BY_FAULT_IO) ? NULL : opendir(folder);
    if (!open_folder) {
        by_fail_errno(err, errno == EIO ? BARYON_ERR_IO : BARYON_ERR_INPUT, "cannot be listed");
        return by_err_file(err, folder);
    }
    int status = read_names(listing, open_folder, err);
    closedir(open_folder);
    if (status) {
        by_listing_release(listing);
        return by_err_file(err, folder);
    }
    if (listing->count)
        qsort(listing->names, listing->count, sizeof *listing->names, by_bytes);
    return 0;
}

void by_listing_release(struct by_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        by_free(listing->names[i]);
    by_free(listing->names);
    *listing = (struct by_listing){0};
}

static bool sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    int fd = by_folder_of(path, folder, sizeof folder)
                 ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : -1;
    if (fd < 0)
        return false;
    bool synced = fsync(fd) == 0 || errno == EINVAL;
    close(fd);
    return synced;
}

int by_empty_folder(const char *path, struct baryon_error *err)
{
    struct by_listing listing;
    char file[4096];
    if (by_list_folder(&listing, path, err))
        return -1;
    int status = 0;
    for (size_t i = 0; !status && i < listing.count; i++)
        status = by_join_path(file, sizeof file, path, listing.names[i])
                     ? by_remove_file(file, err)
                     : by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    by_listing_release(&listing);
    return status;
}

int by_remove_folder(const char *path, struct baryon_error *err)
{
    if (!by_file_exists(path))
        return 0;
    if (by_empty_folder(path, err))
        return -1;
    if (!by_fault(BY_FAULT_IO) && rmdir(path) == 0)
        return 0;
    by_fail_errno(err, BARYON_ERR_IO, "cannot be removed");
    return by_err_file(err, path);
}

int by_remove_empty_folder(const char *path, struct baryon_error *err)
{
    errno = EIO;
    if (!by_fault(BY_FAULT_IO) &&
        (rmdir(path) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST))
        return 0;
    by_fail_errno(err, BARYON_ERR_IO, "cannot be removed");
    return by_err_file(err, path);
}

int by_rename_folder(const char *from, const char *to, struct baryon_error *err)
{
    if (!by_fault(BY_FAULT_IO) && rename(from, to) == 0 && sync_folder_of(to))
        return 0;
    char quoted[BY_QUOTE_MAX];
    by_fail_errno(err, BARYON_ERR_IO, "cannot be renamed to %s", by_quote(quoted, to));
    return by_err_file(err, from);
}

bool by_folder_is_empty(const char *path)
{
    size_t count = 0;
    DIR *open_folder = opendir(path);
    if (!open_folder)
        return false;
    while (readdir(open_folder))
        count++;
    closedir(open_folder);
    return count == 2;
}

bool by_file_exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

uint64_t by_file_size(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

int by_remove_file(const char *path, struct baryon_error *err)
{
    if (!by_fault(BY_FAULT_IO) && (unlink(path) == 0 || errno == ENOENT))
        return 0;
    by_fail_errno(err, BARYON_ERR_IO, "cannot be removed");
    return by_err_file(err, path);
}

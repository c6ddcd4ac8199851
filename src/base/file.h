/*
 * Files: mapped input, contained open, atomic output.
 */
#ifndef BY_FILE_H
#define BY_FILE_H

#include "base/mem.h"

#include <sys/stat.h>

/*
 * A file mapped for reading. Only regular files are mapped; an empty one has
 * size 0 and bytes != NULL. by_mapped_check() says BARYON_ERR_CHANGED when the
 * file after the mapping has another size or time than when it was opened:
 * callers ask before they trust what they read and again when they are done.
 */
struct by_mapped {
    const uint8_t *bytes;
    size_t size;
    int fd; /* stays open, for copying between files inside the kernel */
    struct stat stat;
    bool is_copy;   /* of by_mapped_read() */
    bool is_own;    /* without a name: nobody else can change it */
    char path[256]; /* for messages, cut when longer */
};

int by_mapped_open(struct by_mapped *mapped, const char *path, struct baryon_error *err);
/*
 * Reads a file of at most `most` bytes into memory of its own, for whoever cannot live with SIGBUS:
 * what happens to the file later does not matter. A longer one is mapped.
 */
int by_mapped_read(struct by_mapped *mapped, const char *path, size_t most,
                   struct baryon_error *err);
/* Takes over fd, also when it fails; path is for messages only. */
int by_mapped_open_fd(struct by_mapped *mapped, int fd, const char *path, struct baryon_error *err);
/* True when path leads to that file. */
bool by_mapped_is(const struct by_mapped *mapped, const char *path);
int by_mapped_check(const struct by_mapped *mapped, struct baryon_error *err);
/* A range that is read next: its pages are mapped at once. */
void by_mapped_need(const struct by_mapped *mapped, size_t offset, size_t size);
/* Pages that lie whole in a range that was read are given back; they may be read again. */
void by_mapped_done(const struct by_mapped *mapped, size_t offset, size_t size);
void by_mapped_close(struct by_mapped *mapped);
/*
 * A file that another library writes by its path and that is read here: in memory where the system
 * has paths to such files, else in its folder for temporary files. Nothing is left of it when what
 * was mapped is closed. name is for messages.
 */
struct by_received {
    int fd; /* -1 where the file has a name */
    char path[1024];
};

int by_received_open(struct by_received *file, const char *name, struct baryon_error *err);
/* Ends it, also when it fails; without `mapped` nobody reads it. */
int by_received_map(struct by_received *file, struct by_mapped *mapped, const char *name,
                    struct baryon_error *err);
/* A file without a name in a folder; the disk is free again when its descriptor is closed. */
int by_nameless_open(int *fd, const char *folder, struct baryon_error *err);

/*
 * A file that grows under its own name, so that a later run finds what is there: opened or made, it
 * has `size` bytes, zeros where nothing was put, and the disk has room for them; keep: bytes of a
 * file of that size stay, others are not kept. By by_write_at(), and by_grown_sync().
 */
int by_grown_open(int *fd, const char *path, uint64_t size, bool keep, struct baryon_error *err);
/* Everything that was put is on the disk. */
int by_grown_sync(int fd, const char *path, struct baryon_error *err);
/* Sets room for `size` bytes aside where the system can, else asks for it; -1 and errno. */
int by_set_room_aside(int fd, uint64_t size, bool *is_aside);

/* All of the bytes at a place of a file; -1 and errno: not all, EIO where the file ends before. */
int by_read_at(int fd, void *to, size_t size, uint64_t at);
int by_write_at(int fd, const void *from, size_t size, uint64_t at);

/* Whole small file into memory (by_free it), NUL added after; refuses more than limit bytes. */
int by_read_file(const char *path, size_t limit, char **bytes, size_t *size,
                 struct baryon_error *err);

/*
 * Opens a file that another file names, for reading: `location` must be a relative
 * path that stays below `folder`, without "..", empty or "." parts, backslashes;
 * no part of it may be a symbolic link, and it must be a regular file with one
 * hard link. What is checked is the open descriptor, not the path. This is the
 * only way by which a name found in a file reaches open().
 * allow_links lifts the rules on links (a package cache made of links) but not on
 * the path itself.
 */
int by_open_contained(const char *folder, const char *location, bool allow_links, int *fd,
                      struct baryon_error *err);
/* The rules on the text alone, without touching the disk. */
int by_location_check(const char *location, size_t size, struct baryon_error *err);

/*
 * Atomic output. by_writer_open() makes a temporary file in the folder of `path`;
 * by_writer_commit() syncs it and renames it to `path`; by_writer_abort() (also
 * right after a commit) removes what is left. Readers see the old file or the
 * whole new one.
 *  - A temporary file is called ".baryon-HASH-N" (HASH of the target's name) and is
 *    locked while its writer lives; what a killed process left is found unlocked and
 *    removed by the next by_writer_open() for the same path.
 *  - When `path` is a symbolic link to a file, the file it leads to is replaced and
 *    the link stays. Anything else that is not a regular file is refused.
 *  - The new file has the permissions of the file it replaces, or those that the
 *    umask gives.
 *  - by_writer_remove_all() is safe in a signal handler: it unlinks the temporary
 *    files of all open writers of this process.
 */
struct by_writer;

enum by_writer_flags {
    BY_WRITER_NO_SYNC = 1,   /* skip fsync: tests and benches */
    BY_WRITER_EXCLUSIVE = 2, /* an existing file is BARYON_ERR_USAGE, it is never replaced */
};

int by_writer_open(struct by_writer **writer, const char *path, unsigned flags,
                   struct baryon_error *err);
int by_writer_add(struct by_writer *writer, const void *bytes, size_t size,
                  struct baryon_error *err);
/* Copies a range of a mapped file, inside the kernel where it can; adds no resident memory. */
int by_writer_add_mapped(struct by_writer *writer, const struct by_mapped *mapped, size_t offset,
                         size_t size, struct baryon_error *err);
/* Zero bytes up to a multiple of align. */
int by_writer_pad(struct by_writer *writer, size_t align, struct baryon_error *err);
/*
 * For those who know the size before the bytes: the file has `size` bytes from here on, zeros where
 * nothing was written, and parts of it are put in place in any order, by any thread, a byte once.
 * Nothing may be added any more.
 */
int by_writer_extend(struct by_writer *writer, uint64_t size, struct baryon_error *err);
int by_writer_put(struct by_writer *writer, uint64_t at, const void *bytes, size_t size,
                  struct baryon_error *err);
int by_writer_put_mapped(struct by_writer *writer, uint64_t at, const struct by_mapped *mapped,
                         size_t offset, size_t size, struct baryon_error *err);
/*
 * A descriptor of its own, -1 where there is none; by_push_file() sends what was written to it to
 * the disk meanwhile, so that the last sync has little left to do, and closes it. Only a hint.
 */
int by_writer_share(const struct by_writer *writer);
void by_push_file(int fd);
/* Asks for room for a file of `size` bytes, so that a full disk is told early. */
int by_writer_reserve(struct by_writer *writer, uint64_t size, struct baryon_error *err);
uint64_t by_writer_size(const struct by_writer *writer);
/* Everything on the disk, still under the temporary name: commit then only renames it. Nothing
 * may be added any more. */
int by_writer_sync(struct by_writer *writer, struct baryon_error *err);
int by_writer_commit(struct by_writer *writer, struct baryon_error *err);
/*
 * Several outputs of the same flags, all or none. The last one names the others, as a
 * model does its data files: readers never see an old one of it beside new others,
 * but for a moment none at all. keep_last: what the last one replaces names none of
 * the others, there is no such moment.
 */
int by_writer_commit_all(struct by_writer *const *writers, size_t count, bool keep_last,
                         struct baryon_error *err);
/* Restores what a process that was killed in by_writer_commit_all() had moved, when `path` is its
 * last file. Opening a writer does so too. */
void by_recover_file(const char *path);
/* Frees the writer; NULL is fine. */
void by_writer_abort(struct by_writer *writer);
void by_writer_remove_all(void);
/* The same, after which no file is opened any more: the process is about to end, while other
 * threads run on. */
void by_writer_end(void);
/* Whether `path` can be written, found out before the work that would be lost otherwise: its name
 * and folder are possible, and the disk is not full. */
int by_writer_probe(const char *path, unsigned flags, struct baryon_error *err);
/* Bytes to `path` in one step, atomically. */
int by_write_file(const char *path, const void *bytes, size_t size, unsigned flags,
                  struct baryon_error *err);

/* mkdir -p; an existing folder is fine. */
int by_make_folders(const char *path, struct baryon_error *err);
/* A folder gets another name, where there is nothing or an empty folder; both are on the disk. */
int by_rename_folder(const char *from, const char *to, struct baryon_error *err);
/* Removes the regular files of a folder that are not hidden. */
int by_empty_folder(const char *path, struct baryon_error *err);
/* The same, and the folder; one that is not there is fine. */
int by_remove_folder(const char *path, struct baryon_error *err);
/* One with files in it stays, which is no error. */
int by_remove_empty_folder(const char *path, struct baryon_error *err);
/* True when there is a folder of that name with nothing in it, hidden files included. */
bool by_folder_is_empty(const char *path);
/* True when there is something of that name. */
bool by_file_exists(const char *path);
/* Bytes of a file, 0 when there is none. */
uint64_t by_file_size(const char *path);
/* A file that is not there is fine. */
int by_remove_file(const char *path, struct baryon_error *err);
/* True when both paths lead to the same file (device and inode). */
bool by_same_file(const char *a, const char *b);
/* Folder part of a path into buf ("." when there is none); false when it does not fit. */
bool by_folder_of(const char *path, char *buf, size_t size);
/* The folder of the library or program that this code is linked into. */
bool by_own_folder(char *buf, size_t size);
/* folder/name into buf (just name for folder "."); false when it does not fit. */
bool by_join_path(char *buf, size_t size, const char *folder, const char *name);
/* Start of the last part of a path. */
const char *by_basename(const char *path);
/* True when path ends with the suffix, ASCII case ignored: by_has_suffix("A.PNG", ".png"). */
bool by_has_suffix(const char *path, const char *suffix);

/*
 * Names in a folder, sorted by bytes, "." files left out; regular files only
 * (links to them count). Freed with by_listing_release().
 */
struct by_listing {
    char **names;
    size_t count;
};

int by_list_folder(struct by_listing *listing, const char *folder, struct baryon_error *err);
void by_listing_release(struct by_listing *listing);
/* Removes temporary files of writers, whatever they were for: nobody else writes in the folder. */
int by_remove_stale(const char *folder, struct baryon_error *err);

#endif

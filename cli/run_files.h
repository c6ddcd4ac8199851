/*
 * Where 'run' saves what a model gives: one .npy a sample and output.
 *
 *   one output        DIR/SAMPLE.npy
 *   several outputs   DIR/OUTPUT/SAMPLE.npy
 *
 * so that the folders of two models match file by file. In names, characters other than
 * letters, digits, '.', '_' and '-' are written as '_'; a name that was there before in
 * this run gets "-2", "-3", ... after it.
 */
#ifndef BY_RUN_FILES_H
#define BY_RUN_FILES_H

#include "base/map.h"
#include "engine/session.h"

struct by_run_files {
    struct by_arena arena;
    const char **folders; /* one an output */
    size_t count;
    struct by_map used; /* names of samples -> how often, as a number */
    uint64_t written;
    unsigned writer_flags;
};

/* Makes the folders; refuses one with files in it unless force. */
int by_run_files_open(struct by_run_files *files, const char *folder, const char *const *outputs,
                      size_t count, bool force, struct baryon_error *err);
int by_run_files_add(struct by_run_files *files, const char *sample, const struct by_array *outputs,
                     size_t count, struct baryon_error *err);
void by_run_files_close(struct by_run_files *files);

#endif

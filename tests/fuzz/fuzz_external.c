/*
 * External data as a hostile model names it: keys, locations, ranges, resolved in a
 * folder with a data file, a link, a subfolder, and a secret file above it. A tensor
 * that is accepted must lie within the data file.
 */
#include "onnx/external.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define DATA_SIZE 4096

static char root[64], folder[80];

static const char *at(const char *name)
{
    static char paths[2][128];
    static unsigned next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)size) || close(fd))
        abort();
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command))
        perror(root);
}

static void prepare(void)
{
    strcpy(root, "/tmp/baryon-fuzz-XXXXXX");
    if (!mkdtemp(root))
        abort();
    snprintf(folder, sizeof folder, "%s/model", root);
    if (mkdir(folder, 0700) || mkdir(at("d"), 0700))
        abort();
    write_file(at("w.bin"), DATA_SIZE);
    write_file(at("d/w"), DATA_SIZE);
    write_file(at("../secret"), DATA_SIZE);
    if (symlink("../secret", at("link")) || symlink("..", at("up")) ||
        link(at("w.bin"), at("hard")))
        abort();
    atexit(remove_root);
}

/* The descriptor that a tensor was read from leads to a file below the folder. */
static void check_contained(const struct by_data_file *file)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->mapped.fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0)
        abort();
    path[size] = '\0';
    if (strncmp(path, folder, strlen(folder)) != 0 || path[strlen(folder)] != '/')
        abort();
}

static int check_range(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    const struct baryon_model *model = context;
    (void)err;
    bool inside = !tensor->external.data || !tensor->external.size;
    for (size_t i = 0; i < model->data_files.count && !inside; i++) {
        const struct by_data_file *file = model->data_files.at[i];
        const uint8_t *begin = file->mapped.bytes, *end = begin + file->mapped.size;
        inside = tensor->external.data >= begin &&
                 tensor->external.size <= (size_t)(end - tensor->external.data);
    }
    if (!inside)
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static bool ready;
    struct baryon_model *model;
    struct baryon_error err;
    if (!ready)
        prepare();
    ready = true;
    if (by_model_load_bytes(&model, bytes, size, folder, NULL, &err))
        return 0;
    for (size_t i = 0; i < model->data_files.count; i++)
        check_contained(model->data_files.at[i]);
    by_model_each_tensor(model, check_range, model, NULL);
    by_model_free(model);
    return 0;
}

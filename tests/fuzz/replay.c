/*
 * Feeds files to a fuzz target without a fuzzer: every file named, and every file
 * in the folders named. Linked with one tests/fuzz/fuzz_*.c.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static unsigned files;

/* A block of exactly the file's size, so that a sanitizer sees every read beyond it. */
static int feed_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(size ? size : 1);
    int failed = !file || !bytes || fread(bytes, 1, size, file) != size;
    if (failed)
        perror(path);
    else
        LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    if (file)
        fclose(file);
    files += !failed;
    return failed;
}

static int feed(const char *path)
{
    struct stat status;
    if (stat(path, &status)) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(status.st_mode))
        return feed_file(path, (size_t)status.st_size);

    struct dirent **names;
    int count = scandir(path, &names, NULL, alphasort);
    int failed = count < 0;
    for (int i = 0; i < count; i++) {
        char inner[4096];
        if (names[i]->d_name[0] != '.') {
            snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
            failed |= feed(inner);
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= feed(argv[i]);
    printf("%u files\n", files);
    return failed;
}

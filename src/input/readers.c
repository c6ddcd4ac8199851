/* Lists the readers of samples. To add one: a file read_X.c and a row here. NULL ends. */
#include "input/input.h"

#include <string.h>

static const struct by_reader *const readers[] = {&by_read_npy, &by_read_npz, &by_read_image,
                                                  &by_read_raw, NULL};

const struct by_reader *const *by_readers(size_t *count)
{
    for (*count = 0; readers[*count];)
        ++*count;
    return readers;
}

static bool has_suffix_of(const struct by_reader *reader, const char *path)
{
    char suffix[16];
    for (const char *at = reader->suffixes; *at;) {
        const size_t length = strcspn(at, " ");
        if (length < sizeof suffix) {
            memcpy(suffix, at, length);
            suffix[length] = '\0';
            if (by_has_suffix(path, suffix))
                return true;
        }
        at += length + strspn(at + length, " ");
    }
    return false;
}

const struct by_reader *by_reader_by_name(const char *path)
{
    for (const struct by_reader *const *at = readers; *at; at++)
        if (has_suffix_of(*at, path))
            return *at;
    return NULL;
}

const struct by_reader *by_reader_for(const char *path, const uint8_t *bytes, size_t size)
{
    for (const struct by_reader *const *at = readers; *at; at++)
        if ((*at)->sniff && (*at)->sniff(bytes, size))
            return *at;
    return by_reader_by_name(path);
}

void by_tell_once(const struct by_reading *reading, enum by_told what, const char *text)
{
    if (*reading->told & (unsigned)what)
        return;
    *reading->told |= (unsigned)what;
    by_log(reading->options->log, BY_LOG_NOTICE, "%s: %s", reading->path, text);
}

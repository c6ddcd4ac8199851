/* Copies an options struct of a caller who was built with an older or newer version. */
#include "api/api.h"

#include <string.h>

int by_api_options(void *ours, size_t size, const void *theirs, struct baryon_error *err)
{
    size_t given;
    if (!theirs)
        return 0;
    memcpy(&given, theirs, sizeof given);
    if (given < sizeof given || given > BY_API_SIZE_MAX)
        return by_fail(err, BARYON_ERR_USAGE,
                       "options with a size of %zu, must be the size of the struct", given);
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)theirs)[i])
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "options that this version (%s) does not support", baryon_version());
    memcpy(ours, theirs, given < size ? given : size);
    return 0;
}

#include "cli/places.h"

#include <unistd.h>

int by_place_check_free(const char *what, const char *path, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (access(path, F_OK) != 0)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "%s %s exists", what, by_quote(quoted, path));
    return by_err_hint(err, "--force replaces it");
}

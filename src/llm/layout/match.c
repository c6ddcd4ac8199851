/* Compares names of layers with patterns. */
#include "llm/layout/match.h"

#include "base/str.h"

#include <regex.h>
#include <string.h>

int by_llm_match(const char *pattern, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    regex_t expression;
    regmatch_t found;
    if (strncmp(pattern, "re:", 3) != 0)
        return by_glob(pattern, name);
    if (regcomp(&expression, pattern + 3, REG_EXTENDED) != 0)
        return by_fail(err, BARYON_ERR_USAGE, "%s is no extended regular expression",
                       by_quote(quoted, pattern));
    const int matches = regexec(&expression, name, 1, &found, 0) == 0 && found.rm_so == 0;
    regfree(&expression);
    return matches;
}

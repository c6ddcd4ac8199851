/* Looks for a word in a list of words. */
#include "base/str.h"

#include <string.h>

bool by_has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        if (size == length && !strncmp(at, word, size))
            return true;
        at += size;
    }
    return false;
}

/* Paths have / or \, and may begin with a drive. */
#include "base/separator.h"

bool by_is_separator(char letter)
{
    return letter == '/' || letter == '\\';
}

size_t by_drive_length(const char *path)
{
    const char letter = (char)(path[0] | 0x20);
    return letter >= 'a' && letter <= 'z' && path[1] == ':' ? 2 : 0;
}

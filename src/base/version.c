/* Returns the version of the library. */
#include "baryon.h"

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

const char *baryon_version(void)
{
    return TEXT(BARYON_VERSION_MAJOR) "." TEXT(BARYON_VERSION_MINOR) "." TEXT(BARYON_VERSION_PATCH);
}

/* What a system is that has no os-release file: macOS. */
#include "base/system.h"

enum by_system by_system_built_for(void)
{
    return BY_MACOS;
}

/* Asks how much memory of the process is resident. */
#include "base/cpu.h"
#include "port/windows/inside.h"

#include <psapi.h>

uint64_t by_resident_bytes(void)
{
    PROCESS_MEMORY_COUNTERS memory;
    return GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof memory) ? memory.WorkingSetSize
                                                                             : 0;
}

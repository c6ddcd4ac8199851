/* What the machine has: memory, processors, chance, a name. */
#include "port/windows/inside.h"

#include <ntsecapi.h>
#include <psapi.h>

long sysconf(int name)
{
    SYSTEM_INFO info;
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    GetSystemInfo(&info);
    if (name == _SC_PAGESIZE)
        return (long)info.dwPageSize;
    if (name == _SC_NPROCESSORS_ONLN)
        return (long)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return GlobalMemoryStatusEx(&memory) ? (long)(memory.ullTotalPhys / info.dwPageSize) : -1;
}

static uint64_t job_memory(void)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION info;
    if (!QueryInformationJobObject(NULL, JobObjectExtendedLimitInformation, &info, sizeof info,
                                   NULL))
        return UINT64_MAX;
    uint64_t least = UINT64_MAX;
    if (info.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_PROCESS_MEMORY)
        least = info.ProcessMemoryLimit;
    if ((info.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) &&
        info.JobMemoryLimit < least)
        least = info.JobMemoryLimit;
    return least;
}

int getrlimit(int what, struct rlimit *out)
{
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    (void)what;
    if (!GlobalMemoryStatusEx(&memory))
        return by_win_fail();
    const uint64_t job = job_memory(), there = memory.ullAvailPhys;
    out->rlim_cur = job < there ? job : there;
    return 0;
}

int getrusage(int who, struct rusage *out)
{
    PROCESS_MEMORY_COUNTERS memory;
    (void)who;
    if (!GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof memory))
        return by_win_fail();
    out->ru_maxrss = memory.PeakWorkingSetSize / 1024;
    return 0;
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    return RtlGenRandom(to, (ULONG)size) ? (ssize_t)size : -1;
}

/* Of the process where it keeps to one group of processors, else of all groups. */
int sched_getaffinity(int pid, size_t size, cpu_set_t *set)
{
    DWORD_PTR own = 0, system = 0;
    (void)pid;
    memset(set, 0, size);
    if (GetActiveProcessorGroupCount() == 1 &&
        GetProcessAffinityMask(GetCurrentProcess(), &own, &system)) {
        set->bits[0] = own;
        return 0;
    }
    DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    for (DWORD i = 0; i < count && i < 64 * 128; i++)
        set->bits[i / 64] |= 1ull << i % 64;
    return 0;
}

int by_win_cpu_count(const cpu_set_t *set)
{
    int count = 0;
    for (size_t i = 0; i < 128; i++)
        count += __builtin_popcountll(set->bits[i]);
    return count;
}

int gethostname(char *name, size_t size)
{
    wchar_t wide[256];
    DWORD length = 256;
    if (!GetComputerNameExW(ComputerNameDnsHostname, wide, &length))
        return by_win_fail();
    return by_win_narrow(name, size, wide) ? 0 : -1;
}

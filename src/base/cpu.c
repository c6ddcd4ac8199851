/* Counts the processors this process may use, with cgroup quotas and the affinity mask. */
#include "base/cpu.h"

#include "base/file.h"
#include "base/par.h"
#include "base/str.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_MAX 65536u

/* NULL when there is no such file: that is no error here. */
static char *read_line(const char *folder, const char *path, const char *name)
{
    struct by_str full = {0};
    char *text = NULL;
    size_t size;
    by_str_printf(&full, "%s%s/%s", folder, path, name);
    if (full.failed || by_read_file(full.text, 64u << 10, &text, &size, NULL))
        text = NULL;
    by_str_release(&full);
    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text;
}

static unsigned to_cpus(const char *quota, const char *period)
{
    int64_t have, every;
    if (!by_parse_i64(quota, &have) || !by_parse_i64(period, &every) || have <= 0 || every <= 0)
        return 0;
    int64_t cpus = have / every + (have % every != 0);
    return cpus > CPUS_MAX ? 0 : (unsigned)cpus;
}

/* Version 2: one file, "QUOTA PERIOD" or "max PERIOD". */
static unsigned quota_v2(const char *mount, const char *path)
{
    char *text = read_line(mount, path, "cpu.max");
    if (!text)
        return 0;
    char *space = strchr(text, ' ');
    unsigned cpus = 0;
    if (space) {
        *space = '\0';
        cpus = to_cpus(text, space + 1);
    }
    by_free(text);
    return cpus;
}

/* Version 1: two files below the controller's folder; quota -1 is none. */
static unsigned quota_v1(const char *mount, const char *path)
{
    char *quota = read_line(mount, path, "cpu.cfs_quota_us");
    char *period = quota ? read_line(mount, path, "cpu.cfs_period_us") : NULL;
    unsigned cpus = period ? to_cpus(quota, period) : 0;
    by_free(quota);
    by_free(period);
    return cpus;
}

static unsigned lower_limit(unsigned a, unsigned b)
{
    return !a || (b && b < a) ? b : a;
}

/* The group and every group above it may have a quota; the smallest one counts. */
static unsigned quota_upwards(unsigned quota(const char *, const char *), const char *mount,
                              char *path)
{
    unsigned cpus = 0;
    for (;;) {
        cpus = lower_limit(cpus, quota(mount, path));
        char *slash = strrchr(path, '/');
        if (!slash)
            return cpus;
        *slash = '\0';
    }
}

/* One line of the membership file: "0::/path" (v2) or "4:cpu,cpuacct:/path" (v1). */
static unsigned line_cpus(char *line, const char *mount)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return 0;
    *path++ = '\0';
    controllers++;
    if (!*controllers)
        return quota_upwards(quota_v2, mount, path);
    struct by_str folder = {0};
    unsigned cpus = 0;
    char *rest = NULL;
    for (char *one = strtok_r(controllers, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        if (!strcmp(one, "cpu")) {
            by_str_printf(&folder, "%s/cpu", mount);
            cpus = folder.failed ? 0 : quota_upwards(quota_v1, folder.text, path);
        }
    by_str_release(&folder);
    return cpus;
}

unsigned by_cgroup_cpus(const char *membership, const char *mount)
{
    char *text, *rest = NULL;
    size_t size;
    unsigned cpus = 0;
    if (by_read_file(membership, 64u << 10, &text, &size, NULL))
        return 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        cpus = lower_limit(cpus, line_cpus(line, mount));
    by_free(text);
    return cpus;
}

/* The mask grows until the kernel's fits: machines have more than 1024 processors. */
static unsigned affinity_cpus(void)
{
    for (unsigned room = 1024; room <= CPUS_MAX; room *= 4) {
        size_t size = CPU_ALLOC_SIZE(room);
        cpu_set_t *set = by_alloc_zero(1, size, NULL);
        if (!set)
            return 0;
        int cpus = sched_getaffinity(0, size, set) ? 0 : CPU_COUNT_S(size, set);
        by_free(set);
        if (cpus > 0)
            return (unsigned)cpus;
    }
    return 0;
}

unsigned by_cpu_count(void)
{
    unsigned cpus = affinity_cpus();
    if (!cpus) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        cpus = online > 0 ? (unsigned)online : 1;
    }
    return lower_limit(cpus, by_cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup"));
}

const char *by_cpu_openblas_core(void)
{
#if defined __x86_64__ || defined __i386__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "Haswell" : NULL;
#else
    return NULL;
#endif
}

bool by_cpu_adds_int8_exactly(void)
{
#if defined __x86_64__ || defined __i386__
    return __builtin_cpu_supports("avx512vnni");
#else
    return true;
#endif
}

/*
 * How many processors this process may use.
 */
#ifndef BY_CPU_H
#define BY_CPU_H

/*
 * Processors that the cgroup's quota amounts to, rounded up; 0 when there is none.
 * membership: /proc/self/cgroup; mount: /sys/fs/cgroup. Both versions of cgroups.
 */
unsigned by_cgroup_cpus(const char *membership, const char *mount);

#endif

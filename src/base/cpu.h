/*
 * How many processors this process may use, and how much memory it has.
 */
#ifndef BY_CPU_H
#define BY_CPU_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Processors that the cgroup's quota amounts to, rounded up; 0 when there is none.
 * membership: /proc/self/cgroup; mount: /sys/fs/cgroup. Both versions of cgroups.
 */
unsigned by_cgroup_cpus(const char *membership, const char *mount);

/* Integer kernels add products of 8-bit integers in 32 bits; those of x86 processors without VNNI
 * saturate at 16 bits. */
bool by_cpu_adds_int8_exactly(void);

/* The kernels of OpenBLAS that suit this processor, as $OPENBLAS_CORETYPE names them; NULL:
 * whatever it takes itself. */
const char *by_cpu_openblas_core(void);

/* Memory of this process that is in use now; 0 when the system does not tell. */
uint64_t by_resident_bytes(void);

#endif

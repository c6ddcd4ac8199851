/* What the runtime library of zig answers "no" to, whatever the processor: which vectors it has. */
#ifndef BY_PORT_PROCESSOR_H
#define BY_PORT_PROCESSOR_H

#include <stdbool.h>

#define __builtin_cpu_supports(name) by_processor_has(name)

/* False for names that it does not know. */
bool by_processor_has(const char *name);

#endif

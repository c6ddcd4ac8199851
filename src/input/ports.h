/*
 * Ports with the sizes of --shape put in, and random samples for them.
 */
#ifndef BY_PORTS_H
#define BY_PORTS_H

#include "input/input.h"

/*
 * Copies into the arena; symbolic dimensions that the options name become fixed, and for random
 * samples the others too. Settings that fit no dimension are refused, and so are ports that are no
 * tensors of numbers.
 */
int by_ports_resolve(struct by_arena *arena, const struct by_port *ports, size_t count,
                     const struct by_input_options *options, struct by_port **resolved,
                     struct baryon_error *err);
/* Gives open dimensions the sizes that Quark's random data have; a notice says which. dims[i] are
 * those of port i. */
void by_random_sizes(const struct by_port *ports, size_t count, int64_t *const *dims,
                     const struct by_log *log);
/* Refuses ports of any rank, ranges of no input or with the limits exchanged, and samples larger
 * than the free memory or the options allow. */
int by_random_check(const struct by_port *ports, size_t count,
                    const struct by_input_options *options, struct baryon_error *err);
/* Says for which inputs the default range of integers is a guess. */
void by_random_notice(const struct by_port *ports, size_t count,
                      const struct by_input_options *options);
/* One array a port for sample `index`, from the arena. */
int by_random_fill(struct by_arena *arena, const struct by_port *ports, size_t count,
                   const struct by_input_options *options, size_t index, struct by_array *arrays,
                   struct baryon_error *err);

#endif

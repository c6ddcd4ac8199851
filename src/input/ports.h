/*
 * Ports with the sizes of --shape put in, and random samples for them.
 */
#ifndef BY_PORTS_H
#define BY_PORTS_H

#include "input/input.h"

/*
 * Copies into the arena; symbolic dimensions that the options name become fixed.
 * Settings that fit no dimension are refused, and so are ports that are no tensors
 * of numbers.
 */
int by_ports_resolve(struct by_arena *arena, const struct by_port *ports, size_t count,
                     const struct by_input_options *options, struct by_port **resolved,
                     struct baryon_error *err);
/* Refuses ports with dimensions that are still open, and names them; and a sample that takes more
 * memory than there is, or than the options allow. */
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

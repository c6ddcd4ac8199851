/*
 * Simulation of the arithmetic of DPUs on the float graph, so that calibration sees what they
 * will compute. Two kinds of pattern come from it:
 *
 *   operator -> `<out>_Mul` -> Mul(`<out>_Scale`) -> `<out>`     a constant factor of the operator
 *   nodes and values named `<out>/dpu/...` -> `<out>`            an operator taken apart
 *
 * Both stand for one operator of hardware. Placement puts no pair on a value inside of one.
 */
#ifndef BY_DPU_H
#define BY_DPU_H

#include "pass/match.h"

/* The Mul by a constant factor after an operator: node and input have the same name. */
bool by_node_is_dpu_factor(const struct baryon_node *node);
/* A value or constant inside of an operator of hardware. */
bool by_value_is_inside_dpu(const struct baryon_value *value);

/* Of an AveragePool with a square kernel: what is multiplied with its result. */
double by_dpu_pool_factor(int64_t kernel);
/* Of a mean over that many elements. */
double by_dpu_mean_factor(double count);
/* Puts the factor after output 0, which keeps its name. Nothing where one stands already, the
 * name cannot change, or, but for compat, the factor is 1. */
int by_dpu_multiply(struct by_matcher *match, struct baryon_node *node, double factor);

#endif

/*
 * The lists that Baryon is made of. To extend one is to write one file and one row:
 *
 *   list        rows in                     a row is
 *   operators   src/ir/opinfo_*.h           what is known about an operator
 *   types       src/array/elem.c            an element type
 *   formats     src/dtype/dtypes.c          a number format
 *   readers     src/input/readers.c         a kind of sample file
 *   preps       src/input/prep_presets.c    a named preparation of pictures
 *   methods     src/calib/methods.c         a calibration method
 *   passes      src/pass/passes.c           a rewrite of the float graph
 *   presets     src/preset/presets.c        a named configuration of quantization
 *   refinements src/quant/refine_rules.c    a rule of hardware that moves scales
 *   targets     src/quant/hardware.c        what a quantized model is checked for
 *   ladders     src/search/ladders.c        what a target has to offer 'baryon auto'
 *   metrics     src/metric/metrics.c        a measure of how far results are from others
 *   providers   src/engine/provider.c       an execution provider of ONNX Runtime
 *   rules       src/onnx/check.c            a rule that models keep
 *   schemes     src/llm/scheme/schemes.c    a quantization of language models
 *   layouts     src/llm/layout/layouts.c    how files hold quantized weights
 *   solvers     src/llm/solve/methods.c     a method that rounds weights of language models
 *   commands    cli/commands.h              a command of the program
 *   options     cli/cmd_*.c, src/settings  an option of commands
 *
 * Here the lists but the last two can be walked without knowing their structs: `baryon list`,
 * the documentation and a test that demands a text of every row do that. To make a new
 * list known: one row in api/registry.c.
 */
#ifndef BY_API_REGISTRY_H
#define BY_API_REGISTRY_H

#include "base/str.h"

struct by_registry_row {
    const char *name;
    char detail[96]; /* "since 7", ".npy", "8 bits" */
    const char *help;
};

struct by_registry {
    const char *name;   /* "readers" */
    const char *detail; /* heading over the details */
    const char *help;
    size_t (*count)(void);
    void (*row)(size_t index, struct by_registry_row *row);
};

const struct by_registry *by_registries(size_t *count);
const struct by_registry *by_registry_find(const char *name);

#endif

/* Linear layers of a GGUF file that is written, solved on texts. */
#ifndef BY_LLM_CONVERT_SOLVE_H
#define BY_LLM_CONVERT_SOLVE_H

#include "llm/convert_internal.h"
#include "llm/quantize.h"
#include "llm/store/gguf_write.h"

struct by_llm_solve_blocks {
    const struct by_llm_quantize_options *options; /* a method that solves, texts, windows */
    struct by_log *log;
    struct by_llm_quantized *result; /* what came of solving is added */
};

/* Of the decoder's layers those that become blocks which can be solved. written: [run->made.count],
 * which tensors of the file are done. */
int by_convert_solve(struct by_convert_run *run, struct by_gguf_writer *writer, bool *written,
                     struct baryon_error *err);

#endif

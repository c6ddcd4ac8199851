/* What the commands that quantize a language model and take that back have in common. */
#ifndef BY_LLM_QUANT_H
#define BY_LLM_QUANT_H

#include "cli/cmd.h"
#include "llm/quantize.h"

struct by_llm_writing {
    const char *out;
    uint64_t shard_size;
    int64_t threads;
};

extern const struct by_option_group by_llm_writing_group;

int by_llm_writing_check(const struct by_llm_writing *writing, struct baryon_error *err);
/* What was done, as text or JSON. verb: "quantized", "quantizable", "dequantized". */
void by_llm_quant_tell(struct by_cli *cli, const char *verb, const char *out, bool searched,
                       const struct by_llm_quantized *result);

#endif

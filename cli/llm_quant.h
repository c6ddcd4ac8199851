/* What the commands that quantize a language model and take that back have in common. */
#ifndef BY_LLM_QUANT_H
#define BY_LLM_QUANT_H

#include "cli/cmd.h"
#include "settings/llm.h"

/* What was done, as text or JSON. verb: "quantized", "quantizable", "dequantized". */
void by_llm_quant_tell(struct by_cli *cli, const char *verb, const char *out, bool searched,
                       const struct by_llm_quantized *result);

#endif

/* What the commands that quantize a language model and take that back have in common. */
#ifndef BY_LLM_QUANT_H
#define BY_LLM_QUANT_H

#include "cli/cmd.h"
#include "cli/running.h"
#include "settings/llm.h"

/* What was done, as text or JSON. verb: "quantized", "quantizable", "dequantized". */
void by_llm_quant_tell(struct by_cli *cli, const char *verb, const char *out, bool searched,
                       const struct by_llm_quantized *result);

/* Layers of a decoder, as a command shows them: its function is by_llm_show_layer(), the context is
 * this. Ended by by_llm_show_end(). */
struct by_llm_show {
    struct by_cli *cli;
    const char *what;
    struct by_progress progress;
    bool begun;
};

void by_llm_show_layer(void *context, size_t done, size_t all);
void by_llm_show_end(struct by_llm_show *show);

/* The command as it was given, for a report. */
void by_llm_say_repeat(const struct by_cli *cli, struct by_str *text);

#endif

/* What the reports of folders and of GGUF files have in common. */
#ifndef BY_LLM_REPORT_H
#define BY_LLM_REPORT_H

#include "base/json.h"
#include "llm/quantize.h"

/* Head of the report, in an open object; search NULL: there is none. */
void by_llm_report_head(struct by_json *json, const char *in, const char *out, const char *layout,
                        const char *scheme, const char *search);
void by_llm_report_shape(struct by_json *json, const uint64_t *dims, size_t rank);
/* Of values with this sum of squares; nothing was measured where it is 0. gain: NULL or dB. */
void by_llm_report_errors(struct by_json *json, double energy, double error, const double *gain);
/* What a method made of the layer's output. */
void by_llm_report_solved(struct by_json *json, const struct by_llm_item *item);
/* Writes the text, a line behind it. */
int by_llm_report_write(const char *path, struct by_str *text, struct baryon_error *err);

#endif

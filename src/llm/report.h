/* What the reports of folders and of GGUF files have in common. */
#ifndef BY_LLM_REPORT_H
#define BY_LLM_REPORT_H

#include "base/json.h"
#include "llm/quantize.h"

/* What ran; command NULL: llm quantize; repeat NULL: not known. */
struct by_llm_ran {
    const char *command, *repeat, *in, *out;
};

/* Sums over what was quantized, for a sentence. */
struct by_llm_outcome {
    size_t layers, solved, measured;
    double values, bits;    /* weights, and theirs in all */
    double nearest, output; /* of solved ones: relative errors of outputs */
    double energy, error;   /* of others: of weights */
    bool held_out;
};

/* Head of the report, in an open object; search NULL: there is none. */
void by_llm_report_head(struct by_json *json, const struct by_llm_ran *ran, const char *layout,
                        const char *scheme, const char *search);
/* A weight in bits each; item: how it was solved; NULL: rounded by itself, with these errors. */
void by_llm_outcome_add(struct by_llm_outcome *outcome, double values, double bits,
                        const struct by_llm_item *item, double energy, double error);
/* "outcome" and "bits_per_weight". */
void by_llm_report_outcome(struct by_json *json, const struct by_llm_outcome *outcome);
void by_llm_report_shape(struct by_json *json, const uint64_t *dims, size_t rank);
/* Of values with this sum of squares; nothing was measured where it is 0. gain: NULL or dB. */
void by_llm_report_errors(struct by_json *json, double energy, double error, const double *gain);
/* What a method made of the layer's output. */
void by_llm_report_solved(struct by_json *json, const struct by_llm_item *item);
/* Writes the text, a line after it; as a page where the name ends in .html. */
int by_llm_report_write(const char *path, struct by_str *text, struct baryon_error *err);

#endif

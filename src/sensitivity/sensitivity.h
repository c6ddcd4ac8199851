/*
 * Where a quantized model loses what: how far its outputs are from those of the model that came,
 * with weights alone quantized, activations alone, and both; and how far each layer and tensor
 * is by itself (engine/twin.h). All from one plan, on samples that calibration did not see.
 */
#ifndef BY_SENSITIVITY_H
#define BY_SENSITIVITY_H

#include "quantize/quantize.h"
#include "trial/judge.h"

/* The model in four states. Biases that make up for what rounding weights does stand where weights
 * are quantized. */
enum by_state {
    BY_STATE_FLOAT, /* after the passes, equalized */
    BY_STATE_WEIGHTS,
    BY_STATE_ACTIVATIONS,
    BY_STATE_BOTH,
    BY_STATES,
};

/* SQNR in dB; BY_SQNR_MAX: no difference. */
struct by_sensed_output {
    const char *name;
    double sqnr[BY_STATES];
};

/* What a layer with quantized weights gives, before the pair after it. */
struct by_sensed_layer {
    const char *name, *op_type, *output;
    size_t weight;  /* row of the plan */
    size_t input;   /* row of what it reads, or BY_NO_ROW: that stays float */
    double weights; /* its weights alone are quantized; nothing before it */
    double inputs;  /* what it reads alone is */
    double whole;   /* in the quantized model, with all that came in */
    double shift;   /* mean of the error there, as a share of the output's root mean square */
};

/* An activation. */
struct by_sensed_tensor {
    const char *name;
    size_t row;         /* of the plan */
    double alone;       /* what reads it, where it comes in as float */
    double whole;       /* in the quantized model */
    double shift, peak; /* there: mean and greatest magnitude of the error */
    double min, max, rms;
    uint64_t sample; /* of the greatest magnitude; at: the element */
    size_t rank;
    int64_t at[BY_RANK_MAX];
};

struct by_sensitivity {
    struct by_arena arena;
    size_t samples;         /* that were measured on */
    bool seen;              /* calibration saw them, there were no others */
    double sqnr[BY_STATES]; /* mean over the outputs */
    struct by_sensed_output *outputs;
    size_t output_count;
    struct by_sensed_layer *layers;
    size_t layer_count;
    struct by_sensed_tensor *tensors;
    size_t tensor_count;
    size_t nested;  /* nodes in graphs of If, Loop and Scan: float, and not looked at */
    double seconds; /* that the twin took for the samples */
};

/* Opens the judge on the last samples of the data, runs the model as it came on them, and takes
 * them out of what calibration sees. Before by_quantization_open(), of the same model and
 * options, which it sets. */
int by_sensitivity_begin(struct by_judge **judge, struct baryon_model *model,
                         struct by_quantize_options *options, struct baryon_error *err);
/* After by_quantization_open(); q is left as it was. decompose: layers and tensors too, which
 * requires all states. SQNR of other states than those of the mask are BY_SQNR_MAX. Whatever the
 * result, by_sensitivity_close() is required. Texts live in q and the judge. */
#define BY_STATES_ALL ((1u << BY_STATES) - 1)
int by_sensitivity_measure(struct by_sensitivity *sensitivity, struct by_quantization *q,
                           const struct by_judge *judge, unsigned states, bool decompose,
                           struct baryon_error *err);
/* Layers and tensors without the twin: `weights` is the SQNR of the weights themselves, `alone`
 * that of the values that statistics saw; nothing else is set. After by_sensitivity_measure()
 * without decompose. */
int by_sensitivity_alone(struct by_sensitivity *sensitivity, const struct by_quantization *q,
                         struct baryon_error *err);
void by_sensitivity_close(struct by_sensitivity *sensitivity);

enum by_blame { BY_BLAME_BOTH, BY_BLAME_WEIGHTS, BY_BLAME_ACTIVATIONS, BY_BLAME_PASSES };

/* What costs most; the layer and the tensor that are worst by themselves, where they share in it
 * and were looked at. */
struct by_culprit {
    enum by_blame blame;
    const struct by_sensed_layer *layer;
    const struct by_sensed_tensor *tensor;
};

struct by_culprit by_sensitivity_culprit(const struct by_sensitivity *sensitivity);
/* "Weights are the cause" */
const char *by_sensitivity_blame(enum by_blame blame);
/* " The hardware rule align-concat changed its scale: ...", of a row of the plan; or nothing. */
void by_sensitivity_say_moves(const struct by_quantization *q, size_t row, struct by_str *text);

/* The cause in one or two sentences, where the whole model stays under 20 dB; else empty. */
int by_sensitivity_cause(const struct by_sensitivity *sensitivity, struct by_quantization *q,
                         struct by_str *text, struct baryon_error *err);

#endif

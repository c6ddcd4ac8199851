/*
 * Layouts: which tensors of a file hold a quantized weight, and what config.json says of them.
 *
 * A layout is a row. It lists the tensors (fields) of a weight [rows, columns]; filling them from
 * codes and reading codes back is the same for all layouts and follows from that list. To add one:
 * a file with its row, and a line in layouts.c.
 */
#ifndef BY_LLM_LAYOUT_H
#define BY_LLM_LAYOUT_H

#include "base/json.h"
#include "llm/layout/form.h"
#include "llm/scheme/rows.h"

enum by_llm_field_kind {
    BY_LLM_FIELD_CODES,
    BY_LLM_FIELD_SCALES,
    BY_LLM_FIELD_ZEROS,
    BY_LLM_FIELD_SHARED,       /* of block formats */
    BY_LLM_FIELD_TENSOR_SCALE, /* the global scale, fp8's before integers, that of all weights */
    BY_LLM_FIELD_GROUP_INDEX,  /* of each column */
    BY_LLM_FIELD_SHAPE,        /* rows and columns */
    BY_LLM_FIELD_INPUT_SCALE,  /* of static inputs */
    BY_LLM_FIELD_CACHE_SCALE,  /* of what is kept of keys or values */
};

#define BY_LLM_FIELDS_MAX 8

struct by_llm_field {
    const char *suffix; /* after the name of the layer and a dot */
    bool beside;        /* after the name of the module that the layer is in */
    enum by_llm_field_kind kind;
    int64_t elem;
    size_t rank;
    uint64_t dims[2];
    struct by_llm_form form; /* of codes, scales and zero points */
    int64_t less;            /* of zero points: what is taken off before they are stored */
    size_t bytes;
};

struct by_llm_fields {
    struct by_llm_field at[BY_LLM_FIELDS_MAX];
    size_t count;
};

/* Layers that are quantized alike. */
struct by_llm_layers {
    const struct by_llm_scheme *scheme;
    const char *const *names; /* exact */
    size_t count;
};

/* Layers whose inputs are multiplied by a Hadamard matrix while the model runs (QuaRot's R4). */
struct by_llm_online {
    size_t size, columns;      /* of the matrix; of the inputs, blocks of which are multiplied */
    const char *const *layers; /* exact names */
    size_t count;              /* 0: none */
};

/* The tensor after the name of such a layer that has the matrix, as 1 and -1. */
struct by_llm_online_tensor {
    const char *suffix; /* NULL: loaders make the matrix themselves */
    int64_t elem;
    bool once; /* the first layer's is that of all */
};

/* What config.json is to say. */
struct by_llm_config {
    const struct by_llm_layers *layers; /* the first are all the others */
    size_t count;
    const char *const *excluded; /* exact names of linear layers that stay */
    size_t excluded_count;
    const char *const *patterns; /* by which they were excluded */
    size_t pattern_count;
    int64_t stored;               /* type of scales of weights */
    bool static_inputs;           /* samples gave scales of inputs */
    const struct by_dtype *cache; /* of keys and values; NULL: floats */
    bool cache_fused;             /* they come from one layer with queries */
    struct by_llm_online online;
};

struct by_llm_layout {
    const char *name, *help;
    /* Refuses schemes that the layout has no place for. */
    int (*accepts)(const struct by_llm_scheme *scheme, struct baryon_error *err);
    /* What the layout asks of a tensor; model: element type of the model's weights. */
    void (*prepare)(struct by_llm_tensor *tensor, int64_t model);
    /* Whether codes take a byte each, however few bits they have; stored: their tensor, where a
     * checkpoint has them already, else NULL. Where this is NULL: never. */
    bool (*whole_bytes)(const struct by_llm_scheme *scheme, const char *stored);
    int (*list)(const struct by_llm_tensor *tensor, size_t rows, struct by_llm_fields *fields,
                struct baryon_error *err);
    /* Members of quantization_config. */
    void (*config)(const struct by_llm_config *config, struct by_json *json);
    bool one_scheme; /* all layers have the same */
    bool has_inputs; /* has a place for scales of static inputs */
    /* Adds the scale of what is kept of keys, or of values; NULL: the layout has no place. */
    void (*add_cache)(struct by_llm_fields *fields, bool of_values);
    /* Refuses sizes that loaders do not know; NULL: the layout has no place for such layers. */
    int (*online)(const struct by_llm_online *online, struct by_llm_online_tensor *tensor,
                  struct baryon_error *err);
    bool cache_is_projected; /* of what the projection gives, both the same; else of what is kept */
};

const struct by_llm_layout *const *by_llm_layouts(size_t *count);
const struct by_llm_layout *by_llm_layout_find(const char *name, struct baryon_error *err);
bool by_llm_layout_whole_bytes(const struct by_llm_layout *layout,
                               const struct by_llm_scheme *scheme, const char *stored);

/* Inputs as config.json has them. Where no samples were seen, scales are found while the model
 * runs; dtype NULL: inputs that need a scale of samples stay floats. */
struct by_llm_spec by_llm_input_spec(const struct by_llm_scheme *scheme, bool from_samples);

/* Rows that pieces have to be multiples of, so that threads do not share words. */
#define BY_LLM_ROWS_STEP 32

/* Codes row by row, so that rows can be written as they come. */
bool by_llm_field_in_rows(const struct by_llm_field *field);
/* Puts rows [first, first + count) into the data of each field, which was zeros; data NULL: not
 * this one. */
int by_llm_fields_put(const struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                      const struct by_llm_coded *coded, size_t first, size_t count,
                      uint8_t *const data[BY_LLM_FIELDS_MAX], struct baryon_error *err);
/* What belongs to the whole tensor, and once: shape, group indices, the tensor's scale. */
void by_llm_fields_finish(const struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                          size_t rows, uint8_t *const data[BY_LLM_FIELDS_MAX]);
/* The way back. The tensor's scale first, then rows; data NULL where a file lacks the field. */
int by_llm_fields_open(const struct by_llm_fields *fields, struct by_llm_tensor *tensor,
                       const uint8_t *const data[BY_LLM_FIELDS_MAX], struct baryon_error *err);
int by_llm_fields_get(const struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                      const uint8_t *const data[BY_LLM_FIELDS_MAX], size_t first, size_t count,
                      struct by_llm_coded *coded, struct baryon_error *err);

#endif

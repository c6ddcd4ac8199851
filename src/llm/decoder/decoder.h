/*
 * The forward pass of a decoder, layer by layer: what a checkpoint of any layout computes with its
 * weights as float32.
 *
 * One layer's weights are in memory at a time; hidden states of all windows stay. Windows are
 * computed side by side, each by one thread, so that results do not depend on the threads.
 *
 *   open -> begin(ids) -> step(0) ... step(layers - 1) -> finish -> logits of a window
 */
#ifndef BY_LLM_DECODER_H
#define BY_LLM_DECODER_H

#include "base/par.h"
#include "base/spill.h"
#include "llm/family/family.h"
#include "llm/layout/source.h"
#include "llm/scheme/input.h"

/* Matrices and vectors of a layer. */
enum by_decoder_part {
    BY_PART_Q,
    BY_PART_K,
    BY_PART_V,
    BY_PART_QKV,
    BY_PART_O,
    BY_PART_GATE,
    BY_PART_UP,
    BY_PART_GATE_UP,
    BY_PART_DOWN,
    BY_PART_ROUTER,
    BY_PART_SHARED_GATE,
    BY_PART_SHARED_UP,
    BY_PART_SHARED_DOWN,
    BY_PART_SHARED_ROUTER,
    BY_PART_Q_NORM,
    BY_PART_K_NORM,
    BY_PART_NORM_IN,
    BY_PART_NORM_MIDDLE,
    BY_PART_NORM_BEFORE_FFN,
    BY_PART_NORM_AFTER_FFN,
    BY_PARTS,
};

/* A matrix with its bias; NULL: there is none. */
struct by_decoder_place {
    const struct by_llm_weight *weight, *bias;
    const struct by_llm_input *input; /* how its inputs are rounded; NULL: not at all */
};

struct by_decoder_layer {
    struct by_decoder_place parts[BY_PARTS];
    struct by_decoder_place *experts; /* gate, up, down of each; NULL: none */
    int64_t window;                   /* 0: all tokens before are seen */
    const struct by_llm_cache *cache; /* how keys and values are rounded; NULL: not at all */
    size_t rope;                      /* which of the two */
};

enum by_decoder_act { BY_ACT_SILU, BY_ACT_GELU, BY_ACT_GELU_TANH };

/* Angles of a token at place p: p * frequency. */
struct by_decoder_rope {
    float *frequencies; /* one for each pair, of texts up to `near` tokens */
    float *far;         /* of longer ones */
    size_t pairs, near;
    float attention; /* factor of both */
};

struct by_decoder {
    struct by_arena arena;
    const struct by_llm_source *source;
    const char *spill; /* folder of a file without a name that holds what runs keep; NULL: memory */
    const char *weight_spill; /* the same of weights that runs load */
    bool halved;              /* what runs keep between layers is bf16, not float32 */
    size_t layers, hidden, heads, kv_heads, head_dim, vocab, experts, top_k;
    double eps, attention_scale, attention_cap, logit_cap, embedding_scale;
    bool centred;  /* norms multiply by 1 + weight */
    bool top_sums; /* weights of the chosen experts sum to 1 */
    enum by_decoder_act act;
    struct by_decoder_rope ropes[2]; /* of full attention; of a window */
    struct by_decoder_layer *layer;
    struct by_decoder_place embedding, norm, head;
};

/* Refuses what it does not know, by name. source stays the caller's. */
int by_decoder_open(struct by_decoder *decoder, const struct by_llm_source *source,
                    const struct by_doc_node *config, struct baryon_error *err);
void by_decoder_close(struct by_decoder *decoder);
/* From now on inputs of linear layers, keys and values are rounded as the checkpoint says. *count:
 * of how many linear layers. */
int by_decoder_simulate(struct by_decoder *decoder, size_t *count, struct baryon_error *err);

/* A matrix in memory, [rows][columns]; bias may be NULL, weight NULL: there is none. */
struct by_decoder_matrix {
    float *weight, *bias;
    size_t rows, columns;
    const struct by_decoder_place *place;
};

/* A layer in memory. */
struct by_decoder_loaded {
    struct by_decoder_matrix parts[BY_PARTS];
    struct by_decoder_matrix *experts; /* gate, up, down of each; NULL: none */
    float *values;                     /* all of them, after each other */
    const struct by_spill *spill;      /* where values lie; NULL: in memory */
};

/* Inputs that linears of a layer share, in the order in which they come about. */
enum by_decoder_input {
    BY_INPUT_ATTENTION, /* of q, k, v */
    BY_INPUT_O,
    BY_INPUT_FEED, /* of gate and up, of routers and of all experts */
    BY_INPUT_DOWN,
    BY_INPUTS,
};

/*
 * Sees what goes into each linear layer of the decoder's layers, and what comes out: `tokens` rows,
 * those of `out` are `stride` floats apart. And keys and values as attention takes them, `columns`
 * floats a token. Threads call it at once, with different windows.
 */
struct by_decoder_watch {
    int (*linear)(void *context, size_t window, const struct by_decoder_place *place,
                  const float *in, size_t tokens, const float *out, size_t stride,
                  struct baryon_error *err);
    int (*cache)(void *context, size_t window, size_t layer, const float *keys, const float *values,
                 size_t tokens, size_t columns, size_t stride, struct baryon_error *err);
    void *context;
};

/* Texts in windows of equal length, on their way through the layers. */
struct by_decoder_run {
    const struct by_decoder *decoder;
    struct by_pool *pool;
    size_t windows, length;
    void *states; /* [windows][length][hidden], as by_decoder_get() reads it */
    struct by_spill spill, weights;
    struct by_decoder_loaded loaded;
    size_t capacity; /* of its values, in floats */
    /* Of by_decoder_enter(), once it was called. */
    void *inputs;  /* [windows][length][columns], windows `width * length` numbers apart */
    float *chosen; /* [windows][length][experts]: weights of experts, 0 of others */
    size_t width;
    const struct by_decoder_watch *watch; /* NULL: nobody; set after by_decoder_begin() */
    float *head;                          /* the embedding or the head, once the layers are done */
    float *norm;
};

/* ids: windows * length of them, each below decoder->vocab. */
int by_decoder_begin(struct by_decoder_run *run, const struct by_decoder *decoder,
                     const uint32_t *ids, size_t windows, size_t length, struct by_pool *pool,
                     struct baryon_error *err);
int by_decoder_step(struct by_decoder_run *run, size_t layer, struct baryon_error *err);
/* The same with weights in memory, which may be those of another run. */
int by_decoder_pass(struct by_decoder_run *run, size_t layer,
                    const struct by_decoder_loaded *loaded, struct baryon_error *err);
/* A layer in parts, for those who look at inputs: its weights into run->loaded; inputs one after
 * the other into run->inputs, each with the weights after the one before; BY_INPUTS leaves the
 * layer. `loaded` may be that of another run, and change in between.
 *
 * Of a layer with experts an input of down has a slot for each expert that the token chose, in
 * their order, and one of the shared expert after them. */
int by_decoder_load(struct by_decoder_run *run, size_t layer, struct baryon_error *err);
/* The same with less memory: those weights alone that read `stage`, in the order of inputs, with
 * what is small. They have to be there when the next input is computed. Not beside
 * by_decoder_load() on the same run. */
int by_decoder_load_stage(struct by_decoder_run *run, size_t layer, enum by_decoder_input stage,
                          struct baryon_error *err);
/* Floats that it takes at most. */
size_t by_decoder_stage_floats(const struct by_decoder *decoder);
/* Floats of the decoder's largest layer. */
size_t by_decoder_most_floats(const struct by_decoder *decoder);
/* Of a matrix with so many columns, the rows that are multiplied at once, whether weights are in
 * memory or in a file; the floats of it that a thread looks at at once. */
size_t by_decoder_tile_rows(size_t columns);
size_t by_decoder_tile_floats(size_t columns);
/* These weights are not needed soon: their pages go back where they lie in the file. */
void by_decoder_done(const struct by_spill *spill, const float *values, size_t count);
int by_decoder_enter(struct by_decoder_run *run, size_t layer,
                     const struct by_decoder_loaded *loaded, enum by_decoder_input input,
                     struct baryon_error *err);
/* Bytes of a number of states and inputs: float32, or bf16. */
size_t by_decoder_kept_size(const struct by_decoder *decoder);
/* Numbers [first, first + count) of states or inputs to floats, and back. */
void by_decoder_get(const struct by_decoder *decoder, const void *kept, size_t first, size_t count,
                    float *out);
void by_decoder_put(const struct by_decoder *decoder, void *kept, size_t first, size_t count,
                    const float *in);
/* Pages of a run that spills go back to the system until somebody looks. */
void by_decoder_rest(const struct by_decoder_run *run);
/* Numbers of a token that inputs have at most. */
size_t by_decoder_width(const struct by_decoder *d);
/* Bytes that a thread needs for a window. */
size_t by_decoder_window_bytes(const struct by_decoder *d, size_t length);
/* Floats of a token's input. */
size_t by_decoder_input_columns(const struct by_decoder *decoder,
                                const struct by_decoder_loaded *loaded,
                                enum by_decoder_input input);
/* Floats of a slot: those of the widest expert. */
size_t by_decoder_slot_columns(const struct by_decoder *decoder,
                               const struct by_decoder_loaded *loaded);
/* The slot of an expert among those that a token chose, whose weights these are. */
size_t by_decoder_slot(const float *chosen, size_t expert);
/* After all layers: reads the head. */
int by_decoder_finish(struct by_decoder_run *run, struct baryon_error *err);
/* Logits of tokens [first, first + count) of a window: count * vocab floats. Threads may do so at
 * once. */
int by_decoder_logits(const struct by_decoder_run *run, size_t window, size_t first, size_t count,
                      float *logits, struct baryon_error *err);
void by_decoder_end(struct by_decoder_run *run);

#endif

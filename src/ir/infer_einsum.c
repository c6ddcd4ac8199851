/* Einsum: letters that stand for dimensions. */
#include "ir/infer_internal.h"

#include <string.h>

struct einsum {
    struct by_extent letter[128];
    unsigned seen[128];    /* how often among the inputs */
    struct by_shape *dots; /* what "..." stands for, NULL: nowhere given */
};

/* One term, without spaces: letters and at most one "...". */
struct term {
    char text[2 * BY_RANK_MAX];
    size_t size;
    size_t letters;
    bool dots;
};

static int bad_equation(const struct baryon_node *node, struct baryon_error *err)
{
    return by_infer_fail(
        node, err,
        "the equation must consist of letters, commas, \"...\" and \"->\" and fit the inputs");
}

/* Reads up to a ',' or '-' or the end; false when the term is malformed. */
static bool read_term(struct by_span text, size_t *at, struct term *term)
{
    *term = (struct term){.size = 0};
    for (; *at < text.size && text.data[*at] != ',' && text.data[*at] != '-'; ++*at) {
        const char c = (char)text.data[*at];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c == ' ')
            continue;
        if (term->size >= sizeof term->text)
            return false;
        if (letter) {
            term->letters++;
            term->text[term->size++] = c;
        } else if (c == '.' && !term->dots && text.size - *at >= 3 &&
                   memcmp(text.data + *at, "...", 3) == 0) {
            term->dots = true;
            term->text[term->size++] = '.';
            *at += 2;
        } else {
            return false;
        }
    }
    return term->letters <= BY_RANK_MAX;
}

static int take_letter(const struct baryon_node *node, struct einsum *einsum, char c,
                       struct by_extent dim, struct baryon_error *err)
{
    const size_t letter = (size_t)c;
    struct by_extent known = einsum->letter[letter];
    /* A dimension of 1 is broadcast. */
    if (!einsum->seen[letter]++ || (dim.size != 1 && known.size == 1))
        known = dim;
    else if (dim.size != 1 && !by_extent_unify(known, dim, &known))
        return by_infer_fail(node, err, "dimension '%c' is %lld and %lld", c,
                             (long long)einsum->letter[letter].size, (long long)dim.size);
    einsum->letter[letter] = known;
    return 0;
}

static int take_dots(struct by_infer *infer, const struct baryon_node *node, struct einsum *einsum,
                     const struct by_shape *shape, size_t first, size_t count,
                     struct baryon_error *err)
{
    struct by_shape *dots = by_new_shape(infer, count, err);
    if (!dots)
        return -1;
    memcpy(dots->dims, shape->dims + first, count * sizeof *dots->dims);
    const struct by_shape *pair[] = {einsum->dots, dots}, *joined = dots;
    if (einsum->dots && by_broadcast(infer, node, pair, 2, &joined, err))
        return -1;
    einsum->dots = by_new_copy(infer, joined, err);
    return einsum->dots ? 0 : -1;
}

static int take_input(struct by_infer *infer, const struct baryon_node *node, struct einsum *einsum,
                      const struct term *term, const struct by_shape *shape,
                      struct baryon_error *err)
{
    if (shape->rank < term->letters || (!term->dots && shape->rank != term->letters))
        return by_infer_fail(node, err, "an input has rank %zu, but its term has %zu letters",
                             shape->rank, term->letters);
    const size_t hidden = shape->rank - term->letters;
    size_t axis = 0;
    for (size_t i = 0; i < term->size; i++) {
        if (term->text[i] == '.') {
            if (take_dots(infer, node, einsum, shape, axis, hidden, err))
                return -1;
            axis += hidden;
        } else if (take_letter(node, einsum, term->text[i], shape->dims[axis++], err)) {
            return -1;
        }
    }
    return 0;
}

/* Without "->": what the dots stand for, then the letters that occur once, by alphabet. */
static bool implied_output(const struct einsum *einsum, struct term *term)
{
    *term = (struct term){.text = ".", .size = 1, .dots = true};
    for (size_t c = 0; c < 128; c++) {
        if (einsum->seen[c] != 1)
            continue;
        if (term->letters == BY_RANK_MAX)
            return false;
        term->text[term->size++] = (char)c;
        term->letters++;
    }
    return true;
}

static int out_einsum(struct by_infer *infer, struct baryon_node *node, const struct einsum *einsum,
                      const struct term *term, struct baryon_error *err)
{
    struct by_extent dims[2 * BY_RANK_MAX];
    size_t rank = 0;
    for (size_t i = 0; i < term->size; i++) {
        if (term->text[i] != '.') {
            if (!einsum->seen[(size_t)term->text[i]])
                return bad_equation(node, err);
            dims[rank++] = einsum->letter[(size_t)term->text[i]];
            continue;
        }
        for (size_t k = 0; einsum->dots && k < einsum->dots->rank; k++)
            dims[rank++] = einsum->dots->dims[k];
    }
    return by_out_dims(infer, node, 0, dims, rank, err);
}

int by_infer_einsum(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct baryon_attribute *equation = by_node_attr(node, "equation");
    struct einsum einsum = {.dots = NULL};
    struct term term;
    size_t at = 0;
    if (!equation || equation->type != BY_ATTR_STRING)
        return 0;
    for (size_t i = 0; i < node->input.count; i++) {
        const struct by_shape *shape = by_in_shape(node, i);
        if (!shape)
            return 0;
        if (!read_term(equation->s, &at, &term))
            return bad_equation(node, err);
        if (take_input(infer, node, &einsum, &term, shape, err))
            return -1;
        const bool more = at < equation->s.size && equation->s.data[at] == ',';
        if (more != (i + 1 < node->input.count))
            return bad_equation(node, err);
        at += more;
    }
    if (at == equation->s.size)
        return implied_output(&einsum, &term) ? out_einsum(infer, node, &einsum, &term, err) : 0;
    if (equation->s.size - at < 2 || memcmp(equation->s.data + at, "->", 2) != 0)
        return bad_equation(node, err);
    at += 2;
    if (!read_term(equation->s, &at, &term) || at != equation->s.size)
        return bad_equation(node, err);
    return out_einsum(infer, node, &einsum, &term, err);
}

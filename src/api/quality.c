/* The public interface: the quality of a quantized model. */
#include "api/quality.h"

#include "base/str.h"

struct baryon_quality {
    struct by_quality inner;
    struct by_str text;
    struct baryon_quality_summary summary;
    struct baryon_quality_output *outputs;
};

static void fill_summary(struct baryon_quality *quality)
{
    const struct by_quality *inner = &quality->inner;
    quality->summary = (struct baryon_quality_summary){
        .unmeasured = inner->unmeasured,
        .samples = inner->samples,
        .first_sample = inner->first,
        .which = inner->unmeasured ? NULL : by_quality_which(inner),
        .random = inner->random,
        .worst = inner->worst,
        .cause = inner->cause,
        .next = inner->next,
        .text = by_str_text(&quality->text),
        .seconds = inner->seconds,
    };
}

static int fill_outputs(struct baryon_quality *quality, struct baryon_error *err)
{
    const struct by_quality *inner = &quality->inner;
    quality->outputs = by_alloc(inner->count + 1, sizeof *quality->outputs, err);
    if (!quality->outputs)
        return -1;
    for (size_t i = 0; i < inner->count; i++) {
        const struct by_quality_output *output = &inner->outputs[i];
        quality->outputs[i] = (struct baryon_quality_output){.name = output->name,
                                                             .sqnr = output->sqnr,
                                                             .error = output->error,
                                                             .rows = output->rows,
                                                             .same_class = output->same,
                                                             .nonfinite = output->nonfinite,
                                                             .reshaped = output->reshaped};
    }
    return 0;
}

int by_api_quality_make(struct baryon_quality **out, struct by_quality *inner,
                        struct baryon_error *err)
{
    struct baryon_quality *quality = by_alloc_zero(1, sizeof *quality, err);
    if (!quality) {
        by_quality_release(inner);
        return -1;
    }
    quality->inner = *inner;
    by_str_init(&quality->text);
    by_quality_text(&quality->inner, &quality->text);
    if (by_str_error(&quality->text, err) < 0 || fill_outputs(quality, err) < 0) {
        baryon_quality_free(quality);
        return -1;
    }
    fill_summary(quality);
    *out = quality;
    return 0;
}

void baryon_quality_free(struct baryon_quality *quality)
{
    if (!quality)
        return;
    by_quality_release(&quality->inner);
    by_str_release(&quality->text);
    by_free(quality->outputs);
    by_free(quality);
}

const struct baryon_quality_summary *baryon_quality_summary(const struct baryon_quality *quality)
{
    return quality ? &quality->summary : NULL;
}

const struct baryon_quality_output *baryon_quality_output(const struct baryon_quality *quality,
                                                          size_t place)
{
    return quality && place < quality->inner.count ? &quality->outputs[place] : NULL;
}

/* The public interface: checking models. */
#include "onnx/check.h"
#include "api/api.h"
#include "ir/graph.h"

struct reader {
    baryon_finding_fn *visit;
    void *context;
};

static enum baryon_severity severity_of(enum by_severity severity)
{
    switch (severity) {
    case BY_FINDING_NOTICE:
        return BARYON_NOTICE;
    case BY_FINDING_WARNING:
        return BARYON_WARNING;
    default:
        return BARYON_ERROR;
    }
}

static bool pass_on(void *context, const struct by_finding *finding)
{
    const struct reader *reader = context;
    const struct baryon_finding out = {
        .rule = finding->rule,
        .severity = severity_of(finding->severity),
        .error = &finding->error,
    };
    return reader->visit(reader->context, &out);
}

int baryon_model_check(struct baryon_model *model, const struct baryon_check_options *theirs,
                       baryon_finding_fn *visit, void *context, struct baryon_error *err)
{
    if (BY_NEED(model, err))
        return -1;
    struct baryon_check_options options = {.size = sizeof options};
    struct reader reader = {visit, context};
    if (by_api_options(&options, sizeof options, theirs, err) || by_model_settle(model, err))
        return -1;
    const struct by_check_options ours = {.custom_ops = options.custom_operators};
    return by_model_check(model, &ours, visit ? pass_on : NULL, &reader, err);
}

int baryon_check_file(const char *path, const struct baryon_load_options *load,
                      const struct baryon_check_options *options, baryon_finding_fn *visit,
                      void *context, struct baryon_error *err)
{
    if (BY_NEED(path, err))
        return -1;
    struct by_load_options ours;
    struct baryon_model *model;
    if (by_api_load_options(&ours, load, err) || by_model_load(&model, path, &ours, err))
        return -1;
    int result = baryon_model_check(model, options, visit, context, err);
    by_model_free(model);
    return result;
}

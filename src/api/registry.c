/* Lists all registries of the library and gives each row a name and a help text. */
#include "api/registry.h"

#include "base/format.h"
#include "calib/calib.h"
#include "convert/rows.h"
#include "dtype/dtype.h"
#include "engine/session.h"
#include "input/input.h"
#include "ir/opinfo.h"
#include "llm/layout/layout.h"
#include "llm/solve/method.h"
#include "metric/metric.h"
#include "onnx/check.h"
#include "pass/pass.h"
#include "preset/preset.h"
#include "quant/hardware.h"
#include "quant/refine.h"
#include "search/ladder.h"

#include <stdio.h>
#include <string.h>

static size_t operator_count(void)
{
    size_t count;
    by_opinfo_rows(&count);
    return count;
}

static void operator_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_opinfo *info = &by_opinfo_rows(&count)[index];
    row->name = info->op_type;
    snprintf(row->detail, sizeof row->detail, "%s %d", *info->domain ? info->domain : "ai.onnx",
             info->since);
    row->help = info->weight >= 0 ? "has weights"
                : info->infer     ? "types and shapes inferred by rule"
                : info->type_rule ? "types inferred by rule, shapes by a run"
                                  : "types and shapes inferred by a run";
}

static bool is_type(size_t elem)
{
    return by_elem_info((int64_t)elem) && elem != BY_ELEM_UNDEFINED;
}

static size_t type_count(void)
{
    size_t count = 0;
    for (size_t elem = 0; elem < BY_ELEM_COUNT; elem++)
        count += is_type(elem);
    return count;
}

static void type_row(size_t index, struct by_registry_row *row)
{
    size_t elem = 0;
    for (size_t seen = 0; seen <= index; elem++)
        seen += is_type(elem);
    const struct by_elem_info *info = by_elem_info((int64_t)elem - 1);
    row->name = info->name;
    if (info->bits)
        snprintf(row->detail, sizeof row->detail, "%u", info->bits);
    row->help = info->onnx;
}

static size_t format_count(void)
{
    size_t count;
    by_dtypes(&count);
    return count;
}

static void format_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_dtype *dtype = by_dtypes(&count)[index];
    row->name = dtype->name;
    by_format(row->detail, sizeof row->detail, "%g", by_dtype_bits(dtype));
    row->help = dtype->help;
}

static size_t reader_count(void)
{
    size_t count;
    by_readers(&count);
    return count;
}

static void reader_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_reader *reader = by_readers(&count)[index];
    row->name = reader->name;
    snprintf(row->detail, sizeof row->detail, "%s", reader->suffixes);
    row->help = reader->help;
}

static size_t prep_count(void)
{
    size_t count = 0;
    while (by_prep_preset_names[count].name)
        count++;
    return count;
}

static void prep_row(size_t index, struct by_registry_row *row)
{
    const struct by_choice *choice = &by_prep_preset_names[index];
    const struct by_prep *prep = by_prep_preset(choice->value);
    row->name = choice->name;
    snprintf(row->detail, sizeof row->detail, "%s",
             by_prep_name_of(by_resize_names, (int)prep->resize)->name);
    row->help = choice->help;
}

static size_t rule_count(void)
{
    size_t count;
    by_check_rules(&count);
    return count;
}

static void rule_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_check_rule *rule = &by_check_rules(&count)[index];
    row->name = rule->name;
    row->help = rule->text;
}

static size_t provider_count(void)
{
    size_t count = 0;
    while (by_provider_at(count))
        count++;
    return count;
}

static void provider_row(size_t index, struct by_registry_row *row)
{
    const struct by_provider *provider = by_provider_at(index);
    row->name = provider->name;
    snprintf(row->detail, sizeof row->detail, "%s", provider->full);
    row->help = provider->help;
}

static size_t method_count(void)
{
    size_t count;
    by_calibrators(&count);
    return count;
}

static void method_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_calibrator *method = by_calibrators(&count)[index];
    row->name = method->name;
    snprintf(row->detail, sizeof row->detail, "%s", method->alias);
    row->help = method->help;
}

static size_t pass_count(void)
{
    size_t count, others = 0;
    by_passes(&count);
    while (by_convert_listed(others))
        others++;
    return count + others;
}

/* Of 'baryon convert' alone. */
static void step_row(const struct by_convert_row *step, struct by_registry_row *row)
{
    row->name = step->name;
    snprintf(row->detail, sizeof row->detail, "convert%s%s", step->peer ? ", " : "",
             step->peer ? step->peer : "");
    row->help = step->help;
}

static void pass_row(size_t index, struct by_registry_row *row)
{
    static const char *const fallbacks[] = {[BY_PASS_ON] = "on",
                                            [BY_PASS_OFF] = "off",
                                            [BY_PASS_NPU] = "for NPUs",
                                            [BY_PASS_DPU] = "for DPUs"};
    size_t count;
    const struct by_pass *const *passes = by_passes(&count);
    if (index >= count) {
        step_row(by_convert_listed(index - count), row);
        return;
    }
    const struct by_pass *pass = passes[index];
    row->name = pass->name;
    snprintf(row->detail, sizeof row->detail, "%s%s%s", fallbacks[pass->fallback],
             pass->alias ? ", " : "", pass->alias ? pass->alias : "");
    row->help = pass->help;
}

static size_t preset_count(void)
{
    size_t count;
    by_presets(&count);
    return count;
}

static void preset_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_preset *preset = by_presets(&count)[index];
    row->name = preset->name;
    row->help = preset->help;
}

static size_t refinement_count(void)
{
    size_t count;
    by_refine_rules(&count);
    return count;
}

static void refinement_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_refine_rule *rule = by_refine_rules(&count)[index];
    row->name = rule->name;
    snprintf(row->detail, sizeof row->detail, "%s", rule->alias);
    row->help = rule->help;
}

static size_t target_count(void)
{
    size_t count;
    by_hardware_targets(&count);
    return count;
}

static void target_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_hardware_target *target = &by_hardware_targets(&count)[index];
    row->name = target->name;
    row->help = target->help;
}

static size_t ladder_count(void)
{
    size_t count;
    by_ladders(&count);
    return count;
}

static void ladder_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_ladder *ladder = by_ladders(&count)[index];
    row->name = ladder->name;
    (void)snprintf(row->detail, sizeof row->detail, "%zu", ladder->rung_count);
    row->help = ladder->help;
}

static size_t metric_count(void)
{
    size_t count;
    by_metrics(&count);
    return count;
}

static void metric_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_metric *metric = &by_metrics(&count)[index];
    row->name = metric->name;
    snprintf(row->detail, sizeof row->detail, "%s", metric->higher ? "higher" : "lower");
    row->help = metric->help;
}

static size_t scheme_count(void)
{
    size_t count;
    by_llm_schemes(&count);
    return count;
}

static void scheme_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_llm_scheme *scheme = &by_llm_schemes(&count)[index];
    row->name = scheme->name;
    snprintf(row->detail, sizeof row->detail, "%g", by_llm_spec_bits(&scheme->weight, 0, 16));
    if (scheme->weight.grain == BY_LLM_GROUP)
        snprintf(row->detail, sizeof row->detail, "%g",
                 by_llm_spec_bits(&scheme->weight, scheme->weight.group, 16));
    row->help = scheme->help;
}

static size_t layout_count(void)
{
    size_t count;
    by_llm_layouts(&count);
    return count;
}

static void layout_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_llm_layout *layout = by_llm_layouts(&count)[index];
    row->name = layout->name;
    row->help = layout->help;
}

static size_t solver_count(void)
{
    size_t count;
    by_llm_methods(&count);
    return count;
}

static void solver_row(size_t index, struct by_registry_row *row)
{
    size_t count;
    const struct by_llm_method *method = &by_llm_methods(&count)[index];
    row->name = method->name;
    row->help = method->help;
}

static const struct by_registry registries[] = {
    {"operators", "domain and opset", "Known operators", operator_count, operator_row},
    {"types", "bits", "Element types of tensors and their ONNX names", type_count, type_row},
    {"formats", "bits per element",
     "Number formats, of single values or of blocks that share a scale", format_count, format_row},
    {"readers", "files", "Formats of sample files", reader_count, reader_row},
    {"preps", "resize", "Named preparations of pictures", prep_count, prep_row},
    {"methods", "also called", "Calibration methods: how to choose the range of a tensor",
     method_count, method_row},
    {"passes", "default, Quark's name",
     "Passes over the float graph before quantization, and passes of 'baryon convert' alone",
     pass_count, pass_row},
    {"presets", "", "Named configs of quantization", preset_count, preset_row},
    {"refinements", "Quark's name", "Hardware rules for scales on NPUs", refinement_count,
     refinement_row},
    {"targets", "", "Targets that 'baryon check' knows", target_count, target_row},
    {"ladders", "rungs", "Targets of 'baryon auto'", ladder_count, ladder_row},
    {"metrics", "better", "Metrics of 'baryon evaluate'", metric_count, metric_row},
    {"providers", "in ONNX Runtime", "Execution providers of ONNX Runtime", provider_count,
     provider_row},
    {"rules", "", "Rules of 'baryon check'", rule_count, rule_row},
    {"schemes", "bits per weight", "Quantization schemes of 'baryon llm quantize'", scheme_count,
     scheme_row},
    {"layouts", "", "Layouts of files that 'baryon llm quantize' writes", layout_count, layout_row},
    {"solvers", "", "Methods of 'baryon llm quantize': how weights are rounded", solver_count,
     solver_row},
};

const struct by_registry *by_registries(size_t *count)
{
    *count = sizeof registries / sizeof *registries;
    return registries;
}

const struct by_registry *by_registry_find(const char *name)
{
    for (size_t i = 0; i < sizeof registries / sizeof *registries; i++)
        if (!strcmp(registries[i].name, name))
            return &registries[i];
    return NULL;
}

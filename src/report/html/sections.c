/* Lists the sections of the page in their order. */
#include "report/html/sections.h"

static const struct by_section rows[] = {
    {"goals", "Goals", by_has_goals, by_section_goals},
    {"search", "Search", by_has_search, by_section_search},
    {"quality", "Quality", by_has_quality, by_section_quality},
    {"scores", "Scores", by_has_scores, by_section_scores},
    {"graph", "Along the graph", by_has_graph, by_section_graph},
    {"table", "Tensors and layers", by_has_table, by_section_table},
    {"decoder", "Along the layers", by_has_decoder, by_section_decoder},
    {"linears", "Weights", by_has_linears, by_section_linears},
    {"windows", "Windows", by_has_windows, by_section_windows},
    {"samples", "Samples", by_has_examples, by_section_examples},
    {"work", "What was quantized", by_has_work, by_section_work},
    {"costs", "Time and memory", by_has_costs, by_section_costs},
    {"repeat", "Repeat", by_has_repeat, by_section_repeat},
};

const struct by_section *by_sections(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}

/*
 * Sections of the page: each is one function in a file of its own and one row in sections.c.
 *
 * A section writes what it can say without a script. What the script draws goes into elements with
 * a data-view of that name.
 */
#ifndef BY_REPORT_SECTIONS_H
#define BY_REPORT_SECTIONS_H

#include "report/html/shape.h"

#include "base/str.h"

struct by_section {
    const char *id, *title;
    bool (*has)(const struct by_doc_node *root);
    void (*write)(const struct by_doc_node *root, struct by_str *html);
};

const struct by_section *by_sections(size_t *count);

/* The head of the page: what ran on what, the outcome, its figures. */
void by_section_head(const struct by_doc_node *root, struct by_str *html);

bool by_has_goals(const struct by_doc_node *root);
void by_section_goals(const struct by_doc_node *root, struct by_str *html);
bool by_has_search(const struct by_doc_node *root);
void by_section_search(const struct by_doc_node *root, struct by_str *html);
bool by_has_quality(const struct by_doc_node *root);
void by_section_quality(const struct by_doc_node *root, struct by_str *html);
bool by_has_scores(const struct by_doc_node *root);
void by_section_scores(const struct by_doc_node *root, struct by_str *html);
bool by_has_graph(const struct by_doc_node *root);
void by_section_graph(const struct by_doc_node *root, struct by_str *html);
bool by_has_table(const struct by_doc_node *root);
void by_section_table(const struct by_doc_node *root, struct by_str *html);
/* Of language models: along the decoder's layers, and the linears. */
bool by_has_decoder(const struct by_doc_node *root);
void by_section_decoder(const struct by_doc_node *root, struct by_str *html);
bool by_has_linears(const struct by_doc_node *root);
void by_section_linears(const struct by_doc_node *root, struct by_str *html);
/* Of texts that a language model was evaluated on. */
bool by_has_windows(const struct by_doc_node *root);
void by_section_windows(const struct by_doc_node *root, struct by_str *html);
bool by_has_examples(const struct by_doc_node *root);
void by_section_examples(const struct by_doc_node *root, struct by_str *html);
bool by_has_work(const struct by_doc_node *root);
void by_section_work(const struct by_doc_node *root, struct by_str *html);
bool by_has_costs(const struct by_doc_node *root);
void by_section_costs(const struct by_doc_node *root, struct by_str *html);
bool by_has_repeat(const struct by_doc_node *root);
void by_section_repeat(const struct by_doc_node *root, struct by_str *html);

#endif

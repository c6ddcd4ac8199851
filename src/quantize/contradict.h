/* Nodes whose hardware rules contradict those of their neighbours. */
#ifndef BY_CONTRADICT_H
#define BY_CONTRADICT_H

#include "trial/quantization.h"

/* After refinement: excludes the first node that only moves elements and whose rule is still
 * broken, as one of its tensors is held by another rule; *left: there was one, the model has to be
 * placed again. A layer in that state stays quantized, with a warning. */
int by_quantize_leave_contradiction(struct by_quantization *q, bool *left,
                                    struct baryon_error *err);

#endif

/*
 * Baryon: a quantizer for trained models.
 *
 * This is the only header to include. Its parts, in the order to read them:
 *
 *     baryon/error.h       errors
 *     baryon/model.h       models: load, save, check, infer
 *     baryon/walk.h        what a model has
 *     baryon/edit.h        changing it
 *     baryon/run.h         running it with ONNX Runtime
 *     baryon/calibrate.h   settings, samples, and statistics of a model on them
 *     baryon/statistics.h  what statistics tell, ranges and scales for one
 *     baryon/quantize.h    quantizing a model
 *     baryon/convert.h     other float types and forms of a model
 *     baryon/formats.h     number formats, and lists of what there is
 *     baryon/evaluate.h    how far results are from those of another model
 *     baryon/compare.h     two quantized models side by side
 *     baryon/llm.h         checkpoints of language models
 *
 * Names that begin with baryon_ are the interface; whatever is not written there may
 * change.
 *
 * Rules that hold everywhere:
 *  - Functions that can fail return 0, or -1 and fill the caller's struct
 *    baryon_error (which may be NULL). Nothing is printed, no signal handler is
 *    set, the process is never ended.
 *  - A pointer that a getter returns belongs to the object it was asked of and
 *    lives as long as that object does. Strings end with NUL.
 *  - Different objects may be used by different threads at once; one object by
 *    one thread at a time.
 *  - free and release functions accept NULL. A pointer may be NULL where its comment says
 *    so, and where its count is 0; options and err always may. Functions that can fail refuse
 *    any other NULL with BARYON_ERR_USAGE, getters give nothing for it.
 */
#ifndef BARYON_H
#define BARYON_H

#define BARYON_VERSION_MAJOR 0
#define BARYON_VERSION_MINOR 1
#define BARYON_VERSION_PATCH 0

#include "baryon/calibrate.h"
#include "baryon/compare.h"
#include "baryon/convert.h"
#include "baryon/edit.h"
#include "baryon/error.h"
#include "baryon/evaluate.h"
#include "baryon/formats.h"
#include "baryon/llm.h"
#include "baryon/model.h"
#include "baryon/quantize.h"
#include "baryon/run.h"
#include "baryon/statistics.h"
#include "baryon/walk.h"

#endif

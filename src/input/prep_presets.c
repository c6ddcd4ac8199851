/*
 * Preparations by name. To add one: a row in PRESETS.
 *
 * Values are those that the networks were trained with. Filters follow the library
 * that the training used: Pillow for torchvision, OpenCV for the others.
 */
#include "input/prep.h"

#define PRESETS(ROW)                                                                               \
    ROW(plain, "stretch to the input size, RGB from 0 to 1", .resize = BY_RESIZE_STRETCH,          \
        .filter = BY_FILTER_PIL_BILINEAR, .pad = 114)                                              \
    ROW(imagenet,                                                                                  \
        "torchvision classifiers: short side to 256/224 of the input size, centre crop, ImageNet " \
        "mean and standard deviation",                                                             \
        .resize = BY_RESIZE_SHORT_SIDE, .filter = BY_FILTER_PIL_BILINEAR, .pad = 114,              \
        .mean = {0.485, 0.456, 0.406}, .std = {0.229, 0.224, 0.225}, .mean_count = 3,              \
        .std_count = 3)                                                                            \
    ROW(yolo, "YOLOv5 and later: letterbox on gray 114, RGB from 0 to 1",                          \
        .resize = BY_RESIZE_LETTERBOX, .filter = BY_FILTER_CV_LINEAR, .pad = 114)                  \
    ROW(caffe,                                                                                     \
        "Caffe classifiers: short side, centre crop, BGR from 0 to 255 minus 104, 117, 123",       \
        .resize = BY_RESIZE_SHORT_SIDE, .filter = BY_FILTER_CV_LINEAR, .colour = BY_COLOUR_BGR,    \
        .pad = 114, .scale = 1, .mean = {104, 117, 123}, .mean_count = 3)                          \
    ROW(signed, "TensorFlow classifiers: stretch, RGB from -1 to 1", .resize = BY_RESIZE_STRETCH,  \
        .filter = BY_FILTER_PIL_BILINEAR, .pad = 114, .mean = {0.5}, .std = {0.5},                 \
        .mean_count = 1, .std_count = 1)

#define VALUE(name, help, ...) PRESET_##name,
enum preset { PRESETS(VALUE) PRESET_COUNT };

#define CHOICE(name, help, ...) {#name, PRESET_##name, help},
const struct by_choice by_prep_preset_names[] = {PRESETS(CHOICE){NULL, 0, NULL}};

#define SETTINGS(name, help, ...) [PRESET_##name] = {__VA_ARGS__},
static const struct by_prep presets[PRESET_COUNT] = {PRESETS(SETTINGS)};

const struct by_prep *by_prep_preset(int value)
{
    return value >= 0 && value < PRESET_COUNT ? &presets[value] : &presets[PRESET_plain];
}

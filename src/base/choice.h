/*
 * Values that have a name: what people write, what it stands for, one sentence on it.
 * A list of them ends with name NULL.
 */
#ifndef BY_CHOICE_H
#define BY_CHOICE_H

struct by_choice {
    const char *name;
    int value;
    const char *help;
};

#endif

/**
 * What suspended models need of those that run, and the other way round. Not for applications.
 */
#ifndef KIWICHA_SUSPEND_H
#define KIWICHA_SUSPEND_H

#include "runtime.h"

#if KIWICHA_CAN_SUSPEND

/** Whether a model uses nothing of the scratchpad that a suspended one has left there. */
bool kiwicha_may_use_scratchpad(struct kiwicha_model *model);

/** Takes a model from those that are suspended, if it is one. */
void kiwicha_forget_suspension(struct kiwicha_model *model);

/** Lets the device work for a model, or for none. */
void kiwicha_give_device(const struct kiwicha_model *model);

/** Whether it works for none. */
bool kiwicha_has_free_device(void);

#endif

/** Whether an inference goes on when it is polled. */
static inline bool kiwicha_can_go_on(const struct kiwicha_model *model)
{
#if KIWICHA_CAN_SUSPEND
    return model->is_running && !model->suspension.is_suspended;
#else
    return model->is_running;
#endif
}

/** Whether somebody waits for the machine that an inference has. */
static inline bool kiwicha_is_wanted(const struct kiwicha_model *model)
{
#if KIWICHA_CAN_SUSPEND
    return model->is_wanted;
#else
    (void)model;
    return false;
#endif
}

#endif

/** Programs of Kiwicha as an operator of TensorFlow Lite Micro. */
#ifndef KIWICHA_TFLM_KIWICHA_H
#define KIWICHA_TFLM_KIWICHA_H

#include "tensorflow/lite/micro/micro_common.h"

namespace tflite
{

/**
 * Returns the operator that runs Programs, for `MicroMutableOpResolver::AddCustom`.
 *
 * A Program without states works in a scratch buffer of the interpreter's arena, which other
 * operators use as well; one with states keeps its arena. The model must lie at a multiple of 16
 * bytes, and stay where it is. `MicroInterpreter::Reset` gives states their first values.
 */
TFLMRegistration *Register_KIWICHA();

/** Returns the operator's name in models. */
const char *GetString_KIWICHA();

} // namespace tflite

#endif

/**
 * @file
 * Test of interrupts: of the timer, and of the engine.
 */
#ifndef KIWICHA_SELFTEST_EVENTS_H
#define KIWICHA_SELFTEST_EVENTS_H

#include "kiwicha_isa.h"

#if KIWICHA_CONFIG_IS_PREEMPTIBLE

/** Makes the check of interrupts, and writes what came of it where `test` says. */
void kiwicha_check_interrupts(const struct kiwicha_self_test *test);

#endif

#endif

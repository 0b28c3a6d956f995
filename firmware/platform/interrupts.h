/**
 * @file
 * Interrupts of a system whose engine has one: of the engine, and of LiteX's timer.
 */
#ifndef KIWICHA_INTERRUPTS_H
#define KIWICHA_INTERRUPTS_H

#include <stdint.h>

#include "kiwicha_isa.h"

#if KIWICHA_CONFIG_IS_PREEMPTIBLE

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Enables interrupts: that of the engine, when a list has ended or was paused, and that of the
 * timer. Other traps end the firmware as before.
 *
 * @param on_timer called in the timer's interrupt; it must not execute custom instructions. Null if
 *     the timer is to have none
 */
void kiwicha_platform_enable_interrupts(void (*on_timer)(void));

/**
 * Lets the timer interrupt after some cycles.
 *
 * @param cycles 1 or more
 * @param period_cycles from then on, again and again after so many; 0 for once
 */
void kiwicha_platform_set_timer(uint32_t cycles, uint32_t period_cycles);

/**
 * Sleeps until the next interrupt: the CPU does nothing, and leaves bus and DRAM alone.
 *
 * What it waits for is to be looked at between `kiwicha_platform_mask_interrupts` and this: an
 * interrupt in between wakes it at once, and is taken with `kiwicha_platform_unmask_interrupts`.
 */
void kiwicha_platform_sleep(void);

/** Lets interrupts wait until `kiwicha_platform_unmask_interrupts`. */
void kiwicha_platform_mask_interrupts(void);

/** Takes interrupts again. */
void kiwicha_platform_unmask_interrupts(void);

#ifdef __cplusplus
}
#endif

#endif

#endif

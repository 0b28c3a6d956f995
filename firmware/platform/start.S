/* First instructions after reset, and the entry of traps. */

    .section .text.start, "ax"
    .globl kiwicha_entry
kiwicha_entry:
    la      sp, kiwicha_stack_top
    la      t0, kiwicha_trap_entry
    csrw    mtvec, t0
    /* On-chip memory keeps its contents over a reset: clear what C expects to be zero. */
    la      t0, kiwicha_bss_start
    la      t1, kiwicha_bss_end
1:  bgeu    t0, t1, 2f
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       1b
2:  call    main
    tail    kiwicha_platform_exit

    /* Traps end the run, so nothing is saved; the stack starts anew because it may be the cause. */
    .balign 4
kiwicha_trap_entry:
    la      sp, kiwicha_stack_top
    csrr    a0, mcause
    csrr    a1, mepc
    csrr    a2, mtval
    tail    kiwicha_platform_trap

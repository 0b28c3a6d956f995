"""A static timing estimate of a synthesised design for Xilinx 7 series.

======================  ===========================================================================
`estimate`              From a configuration, or a netlist, to clock and worst paths
`netlist`               A flat netlist of vendor's cells, as Yosys writes it
`cells`                 The timing of each type of cell: numbers and sources are in `slices`,
                        `slice_memories`, `block_rams` and `multipliers`
`cell_timing`           What the timing of a cell is made of
`wires`                 What wires take, from the number of their loads
`graph`                 Arrival times of all nets
`paths`                 The worst paths, those of one bus as one
`names`                 What registers and nets are called in the source
`places`                Where the source declares them
`fingerprint`           Hashes of what an estimate depends on
======================  ===========================================================================
"""

"""What generates documents and results; not installed.

===========================  ======================================================================
``tools.documents``          Writes the generated pages
``tools.results``            Lists committed results, which are stale and why; measures them again
``tools.reference_sweep``    Compares convolutions and all operators with the interpreters
``tools.cpu_costs``          Measures what steps of the CPU cost, for the compiler's cost model
===========================  ======================================================================

Each is a command: ``python -m NAME``.
"""

"""Generated documents, from committed results and the compiler's rules.

``python -m tools.documents`` writes them. A page is written in one file: `board_pages`,
`energy_section`, `mlperf_section`, `onnx_section`, `result_tables`, `soak_section`,
`supported_page`, `sweep_section`, `times_section`; `freshness` has the line below each table.
"""

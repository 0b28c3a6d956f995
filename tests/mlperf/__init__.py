"""MLPerf Tiny."""

"""Other benchmarks' published file formats, one module each."""

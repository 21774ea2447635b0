"""One rule a file; a file here is found by itself."""

"""Whether two runs are one model, and where they first part."""

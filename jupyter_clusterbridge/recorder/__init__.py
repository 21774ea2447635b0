"""The notebook side: what a person did in a live kernel, and what it means for a job."""

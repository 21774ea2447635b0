"""Static rules on notebooks: what a cluster will not forgive. One rule a file, found by folder."""

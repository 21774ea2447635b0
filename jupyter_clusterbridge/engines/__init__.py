"""What executes a bundle: one interface, one file an engine."""

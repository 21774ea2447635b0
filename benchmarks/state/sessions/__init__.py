"""The sessions by theme; every module registers its own."""

"""Pure data that every room shares: frozen dataclasses, canonical JSON, digests and errors.

This room imports the standard library alone.
"""

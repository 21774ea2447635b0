"""The version, below all rooms so that each may name it."""

VERSION = "0.1.0"

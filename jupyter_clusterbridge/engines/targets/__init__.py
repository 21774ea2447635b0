"""One engine a file; none imports another."""

"""Reports in the forms that other tools read, one form a file."""

"""The files that lint reads and fixes: notebooks and percent scripts, each with its lines and its bytes kept."""

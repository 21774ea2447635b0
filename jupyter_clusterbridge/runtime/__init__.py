"""What runs inside a job, and the recording that notebook and job share.

Needs ipykernel, nbclient, nbformat, psutil and xxhash, and nothing else.
"""

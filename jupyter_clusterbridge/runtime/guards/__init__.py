"""Guards, one a file; the interface is :mod:`jupyter_clusterbridge.runtime.guard`."""

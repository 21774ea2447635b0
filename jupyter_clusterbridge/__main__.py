"""``python -m jupyter_clusterbridge`` is the ``clusterbridge`` command."""

from jupyter_clusterbridge.cli import main

main()

import { LabIcon } from '@jupyterlab/ui-components';

// a deck on two piers: the bridge
const svgstr =
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">' +
  '<path class="jp-icon3 jp-icon-selectable" fill="#616161" ' +
  'd="M5 3h2v4c2 3.5 8 3.5 10 0V3h2v9h4v3h-4v6h-2v-6H7v6H5v-6H1v-3h4V3zm2 7.2V12h2v-.6a9 9 0 0 1-2-1.2z' +
  'm4 1.7v.1h2v-.1a10 10 0 0 1-2 0zm4-.5v.6h2v-1.8a9 9 0 0 1-2 1.2z"/></svg>';

/** ClusterBridge's icon. */
export const bridgeIcon = new LabIcon({ name: 'jupyter-clusterbridge:bridge', svgstr });

/** The commands of this extension. */
export const CommandIDs = {
  show: 'clusterbridge:show',
  refresh: 'clusterbridge:refresh',
  export: 'clusterbridge:export'
} as const;

/** Where the command palette lists them. */
export const CATEGORY = 'ClusterBridge';

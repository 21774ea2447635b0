const { rmSync } = require('node:fs');

/** Remove the scratch folders of the server: settings, workspaces, notebooks and bundles. */
module.exports = async () => {
  rmSync(process.env.CLUSTERBRIDGE_UI_SCRATCH, { recursive: true, force: true, maxRetries: 3 });
};

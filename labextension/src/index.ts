import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { exportPlugin } from './plugins/export';
import { readinessPlugin } from './plugins/readiness';
import { sidebarPlugin } from './plugins/sidebar';

export { IReadinessModel } from './model/readiness';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  readinessPlugin,
  sidebarPlugin,
  exportPlugin
];

export default plugins;

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';

import { Client } from '../api/client';
import { ExportJob } from '../model/exportJob';
import { ExportDialog } from '../ui/exportDialog';
import { bridgeIcon } from '../ui/icon';
import { CATEGORY, CommandIDs } from './commands';
import { serverPath } from './readiness';

/** The command behind the notebook's toolbar button, which the schema adds, and the palette's entry. */
export const exportPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-clusterbridge:export',
  description: 'Exports the notebook in front to a cluster job.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    palette: ICommandPalette | null
  ): void => {
    const { contents, serverSettings } = app.serviceManager;
    const client = new Client(serverSettings);
    const path = () => pathInFront(tracker.currentWidget, contents);
    app.commands.addCommand(CommandIDs.export, {
      label: 'Export to cluster job',
      caption: 'Write a bundle that runs this notebook as a guarded job',
      icon: bridgeIcon,
      isEnabled: () => path() !== null,
      execute: async () => {
        const panel = tracker.currentWidget;
        const notebook = path();
        if (panel !== null && notebook !== null) {
          await exportNotebook(new ExportJob(client, notebook, () => save(panel)));
        }
      }
    });
    tracker.currentChanged.connect(() => app.commands.notifyCommandChanged(CommandIDs.export));
    palette?.addItem({ command: CommandIDs.export, category: CATEGORY });
  }
};

function pathInFront(panel: NotebookPanel | null, contents: Contents.IManager): string | null {
  return panel === null ? null : serverPath(panel.context.path, contents);
}

async function save(panel: NotebookPanel): Promise<void> {
  if (panel.context.model.dirty) {
    await panel.context.save();
  }
}

async function exportNotebook(job: ExportJob): Promise<void> {
  const dialog = new ExportDialog(job);
  void job.loadEngines();
  await dialog.launch();
  if (job.phase.kind === 'working') {
    job.changed.connect(notify);
  }
}

/** Tell the end of an export whose dialog was closed. */
function notify(job: ExportJob): void {
  const { phase } = job;
  if (phase.kind === 'done') {
    Notification.success(`Exported to ${phase.answer.folder}`);
  } else if (phase.kind === 'form' && phase.failure !== null) {
    Notification.error(`${phase.failure.message} ${phase.failure.hint}`, { autoClose: false });
  }
}

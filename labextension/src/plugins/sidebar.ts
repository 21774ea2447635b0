import { ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker, Notebook } from '@jupyterlab/notebook';

import { IReadinessModel } from '../model/readiness';
import { bridgeIcon } from '../ui/icon';
import { Sidebar } from '../ui/sidebar';
import { CATEGORY, CommandIDs } from './commands';

/** Adds the sidebar to the right area. */
export const sidebarPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-clusterbridge:sidebar',
  description: 'Sidebar with findings and interventions of the notebook in front.',
  autoStart: true,
  requires: [INotebookTracker, IReadinessModel],
  optional: [ICommandPalette, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    model: IReadinessModel,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null
  ): void => {
    const { commands, shell } = app;
    const sidebar = new Sidebar(model, {
      jump: (cellId, cellIndex, line) => {
        if (tracker.currentWidget) {
          shell.activateById(tracker.currentWidget.id);
          void showCell(tracker.currentWidget.content, cellId, cellIndex, line);
        }
      },
      refresh: () => void commands.execute(CommandIDs.refresh),
      export: () => void commands.execute(CommandIDs.export)
    });
    shell.add(sidebar, 'right', { rank: 900, type: 'ClusterBridge' });
    restorer?.add(sidebar, sidebar.id);

    commands.addCommand(CommandIDs.show, {
      label: 'Show ClusterBridge',
      caption: 'Findings and interventions of the notebook in front',
      icon: bridgeIcon,
      execute: () => shell.activateById(sidebar.id)
    });
    commands.addCommand(CommandIDs.refresh, {
      label: 'Refresh ClusterBridge findings',
      execute: () => model.refresh()
    });
    for (const command of [CommandIDs.show, CommandIDs.refresh]) {
      palette?.addItem({ command, category: CATEGORY });
    }
  }
};

/** Make a cell the active one, bring it into view and put the cursor on a line of it. */
export async function showCell(
  notebook: Notebook,
  cellId: string | null,
  cellIndex: number | null,
  line: number | null
): Promise<void> {
  const byId = notebook.widgets.findIndex(cell => cell.model.id === cellId);
  const index = byId >= 0 ? byId : (cellIndex ?? -1);
  const cell = notebook.widgets[index];
  if (cell === undefined) {
    return;
  }
  notebook.activeCellIndex = index;
  notebook.deselectAll();
  await notebook.scrollToCell(cell);
  if (line !== null) {
    cell.editor?.setCursorPosition({ line: line - 1, column: 0 });
  }
  notebook.activate();
}

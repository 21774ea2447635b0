import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { PathExt } from '@jupyterlab/coreutils';
import { INotebookTracker, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import { Debouncer } from '@lumino/polling';

import { Client } from '../api/client';
import { INotebookInFront, IReadinessModel, ReadinessModel } from '../model/readiness';

/** Several cells of one "Run All" make one request. */
const QUIET_MS = 300;

/** The name of the drive that real-time collaboration puts in front of the server's own files. */
const COLLABORATION_DRIVE = 'RTC';

/** Follows the notebook in front and refreshes on save, on change of notebook and after a cell ran. */
export const readinessPlugin: JupyterFrontEndPlugin<IReadinessModel> = {
  id: 'jupyter-clusterbridge:readiness',
  description: 'Findings and interventions of the notebook in front.',
  autoStart: true,
  requires: [INotebookTracker],
  provides: IReadinessModel,
  activate: (app: JupyterFrontEnd, tracker: INotebookTracker): IReadinessModel => {
    const { contents, serverSettings } = app.serviceManager;
    const model = new ReadinessModel(new Client(serverSettings));
    const refresh = new Debouncer(() => model.refresh(), QUIET_MS);
    const follow = () => void model.follow(inFront(tracker.currentWidget, contents));

    tracker.currentChanged.connect(follow);
    tracker.widgetAdded.connect((_, panel) => {
      panel.context.pathChanged.connect(follow);
      panel.context.model.stateChanged.connect(follow);
      panel.context.saveState.connect((_, state) => {
        if (state === 'completed' && panel === tracker.currentWidget) {
          void refresh.invoke();
        }
      });
    });
    NotebookActions.executed.connect((_, { notebook }) => {
      if (notebook === tracker.currentWidget?.content) {
        void refresh.invoke();
      }
    });
    return model;
  }
};

/** The notebook of a panel as the model knows it. */
export function inFront(
  panel: NotebookPanel | null,
  contents: Contents.IManager
): INotebookInFront | null {
  if (panel === null) {
    return null;
  }
  const { path } = panel.context;
  return {
    name: PathExt.basename(path),
    path: serverPath(path, contents),
    unsaved: panel.context.model.dirty
  };
}

/** The path of a notebook below the server's root; null when it lies on another drive. */
export function serverPath(path: string, contents: Contents.IManager): string | null {
  const drive = contents.driveName(path);
  return drive === '' || drive === COLLABORATION_DRIVE ? contents.localPath(path) : null;
}

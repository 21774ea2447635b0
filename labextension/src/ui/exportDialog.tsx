import { Dialog } from '@jupyterlab/apputils';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import type { ExportJob } from '../model/exportJob';
import { ExportForm } from './exportForm';
import { ExportResult } from './exportResult';
import { FailureNote } from './failureNote';

class ExportBody extends ReactWidget {
  constructor(job: ExportJob) {
    super();
    this._job = job;
    this.addClass('jp-ClusterBridge-dialog');
  }

  protected render(): JSX.Element {
    return <UseSignal signal={this._job.changed}>{() => <ExportBodyView job={this._job} />}</UseSignal>;
  }

  private readonly _job: ExportJob;
}

/** The dialog's content in each phase of the export. */
export function ExportBodyView(props: { job: ExportJob }): JSX.Element {
  const { job } = props;
  const { phase } = job;
  if (phase.kind === 'done') {
    return <ExportResult answer={phase.answer} />;
  }
  return (
    <>
      <ExportForm job={job} disabled={phase.kind === 'working'} />
      {phase.kind === 'working' && (
        <InView>
          <p role="status">
            Exporting… Locking the environment can take a minute. You may close this dialog; the export
            goes on.
          </p>
        </InView>
      )}
      {phase.kind === 'form' && phase.failure !== null && (
        <InView>
          <FailureNote failure={phase.failure} />
        </InView>
      )}
    </>
  );
}

/** Scrolls its content into view when it appears: in a low window the form fills the dialog. */
function InView(props: { children: React.ReactNode }): JSX.Element {
  const node = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    // a block: newer browsers return a promise, which React would take for a clean-up
    node.current?.scrollIntoView?.({ block: 'nearest' });
  }, []);
  return <div ref={node}>{props.children}</div>;
}

const EXPORT_BUTTON = 1;

/** The export dialog: it stays open until the result has been seen. */
export class ExportDialog extends Dialog<unknown> {
  constructor(job: ExportJob) {
    super({
      title: `Export ${job.path.split('/').pop()} to cluster job`,
      body: new ExportBody(job),
      buttons: [
        Dialog.cancelButton({ label: 'Close' }),
        Dialog.okButton({ label: 'Export', ariaLabel: 'Export to cluster job' })
      ],
      defaultButton: EXPORT_BUTTON,
      focusNodeSelector: '#clusterbridge-output'
    });
    this._job = job;
    this.addClass('jp-ClusterBridge-exportDialog');
    job.changed.connect(this._showPhase, this);
  }

  override dispose(): void {
    this._job.changed.disconnect(this._showPhase, this);
    super.dispose();
  }

  /** The Export button, or Enter in a field: export, and keep the dialog until there is a result. */
  override resolve(index?: number): void {
    if ((index ?? EXPORT_BUTTON) !== EXPORT_BUTTON || this._job.phase.kind === 'done') {
      super.resolve(index);
    } else {
      void this._job.run();
    }
  }

  private _showPhase(): void {
    const [close, accept] = this.node.querySelectorAll<HTMLButtonElement>('.jp-Dialog-footer button');
    const { kind } = this._job.phase;
    accept?.setAttribute('aria-disabled', String(kind === 'working'));
    if (accept && kind === 'done') {
      accept.hidden = true;
      close?.focus();
    }
  }

  private readonly _job: ExportJob;
}

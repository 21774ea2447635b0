import { createRoot } from 'react-dom/client';
import React, { act } from 'react';

import { exportAnswer, finding, StubClient } from '../../__tests__/samples';
import { RequestFailure } from '../../api/failure';
import { ExportJob } from '../../model/exportJob';
import { ExportBodyView, ExportDialog } from '../exportDialog';

function view(job: ExportJob) {
  const host = document.createElement('div');
  const root = createRoot(host);
  const render = () => act(() => root.render(<ExportBodyView job={job} />));
  render();
  return { host, render };
}

const newJob = (client: StubClient) => new ExportJob(client, 'work/train.ipynb', async () => undefined);

describe('ExportBodyView', () => {
  const environment = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean };
  beforeAll(() => {
    environment.IS_REACT_ACT_ENVIRONMENT = true;
  });
  // Lumino renders by itself, outside act
  afterAll(() => {
    environment.IS_REACT_ACT_ENVIRONMENT = false;
  });

  it('disables an unusable engine and says why', async () => {
    const job = newJob(new StubClient());
    await job.loadEngines();
    const { host } = view(job);
    const radio = (name: string) => host.querySelector<HTMLInputElement>(`input[value=${name}]`);
    expect([radio('docker')?.disabled, radio('local')?.disabled]).toEqual([true, false]);
    expect(radio('local')?.checked).toBe(true);
    expect(host.textContent).toContain('Not usable here: no engine answers');
  });

  it('labels every field', () => {
    const { host } = view(newJob(new StubClient()));
    const fields = [...host.querySelectorAll<HTMLInputElement>('input:not([type=radio]), textarea')];
    expect(fields).toHaveLength(3);
    for (const field of fields) {
      expect(host.querySelector(`label[for=${field.id}]`)).not.toBeNull();
      expect(host.querySelector(`#${field.getAttribute('aria-describedby')}`)).not.toBeNull();
    }
  });

  it('shows the reason and the hint of a failure under the form', async () => {
    const client = new StubClient();
    client.export.mockRejectedValue(new RequestFailure('no parameter LR', 'See the cell.'));
    const job = newJob(client);
    await job.run();
    const { host } = view(job);
    expect(host.querySelector('[role=alert]')?.textContent).toContain('no parameter LR');
    expect(host.querySelector('textarea')).not.toBeNull();
  });

  it('survives a browser whose scrolling returns a promise', async () => {
    Element.prototype.scrollIntoView = (() => Promise.resolve()) as () => void;
    const client = new StubClient();
    client.export.mockRejectedValueOnce(new RequestFailure('no parameter LR', ''));
    const job = newJob(client);
    await job.run();
    const { host, render } = view(job);
    await job.run();
    render();
    expect(host.textContent).toContain('Exported');
  });

  it('shows the folder, the warnings and how to run the bundle', async () => {
    const client = new StubClient();
    client.export.mockResolvedValue(
      exportAnswer({ folder_on_disk: '/srv/my work/b', warnings: ['floating'], findings: [finding({ severity: 'error' })] })
    );
    const job = newJob(client);
    await job.run();
    const { host } = view(job);
    expect(host.querySelector('.jp-ClusterBridge-folder')?.textContent).toBe('work/train-bundle');
    expect(host.textContent).toContain('floating');
    expect(host.textContent).toContain('1 finding of error level');
    expect(host.querySelector('pre')?.textContent).toBe("clusterbridge run '/srv/my work/b' --engine local");
  });
});

describe('ExportDialog', () => {
  it('stays open after Export and closes after the result was seen', async () => {
    const client = new StubClient();
    const job = newJob(client);
    const dialog = new ExportDialog(job);
    const closed = dialog.launch();
    await dialog.ready;
    dialog.resolve();
    await new Promise(resolve => setTimeout(resolve));
    expect(job.phase.kind).toBe('done');
    expect(dialog.isDisposed).toBe(false);
    expect(dialog.node.querySelector<HTMLButtonElement>('.jp-mod-accept')?.hidden).toBe(true);
    dialog.resolve(0);
    await closed;
    expect(dialog.isDisposed).toBe(true);
  });
});

import { createRoot } from 'react-dom/client';
import React, { act } from 'react';

import { check, finding, intervention } from '../../__tests__/samples';
import { RequestFailure } from '../../api/failure';
import type { IReadiness } from '../../model/readiness';
import { SidebarView } from '../sidebarView';

const notebook = { name: 'train.ipynb', path: 'work/train.ipynb', unsaved: false };
const full: IReadiness = {
  notebook,
  findings: { value: [finding()] },
  check: { value: check({ interventions: [intervention(), intervention({ cell_id: 'gone' })] }) }
};

function show(state: IReadiness) {
  const actions = { jump: jest.fn(), refresh: jest.fn(), export: jest.fn() };
  const host = document.createElement('div');
  act(() => createRoot(host).render(<SidebarView state={state} actions={actions} />));
  const buttons = () => [...host.querySelectorAll('button')];
  // jsdom knows no ariaLabel property
  const name = (button: HTMLButtonElement) => button.textContent || button.getAttribute('aria-label') || '';
  const press = (text: string) => {
    const button = buttons().find(item => name(item).includes(text));
    act(() => button?.click());
  };
  return { host, actions, press, buttons, name };
}

describe('SidebarView', () => {
  beforeAll(() => {
    (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  });

  it('says what to do without a notebook', () => {
    const { host } = show({ notebook: null, findings: null, check: null });
    expect(host.textContent).toContain('Open a notebook');
  });

  it('says that a notebook on another drive cannot be read', () => {
    const { host } = show({ notebook: { ...notebook, path: null }, findings: null, check: null });
    expect(host.textContent).toContain('not among this server’s files');
  });

  it('lists findings with severity, code, place and remedy as text', () => {
    const { host } = show(full);
    for (const text of ['Warning', 'CB101', 'cell 4, line 2', 'NumPy draws', 'Seed it.']) {
      expect(host.textContent).toContain(text);
    }
  });

  it('jumps to the line of a finding', () => {
    const { press, actions } = show(full);
    press('CB101');
    expect(actions.jump).toHaveBeenCalledWith('seed', 4, 2);
  });

  it('jumps to the cell of an intervention, and offers no jump where the cell is gone', () => {
    const { press, actions, buttons } = show(full);
    press('rerun');
    expect(actions.jump).toHaveBeenCalledWith('train', null, null);
    expect(buttons().filter(button => button.textContent?.includes('rerun'))).toHaveLength(1);
  });

  it('tells how to record a session that is not recorded', () => {
    const { host } = show({ ...full, check: { value: check({ recorded: false }) } });
    expect(host.textContent).toContain('%load_ext clusterbridge');
  });

  it('says in words that there is nothing to show', () => {
    const { host } = show({ notebook, findings: { value: [] }, check: { value: check() } });
    expect(host.textContent).toContain('No findings');
    expect(host.textContent).toContain('None: so far');
  });

  it('shows what went wrong as an alert and keeps the rest', () => {
    const failure = new RequestFailure('line 3 was not written by us', 'Move the file.');
    const { host } = show({ ...full, check: { failure } });
    const alert = host.querySelector('[role=alert]');
    expect(alert?.textContent).toContain('line 3 was not written by us');
    expect(alert?.textContent).toContain('Move the file.');
    expect(host.textContent).toContain('CB101');
  });

  it('shows text of a notebook as text', () => {
    const { host } = show({ ...full, findings: { value: [finding({ message: '<b>x</b>' })] } });
    expect(host.querySelector('b')).toBeNull();
    expect(host.textContent).toContain('<b>x</b>');
  });

  it('marks that unsaved changes are not looked at', () => {
    const { host } = show({ ...full, notebook: { ...notebook, unsaved: true } });
    expect(host.textContent).toContain('unsaved changes');
  });

  it('refreshes and exports from the keyboard: all are buttons with names', () => {
    const { press, actions, buttons, name } = show(full);
    press('Refresh');
    press('Export to cluster job');
    expect(actions.refresh).toHaveBeenCalled();
    expect(actions.export).toHaveBeenCalled();
    expect(buttons().map(name)).not.toContain('');
  });
});

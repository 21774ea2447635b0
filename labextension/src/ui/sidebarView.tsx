import { refreshIcon } from '@jupyterlab/ui-components';
import React from 'react';

import type { ICheckReport, IFinding } from '../api/types';
import type { IReadiness, Part } from '../model/readiness';
import { summary } from '../model/summary';
import { FailureNote } from './failureNote';
import { FindingList } from './findingList';
import { InterventionList } from './interventionList';

/** What a user can do in the sidebar. */
export interface ISidebarActions {
  /** Show a cell; by id where there is one, else by place. */
  jump(cellId: string | null, cellIndex: number | null, line: number | null): void;
  refresh(): void;
  export(): void;
}

/** The sidebar's content for one state of the model. */
export function SidebarView(props: { state: IReadiness; actions: ISidebarActions }): JSX.Element {
  const { state, actions } = props;
  const { notebook } = state;
  if (notebook === null) {
    return (
      <Empty>Open a notebook to see here what a cluster will not forgive in it.</Empty>
    );
  }
  if (notebook.path === null) {
    return (
      <Empty>
        {notebook.name} is not among this server’s files, so ClusterBridge cannot read it. Save a copy
        on the server.
      </Empty>
    );
  }
  const loading = state.findings === null || state.check === null;
  return (
    <>
      <header className="jp-ClusterBridge-header">
        <h2 title={notebook.path}>{notebook.name}</h2>
        <button
          className="jp-ClusterBridge-iconButton"
          aria-label="Refresh"
          title="Refresh"
          onClick={actions.refresh}
        >
          <refreshIcon.react tag="span" />
        </button>
      </header>
      <p className="jp-ClusterBridge-summary" role="status">
        {loading ? 'Reading the notebook…' : summary(state)}
      </p>
      {notebook.unsaved && (
        <p className="jp-ClusterBridge-note">
          There are unsaved changes; what stands here is about the saved file.
        </p>
      )}
      <button className="jp-mod-styled jp-mod-accept jp-ClusterBridge-export" onClick={actions.export}>
        Export to cluster job…
      </button>
      <Section title="Interventions" part={state.check}>
        {(report: ICheckReport) => (
          <InterventionList report={report} jump={id => actions.jump(id, null, null)} />
        )}
      </Section>
      <Section title="Findings" part={state.findings}>
        {(findings: IFinding[]) => <FindingList findings={findings} jump={actions.jump} />}
      </Section>
    </>
  );
}

function Empty(props: { children: React.ReactNode }): JSX.Element {
  return <p className="jp-ClusterBridge-empty">{props.children}</p>;
}

function Section<T>(props: {
  title: string;
  part: Part<T> | null;
  children: (value: T) => JSX.Element;
}): JSX.Element | null {
  const { title, part, children } = props;
  if (part === null) {
    return null;
  }
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {'failure' in part ? <FailureNote failure={part.failure} /> : children(part.value)}
    </section>
  );
}

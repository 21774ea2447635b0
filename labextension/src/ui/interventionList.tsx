import React from 'react';

import type { ICheckReport, IIntervention } from '../api/types';
import { place } from '../model/summary';
import { WithCode } from './withCode';

/** What a person did that a job will not do; a click shows the cell. */
export function InterventionList(props: {
  report: ICheckReport;
  jump: (cellId: string) => void;
}): JSX.Element {
  const { report, jump } = props;
  if (!report.recorded) {
    return (
      <p className="jp-ClusterBridge-empty">
        This session is not recorded. Run <code>%load_ext clusterbridge</code> in the first cell, then
        work as usual.
      </p>
    );
  }
  if (report.interventions.length === 0) {
    return (
      <p className="jp-ClusterBridge-empty">
        None: so far you did nothing that a job would not do by itself.
      </p>
    );
  }
  const indexOf = new Map(report.cells.map(cell => [cell.cell_id, cell.cell_index]));
  return (
    <ul className="jp-ClusterBridge-list">
      {report.interventions.map((intervention, index) => (
        <li key={index}>
          <InterventionItem
            intervention={intervention}
            cellIndex={indexOf.get(intervention.cell_id ?? '') ?? null}
            jump={jump}
          />
        </li>
      ))}
    </ul>
  );
}

function InterventionItem(props: {
  intervention: IIntervention;
  cellIndex: number | null;
  jump: (cellId: string) => void;
}): JSX.Element {
  const { intervention, cellIndex, jump } = props;
  const cell = cellIndex === null ? null : intervention.cell_id;
  const text = (
    <>
      <span className="jp-ClusterBridge-meta">
        <span className="jp-ClusterBridge-badge">{intervention.kind.replace(/_/g, ' ')}</span>
        <span className="jp-ClusterBridge-place">{place(cellIndex, null)}</span>
      </span>
      <span className="jp-ClusterBridge-message">
        <WithCode text={intervention.message} />
      </span>
      <span className="jp-ClusterBridge-remedy">
        <WithCode text={intervention.remedy} />
      </span>
    </>
  );
  if (cell === null) {
    // a deleted cell or the whole kernel: there is nothing to show
    return <div className="jp-ClusterBridge-item">{text}</div>;
  }
  return (
    <button
      className="jp-ClusterBridge-item"
      title={`Show ${place(cellIndex, null)}`}
      onClick={() => jump(cell)}
    >
      {text}
    </button>
  );
}

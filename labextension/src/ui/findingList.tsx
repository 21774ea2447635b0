import React from 'react';

import type { IFinding } from '../api/types';
import { bySeverity, place } from '../model/summary';
import type { ISidebarActions } from './sidebarView';
import { WithCode } from './withCode';

const WORDS: Record<IFinding['severity'], string> = { error: 'Error', warning: 'Warning', info: 'Note' };

/** Findings, the gravest first; a click shows the line. */
export function FindingList(props: {
  findings: readonly IFinding[];
  jump: ISidebarActions['jump'];
}): JSX.Element {
  if (props.findings.length === 0) {
    return <p className="jp-ClusterBridge-empty">No findings: nothing in the saved file stands out.</p>;
  }
  return (
    <ul className="jp-ClusterBridge-list">
      {bySeverity(props.findings).map((finding, index) => (
        <li key={index}>
          <FindingButton finding={finding} jump={props.jump} />
        </li>
      ))}
    </ul>
  );
}

function FindingButton(props: { finding: IFinding; jump: ISidebarActions['jump'] }): JSX.Element {
  const { finding, jump } = props;
  const where = place(finding.cell_index, finding.line);
  return (
    <button
      className="jp-ClusterBridge-item"
      data-severity={finding.severity}
      title={where === '' ? undefined : `Show ${where}`}
      onClick={() => jump(finding.cell_id, finding.cell_index, finding.line)}
    >
      <span className="jp-ClusterBridge-meta">
        <span className="jp-ClusterBridge-badge">{WORDS[finding.severity]}</span>
        <span>{finding.code}</span>
        {where !== '' && <span className="jp-ClusterBridge-place">{where}</span>}
      </span>
      <span className="jp-ClusterBridge-message">
        <WithCode text={finding.message} />
      </span>
      <span className="jp-ClusterBridge-remedy">
        <WithCode text={finding.remedy} />
      </span>
    </button>
  );
}

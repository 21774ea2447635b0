import React from 'react';

import type { IExportAnswer } from '../api/types';
import { count } from '../model/summary';
import { WithCode } from './withCode';

/** Where the bundle lies, what to know about it and how to run it. */
export function ExportResult(props: { answer: IExportAnswer }): JSX.Element {
  const { answer } = props;
  const errors = answer.findings.filter(finding => finding.severity === 'error').length;
  const engine = answer.engines[0];
  const run = `clusterbridge run ${quote(answer.folder_on_disk)}${engine ? ` --engine ${engine}` : ''}`;
  return (
    <div className="jp-ClusterBridge-result">
      <p role="status">
        <strong>Exported</strong> to <code className="jp-ClusterBridge-folder">{answer.folder}</code>
      </p>
      <p>
        Model identity <code>{answer.model_identity.split(':').pop()?.slice(0, 12)}</code>
      </p>
      {errors > 0 && (
        <p>
          {count(errors, 'finding')} of error level will matter in the job; the sidebar shows each with
          its remedy.
        </p>
      )}
      {answer.warnings.length > 0 && (
        <>
          <p>What to know about this bundle:</p>
          <ul>
            {answer.warnings.map((warning, index) => (
              <li key={index}>
                <WithCode text={warning} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p>Run it in a terminal:</p>
      <pre>{run}</pre>
    </div>
  );
}

/** A path for a POSIX shell. */
function quote(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replace(/'/g, "'\\''")}'`;
}

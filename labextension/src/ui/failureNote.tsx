import React from 'react';

import type { RequestFailure } from '../api/failure';

/** What went wrong and what to do next; screen readers hear it at once. */
export function FailureNote(props: { failure: RequestFailure }): JSX.Element {
  const { message, hint } = props.failure;
  return (
    <div className="jp-ClusterBridge-failure" role="alert">
      <p>
        <strong>Problem:</strong> {message}
      </p>
      {hint !== '' && <p>{hint}</p>}
    </div>
  );
}

import React from 'react';

import type { RequestFailure } from '../api/failure';
import { WithCode } from './withCode';

/** What went wrong and what to do next; screen readers hear it at once. */
export function FailureNote(props: { failure: RequestFailure }): JSX.Element {
  const { message, hint } = props.failure;
  return (
    <div className="jp-ClusterBridge-failure" role="alert">
      <p>
        <strong>Problem:</strong> <WithCode text={message} />
      </p>
      {hint !== '' && (
        <p>
          <WithCode text={hint} />
        </p>
      )}
    </div>
  );
}

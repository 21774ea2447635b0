import type { IFailure } from './types';

/** A failed request in words for a user: what happened, and what to do next. */
export class RequestFailure extends Error {
  constructor(message: string, hint: string) {
    super(message);
    this.name = 'RequestFailure';
    this.hint = hint;
  }

  /** The server's own words where the answer holds them. */
  static ofAnswer(status: number, body: unknown): RequestFailure {
    if (isFailure(body)) {
      return new RequestFailure(body.message, body.hint);
    }
    return new RequestFailure(
      `The ClusterBridge server extension does not answer (HTTP ${status}).`,
      "Run 'jupyter server extension list' where the server runs; if jupyter_clusterbridge is " +
        'missing there, install jupyter-clusterbridge in that environment and restart the server.'
    );
  }

  /** The server cannot be reached at all. */
  static ofNetwork(error: unknown): RequestFailure {
    const reason = error instanceof Error ? error.message : String(error);
    return new RequestFailure(
      `The Jupyter server cannot be reached (${reason}).`,
      'Check that it is still running, then refresh.'
    );
  }

  /** Any thrown value as a failure. */
  static of(error: unknown): RequestFailure {
    if (error instanceof RequestFailure) {
      return error;
    }
    return new RequestFailure(error instanceof Error ? error.message : String(error), '');
  }

  readonly hint: string;
}

function isFailure(body: unknown): body is IFailure {
  const value = body as IFailure | null;
  return typeof value?.message === 'string' && typeof value.hint === 'string';
}

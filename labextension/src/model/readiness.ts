import { Token } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';

import type { IClient } from '../api/client';
import { RequestFailure } from '../api/failure';
import type { ICheckReport, IFinding } from '../api/types';

/** The token of the model that follows the notebook in front. */
export const IReadinessModel = new Token<IReadinessModel>(
  'jupyter-clusterbridge:IReadinessModel',
  'Findings and interventions of the notebook in front.'
);

/** The notebook in front, as far as the model needs it. */
export interface INotebookInFront {
  /** File name, for people. */
  name: string;
  /** The server's API path; null when the notebook lies on another drive. */
  path: string | null;
  /** Whether there are changes that are not in the saved file. */
  unsaved: boolean;
}

/** One answer of the server, or why there is none. */
export type Part<T> = { value: T } | { failure: RequestFailure };

/** What is known of the notebook in front. */
export interface IReadiness {
  notebook: INotebookInFront | null;
  /** Null until the first answer for this notebook. */
  findings: Part<IFinding[]> | null;
  check: Part<ICheckReport> | null;
}

export interface IReadinessModel {
  readonly state: IReadiness;
  readonly changed: ISignal<IReadinessModel, void>;
  /** Follow another notebook, or the same under another name. */
  follow(notebook: INotebookInFront | null): Promise<void>;
  /** Ask the server again for the notebook in front. */
  refresh(): Promise<void>;
}

const NOTHING: IReadiness = { notebook: null, findings: null, check: null };

/** Follows one notebook; a late answer for another one is dropped. */
export class ReadinessModel implements IReadinessModel {
  constructor(client: IClient) {
    this._client = client;
  }

  get state(): IReadiness {
    return this._state;
  }

  get changed(): ISignal<IReadinessModel, void> {
    return this._changed;
  }

  async follow(notebook: INotebookInFront | null): Promise<void> {
    const samePath = notebook !== null && notebook.path === this._state.notebook?.path;
    this._set(samePath ? { ...this._state, notebook } : { ...NOTHING, notebook });
    if (!samePath) {
      await this.refresh();
    }
  }

  async refresh(): Promise<void> {
    const request = ++this._request;
    const path = this._state.notebook?.path ?? null;
    if (path === null) {
      return;
    }
    const check = await part(this._client.check(path));
    // a check holds the findings too; they are still there when, say, a journal cannot be read
    const findings =
      'value' in check
        ? { value: check.value.findings }
        : await part(this._client.findings(path).then(report => report.findings));
    if (request === this._request) {
      this._set({ ...this._state, findings, check });
    }
  }

  private _set(state: IReadiness): void {
    this._state = state;
    this._changed.emit();
  }

  private readonly _client: IClient;
  private readonly _changed = new Signal<IReadinessModel, void>(this);
  private _state: IReadiness = NOTHING;
  private _request = 0;
}

async function part<T>(answer: Promise<T>): Promise<Part<T>> {
  try {
    return { value: await answer };
  } catch (error) {
    return { failure: RequestFailure.of(error) };
  }
}

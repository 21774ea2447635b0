import { ISignal, Signal } from '@lumino/signaling';

import type { IClient } from '../api/client';
import { RequestFailure } from '../api/failure';
import type { IEngineInfo, IExportAnswer, IExportOrder } from '../api/types';
import { parseParameters } from './parameters';
import type { Part } from './readiness';

/** What a user fills in. */
export interface IExportValues {
  engine: string | null;
  output: string;
  parameters: string;
  baseImage: string;
}

/** Where an export stands. */
export type ExportPhase =
  | { kind: 'form'; failure: RequestFailure | null }
  | { kind: 'working' }
  | { kind: 'done'; answer: IExportAnswer };

/** The folder that an export writes unless the user names another; the server has the same rule. */
export function defaultOutput(path: string): string {
  return `${path.replace(/\.ipynb$/, '')}-bundle`;
}

/** One export of one notebook, from the form to the result. */
export class ExportJob {
  /**
   * @param client the server
   * @param path API path of the notebook
   * @param save writes the notebook's unsaved changes, since an export reads the saved file
   */
  constructor(client: IClient, path: string, save: () => Promise<void>) {
    this._client = client;
    this._save = save;
    this.path = path;
    this._values = { engine: null, output: defaultOutput(path), parameters: '', baseImage: '' };
  }

  get changed(): ISignal<ExportJob, void> {
    return this._changed;
  }

  get values(): IExportValues {
    return this._values;
  }

  /** Null until the server has said which engines there are. */
  get engines(): Part<IEngineInfo[]> | null {
    return this._engines;
  }

  get phase(): ExportPhase {
    return this._phase;
  }

  set(values: Partial<IExportValues>): void {
    this._values = { ...this._values, ...values };
    this._changed.emit();
  }

  /** Ask for the engines and choose the first usable one. */
  async loadEngines(): Promise<void> {
    try {
      const { engines } = await this._client.engines();
      this._engines = { value: engines };
      const usable = engines.find(engine => engine.usable);
      this._values = { ...this._values, engine: this._values.engine ?? usable?.name ?? null };
    } catch (error) {
      this._engines = { failure: RequestFailure.of(error) };
    }
    this._changed.emit();
  }

  /** Save the notebook and export it; a failure brings the form back with its reason. */
  async run(): Promise<void> {
    if (this._phase.kind === 'working') {
      return;
    }
    const { values, mistakes } = parseParameters(this._values.parameters);
    if (mistakes.length > 0) {
      const hint = 'Write each parameter on a line of its own, for example EPOCHS=10.';
      this._enter({ kind: 'form', failure: new RequestFailure(mistakes.join(' '), hint) });
      return;
    }
    this._enter({ kind: 'working' });
    try {
      await this._save();
      this._enter({ kind: 'done', answer: await this._client.export(this._order(values)) });
    } catch (error) {
      this._enter({ kind: 'form', failure: RequestFailure.of(error) });
    }
  }

  readonly path: string;

  private _order(parameters: { [name: string]: string }): IExportOrder {
    const { engine, output, baseImage } = this._values;
    return {
      path: this.path,
      output: output.trim() === '' ? null : output.trim(),
      engines: engine === null ? [] : [engine],
      base_image: baseImage.trim() === '' ? null : baseImage.trim(),
      scope: 'used',
      platform: 'linux/amd64',
      parameters
    };
  }

  private _enter(phase: ExportPhase): void {
    this._phase = phase;
    this._changed.emit();
  }

  private readonly _client: IClient;
  private readonly _save: () => Promise<void>;
  private readonly _changed = new Signal<ExportJob, void>(this);
  private _values: IExportValues;
  private _engines: Part<IEngineInfo[]> | null = null;
  private _phase: ExportPhase = { kind: 'form', failure: null };
}

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { RequestFailure } from './failure';
import type {
  ICheckReport,
  IEngineReport,
  IExportAnswer,
  IExportOrder,
  ILintReport
} from './types';

/** What the extension asks of the server; tests put their own in its place. */
export interface IClient {
  /** What lint says of the saved notebook at an API path. */
  findings(path: string): Promise<ILintReport>;
  /** The journals of a notebook against its saved file. */
  check(path: string): Promise<ICheckReport>;
  /** Which engines are usable on the server's machine. */
  engines(): Promise<IEngineReport>;
  /** Write a bundle. */
  export(order: IExportOrder): Promise<IExportAnswer>;
}

/** The server extension over HTTP. Every failure is thrown as a RequestFailure. */
export class Client implements IClient {
  constructor(settings: ServerConnection.ISettings) {
    this._settings = settings;
  }

  findings(path: string): Promise<ILintReport> {
    return this._request(`findings?path=${encodeURIComponent(path)}`);
  }

  check(path: string): Promise<ICheckReport> {
    return this._request(`check?path=${encodeURIComponent(path)}`);
  }

  engines(): Promise<IEngineReport> {
    return this._request('engines');
  }

  export(order: IExportOrder): Promise<IExportAnswer> {
    return this._request('export', { method: 'POST', body: JSON.stringify(order) });
  }

  private async _request<T>(name: string, init: RequestInit = {}): Promise<T> {
    const url = URLExt.join(this._settings.baseUrl, 'clusterbridge') + '/' + name;
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(url, init, this._settings);
    } catch (error) {
      throw RequestFailure.ofNetwork(error);
    }
    const body = await readJson(response);
    if (!response.ok || body === null) {
      throw RequestFailure.ofAnswer(response.status, body);
    }
    return body as T;
  }

  private readonly _settings: ServerConnection.ISettings;
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    // a page of a proxy or of another server; the caller says so in words
    return null;
  }
}

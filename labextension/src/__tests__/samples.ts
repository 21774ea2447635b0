import type { IClient } from '../api/client';
import type {
  ICheckReport,
  IEngineReport,
  IExportAnswer,
  IExportOrder,
  IFinding,
  IIntervention,
  ILintReport
} from '../api/types';

export function finding(change: Partial<IFinding> = {}): IFinding {
  return {
    path: 'x.ipynb',
    code: 'CB101',
    name: 'unseeded-rng',
    cell_id: 'seed',
    cell_index: 4,
    line: 2,
    severity: 'warning',
    confidence: 'high',
    message: 'NumPy draws without a seed',
    remedy: 'Seed it.',
    ...change
  };
}

export function intervention(change: Partial<IIntervention> = {}): IIntervention {
  return {
    kind: 'rerun',
    cell_id: 'train',
    message: 'The cell ran twice.',
    remedy: 'Run it once.',
    at: null,
    ...change
  };
}

export function check(change: Partial<ICheckReport> = {}): ICheckReport {
  return {
    schema: 'clusterbridge/check/1',
    cells: [{ cell_id: 'train', cell_index: 7, state: 'current', unsafe_to_rerun: false, reasons: [], untracked: [] }],
    interventions: [],
    findings: [],
    recorded: true,
    ...change
  };
}

export function engineReport(): IEngineReport {
  return {
    schema: 'clusterbridge/engines/1',
    engines: [
      { name: 'docker', usable: false, reason: 'no engine answers' },
      { name: 'local', usable: true, reason: 'Python 3.11' }
    ]
  };
}

export function exportAnswer(change: Partial<IExportAnswer> = {}): IExportAnswer {
  return {
    schema: 'clusterbridge/export-answer/1',
    folder: 'work/train-bundle',
    folder_on_disk: '/srv/work/train-bundle',
    model_identity: 'sha256:0123456789abcdef',
    engines: ['local'],
    findings: [],
    warnings: [],
    ...change
  };
}

/** Stands in for the server: what each request answers is set by the test. */
export class StubClient implements IClient {
  readonly findings = jest.fn<Promise<ILintReport>, [string]>();
  readonly check = jest.fn<Promise<ICheckReport>, [string]>().mockResolvedValue(check());
  readonly engines = jest.fn<Promise<IEngineReport>, []>().mockResolvedValue(engineReport());
  readonly export = jest.fn<Promise<IExportAnswer>, [IExportOrder]>().mockResolvedValue(exportAnswer());
}

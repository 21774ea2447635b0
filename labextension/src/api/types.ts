// Made by dev/gen_ts_types from the Python dataclasses. Change those and run it again.

/** State of one code cell. */
export interface ICellReport {
  cell_id: string;
  cell_index: number;
  state: 'current' | 'diverged' | 'edited' | 'not_tracked' | 'never_run';
  unsafe_to_rerun: boolean;
  reasons: IReason[];
  untracked: string[];
}

/** The journal against the saved file. */
export interface ICheckReport {
  schema: 'clusterbridge/check/1';
  cells: ICellReport[];
  interventions: IIntervention[];
  findings: IFinding[];
  recorded: boolean;
}

/** Text that takes the place of a part of one cell's source. */
export interface IEdit {
  start_line: number;
  start_column: number;
  end_line: number;
  end_column: number;
  text: string;
}

/** One engine and whether it can be used here. */
export interface IEngineInfo {
  name: string;
  usable: boolean;
  reason: string;
}

/** All engines. */
export interface IEngineReport {
  schema: 'clusterbridge/engines/1';
  engines: IEngineInfo[];
}

/** Answer of ``POST export``. */
export interface IExportAnswer {
  schema: 'clusterbridge/export-answer/1';
  folder: string;
  folder_on_disk: string;
  model_identity: string;
  engines: string[];
  findings: IFinding[];
  warnings: string[];
}

/** Body of ``POST export``; paths are the server's API paths, relative to its root folder. */
export interface IExportOrder {
  path: string;
  output: string | null;
  engines: string[];
  base_image: string | null;
  scope: string;
  platform: string;
  parameters: { [name: string]: string };
}

/** Body of every answer that is not a success. */
export interface IFailure {
  message: string;
  hint: string;
  exit_code: number | null;
}

/** One place in one notebook that a cluster will not forgive. */
export interface IFinding {
  path: string;
  code: string;
  name: string;
  cell_id: string | null;
  cell_index: number | null;
  line: number | null;
  severity: 'error' | 'warning' | 'info';
  confidence: 'high' | 'medium' | 'low';
  message: string;
  remedy: string;
  fix?: IFix | null;
  file_line?: number | null;
}

/** A change of one cell that removes a finding and is safe to make unseen. */
export interface IFix {
  message: string;
  edits: IEdit[];
}

/** One thing that a person did, with the remedy in words. */
export interface IIntervention {
  kind: 'out_of_order' | 'rerun' | 'edited_rerun' | 'deleted_cell_state' | 'kernel_restart' | 'interrupt' | 'failed_run' | 'typed_input' | 'widget_change' | 'install' | 'env_change' | 'cwd_change' | 'module_changed' | 'file_changed';
  cell_id: string | null;
  message: string;
  remedy: string;
  at: string | null;
}

/** All findings of one lint run. */
export interface ILintReport {
  schema: 'clusterbridge/lint/1';
  findings: IFinding[];
  files?: number | null;
  fixed?: number | null;
}

/** Why a cell is not current or not safe to rerun. */
export interface IReason {
  kind: string;
  name: string;
  cell_id: string | null;
  message: string;
  remedy: string;
}

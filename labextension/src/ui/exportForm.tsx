import React from 'react';

import type { IEngineInfo } from '../api/types';
import type { ExportJob, IExportValues } from '../model/exportJob';
import type { Part } from '../model/readiness';
import { FailureNote } from './failureNote';

/** The fields of an export. */
export function ExportForm(props: { job: ExportJob; disabled: boolean }): JSX.Element {
  const { job, disabled } = props;
  const { values } = job;
  const set = (change: Partial<IExportValues>) => job.set(change);
  return (
    <>
      <EngineChoice
        engines={job.engines}
        chosen={values.engine}
        disabled={disabled}
        choose={engine => set({ engine })}
      />
      <Field id="output" label="Output folder" help="Relative to the server’s root folder.">
        <input
          id="clusterbridge-output"
          className="jp-mod-styled"
          aria-describedby="clusterbridge-output-help"
          disabled={disabled}
          value={values.output}
          onChange={event => set({ output: event.target.value })}
        />
      </Field>
      <Field
        id="parameters"
        label="Parameters"
        help="One NAME=VALUE a line, for names of the cell tagged “parameters”. Empty keeps the notebook’s values."
      >
        <textarea
          id="clusterbridge-parameters"
          className="jp-mod-styled"
          aria-describedby="clusterbridge-parameters-help"
          rows={3}
          placeholder="EPOCHS=10"
          disabled={disabled}
          value={values.parameters}
          onChange={event => set({ parameters: event.target.value })}
        />
      </Field>
      <Field
        id="base-image"
        label="Base image"
        help="For engines that use containers. Empty takes the Python image of the notebook’s version."
      >
        <input
          id="clusterbridge-base-image"
          className="jp-mod-styled"
          aria-describedby="clusterbridge-base-image-help"
          disabled={disabled}
          value={values.baseImage}
          onChange={event => set({ baseImage: event.target.value })}
        />
      </Field>
    </>
  );
}

function Field(props: {
  id: string;
  label: string;
  help: string;
  children: React.ReactNode;
}): JSX.Element {
  const id = `clusterbridge-${props.id}`;
  return (
    <div className="jp-ClusterBridge-field">
      <label htmlFor={id}>{props.label}</label>
      {props.children}
      <small id={`${id}-help`}>{props.help}</small>
    </div>
  );
}

function EngineChoice(props: {
  engines: Part<IEngineInfo[]> | null;
  chosen: string | null;
  disabled: boolean;
  choose: (engine: string) => void;
}): JSX.Element {
  const { engines } = props;
  return (
    <fieldset className="jp-ClusterBridge-engines">
      <legend>Engine</legend>
      {engines === null && <p role="status">Looking for engines…</p>}
      {engines !== null && 'failure' in engines && <FailureNote failure={engines.failure} />}
      {engines !== null &&
        'value' in engines &&
        engines.value.map(engine => (
          <label key={engine.name} className="jp-ClusterBridge-engine">
            <input
              type="radio"
              name="clusterbridge-engine"
              value={engine.name}
              checked={engine.name === props.chosen}
              disabled={props.disabled || !engine.usable}
              onChange={() => props.choose(engine.name)}
            />
            <span className="jp-ClusterBridge-engineName">{engine.name}</span>
            <small>{engine.usable ? engine.reason : `Not usable here: ${engine.reason}`}</small>
          </label>
        ))}
    </fieldset>
  );
}

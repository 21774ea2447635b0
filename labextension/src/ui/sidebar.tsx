import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import type { IReadinessModel } from '../model/readiness';
import { bridgeIcon } from './icon';
import { ISidebarActions, SidebarView } from './sidebarView';

/** The sidebar: what a cluster will not forgive in the notebook in front. */
export class Sidebar extends ReactWidget {
  constructor(model: IReadinessModel, actions: ISidebarActions) {
    super();
    this._model = model;
    this._actions = actions;
    this.id = 'jupyter-clusterbridge-sidebar';
    this.addClass('jp-ClusterBridge-sidebar');
    this.title.icon = bridgeIcon;
    this.title.caption = 'ClusterBridge';
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'ClusterBridge');
  }

  protected render(): JSX.Element {
    return (
      <UseSignal signal={this._model.changed}>
        {() => <SidebarView state={this._model.state} actions={this._actions} />}
      </UseSignal>
    );
  }

  private readonly _model: IReadinessModel;
  private readonly _actions: ISidebarActions;
}

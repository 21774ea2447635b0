"""The browser test's server: loopback, no login, scratch folders. Never use it for anything else."""

import os
from pathlib import Path

c = get_config()  # noqa: F821

scratch = Path(os.environ["CLUSTERBRIDGE_UI_SCRATCH"])
for name in ("root", "workspaces", "settings", "data/labextensions"):
    (scratch / name).mkdir(parents=True, exist_ok=True)
build = Path(__file__).resolve().parents[2] / "jupyter_clusterbridge" / "_lab"
if not (build / "package.json").is_file():
    raise SystemExit("The Lab part is not built: run 'jlpm build' first.")
(scratch / "data" / "labextensions" / "jupyter-clusterbridge").symlink_to(build)

# no question about news in front of what is tested
notification = scratch / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
notification.parent.mkdir(parents=True, exist_ok=True)
notification.write_text('{"fetchNews": "false", "checkForUpdates": false}')

c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = int(os.environ["CLUSTERBRIDGE_UI_PORT"])
c.ServerApp.port_retries = 0
c.ServerApp.open_browser = False
c.ServerApp.allow_root = True
c.ServerApp.root_dir = str(scratch / "root")
c.ServerApp.disable_check_xsrf = True
c.ServerApp.jpserver_extensions = {"jupyterlab": True, "jupyter_clusterbridge": True}
c.IdentityProvider.token = ""
c.LabApp.workspaces_dir = str(scratch / "workspaces")
c.LabApp.user_settings_dir = str(scratch / "settings")
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"
c.LabApp.expose_app_in_browser = True
c.FileContentsManager.delete_to_trash = False

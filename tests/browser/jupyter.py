"""JupyterLab for the tests: a server that leaves no trace on the machine, and one page of it.

Waits are promises of the application or conditions on the page. Waiting for a kernel's answer, too: ipywidgets
sends a first change and holds later ones until the kernel has answered, so one read at once may be old.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import nbformat

from tests.browser.watched import Watched

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "for-the-tests"
START_S = 60

FOLDERS = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
}

SETTINGS = {
    # Otherwise a toast asks whether to fetch Jupyter's news.
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
    "@jupyter-widgets/jupyterlab-manager/plugin": {"saveState": False},  # the default, said
}

OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port=0",
    "--ServerApp.terminals_enabled=False",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.news_url=",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabServerApp.extension_manager=readonly",
)

#: Errors that JupyterLab tells of by itself, with any notebook.
OF_JUPYTERLAB = (
    "/lsp/status",  # jupyter-lsp, which is not installed whole
    "Could not restore the debugger state",  # of a kernel that was restarted
    "extensions/@jupyter-widgets/jupyterlab-manager/static",  # a TypeError of its own where there is no kernel
)


class Server:
    """``python -m jupyterlab`` on a free port; ``folder`` holds its notebooks."""

    def __init__(self, tmp: Path) -> None:
        self.folder = tmp / "work"
        self.folder.mkdir()
        env = dict(os.environ, JUPYTER_NO_CONFIG="1", JUPYTER_PREFER_ENV_PATH="1", PYTHONPATH=str(ROOT))
        env["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
        for name, folder in FOLDERS.items():
            (tmp / folder).mkdir()
            env[name] = str(tmp / folder)
        for plugin, settings in SETTINGS.items():
            path = tmp / "settings" / f"{plugin}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(settings), encoding="utf-8")
        command = [sys.executable, "-m", "jupyterlab", *OPTIONS]
        command += [f"--ServerApp.root_dir={self.folder}", f"--IdentityProvider.token={TOKEN}"]
        self.log = tmp / "server.log"
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                command, env=env, stdout=log, stderr=subprocess.STDOUT, cwd=self.folder
            )
        try:
            self.url = self._bound(tmp / "runtime" / f"jpserver-{self.process.pid}.json")
        except BaseException:
            self.stop()
            raise

    def _bound(self, info: Path) -> str:
        """Its address: the file is written once the port is bound."""
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended: {self.log.read_text(encoding='utf-8')[-2000:]}")
            try:
                url = str(json.loads(info.read_text(encoding="utf-8"))["url"])
                urllib.request.urlopen(f"{url}api/status?token={TOKEN}", timeout=5).close()
                return url
            except (OSError, ValueError, urllib.error.URLError):
                self._pause()
        raise RuntimeError(f"the server did not answer within {START_S} s")

    def _pause(self) -> None:
        """Until the process ends, or for a moment: there is no event to wait for."""
        try:
            self.process.wait(0.05)
        except subprocess.TimeoutExpired:
            pass

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def notebook(self, name: str, *cells: str) -> Path:
        """A notebook of these code cells."""
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        book = nbformat.v4.new_notebook(metadata={"kernelspec": kernel, "language_info": {"name": "python"}})
        book.cells = [nbformat.v4.new_code_cell(cell, id=f"cell-{i}") for i, cell in enumerate(cells)]
        path = self.folder / name
        nbformat.write(book, path)
        return path


class Lab(Watched):
    """One page of JupyterLab with a notebook in it."""

    def __init__(self, context: Any, server: Server) -> None:
        super().__init__(context, server.url)
        self.server = server
        self.ignored += OF_JUPYTERLAB
        self.workspace = f"test-{id(self)}"

    def ask(self, body: str, arg: Any = None) -> Any:
        """Run the body of an async function of ``app``, ``panel`` (the notebook's) and ``arg``."""
        head = "const app = window.jupyterapp; const panel = app.shell.currentWidget;"
        return self.page.evaluate(f"async (arg) => {{ {head} {body} }}", arg)

    def open(self, name: str) -> None:
        """Open a notebook, with its kernel."""
        self.page.goto(f"{self.server.url}lab/workspaces/{self.workspace}/tree/{name}?reset&token={TOKEN}")
        self.ready()

    def open_without_kernel(self, name: str) -> None:
        """Open a notebook as one that nobody has run since the server began."""
        self.page.goto(f"{self.server.url}lab/workspaces/{self.workspace}?reset&token={TOKEN}")
        self._restored()
        self.ask(
            """await app.commands.execute("docmanager:open", { path: arg, factory: "Notebook",
                 kernelPreference: { shouldStart: false, canStart: false, autoStartDefault: false } });""",
            name,
        )
        self._shown()

    def ready(self) -> None:
        self._restored()
        self._shown()
        self.ask("await panel.sessionContext.ready;")
        self.idle()

    def _restored(self) -> None:
        self.page.wait_for_function("() => window.jupyterapp")
        self.page.evaluate("async () => { await window.jupyterapp.restored; }")

    def _shown(self) -> None:
        self.page.wait_for_function("() => window.jupyterapp.shell.currentWidget?.content?.widgets?.length")
        self.ask("await panel.context.ready; await panel.revealed;")
        self.page.wait_for_function('() => !document.querySelector("#jupyterlab-splash")')

    def idle(self) -> None:
        self.page.wait_for_function(
            '() => jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === "idle"'
        )

    def command(self, name: str, **args: Any) -> None:
        self.page.evaluate(
            "async ([name, args]) => { await window.jupyterapp.commands.execute(name, args); }", [name, args]
        )

    def run_all(self) -> None:
        self.command("notebook:run-all-cells")

    def run_cell(self, index: int) -> list[dict[str, Any]]:
        """Run one cell; its outputs."""
        outputs: list[dict[str, Any]] = self.ask(
            """panel.content.activeCellIndex = arg;
               await app.commands.execute("notebook:run-cell");
               return panel.content.widgets[arg].model.outputs.toJSON();""",
            index,
        )
        return outputs

    def py(self, expression: str) -> Any:
        """The value of an expression in the kernel, without a cell; it has to be one that JSON can write."""
        text = self.ask(
            """const answer = await panel.sessionContext.session.kernel.requestExecute(
                 { code: "", user_expressions: { value: arg }, store_history: false }).done;
               const { value } = answer.content.user_expressions;
               if (value.status !== "ok") throw new Error(value.evalue);
               return value.data["text/plain"];""",
            f"__import__('json').dumps({expression})",
        )
        return json.loads(ast.literal_eval(text))

    def py_is(self, expression: str, value: Any) -> None:
        """Wait until an expression in the kernel has this value."""
        end = time.monotonic() + 15
        while (found := self.py(expression)) != value:  # each round waits for the kernel's answer
            assert time.monotonic() < end, f"{expression} is {found}, not {value}"

    def cells(self) -> list[str]:
        """The sources of the notebook's cells."""
        sources: list[str] = self.ask(
            "return panel.content.widgets.map((cell) => cell.model.sharedModel.source);"
        )
        return sources

    def restart(self) -> None:
        """Restart the kernel, as the menu does after its question."""
        self.ask("await panel.sessionContext.session.kernel.restart(); await panel.sessionContext.ready;")
        self.idle()

    def theme(self, name: str) -> None:
        self.command("apputils:change-theme", theme=f"JupyterLab {name}")

    def save(self) -> None:
        self.command("docmanager:save")

    def shut_down(self) -> None:
        """End every kernel that is left; one that a failing test has ended already is no failure of its own."""
        self.page.evaluate(
            "async () => { await window.jupyterapp?.serviceManager.sessions.shutdownAll().catch(() => {}); }"
        )

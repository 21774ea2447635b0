"""CB403: downloads whose content may be another tomorrow."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.calls import argument, constant, has_star, is_constant
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.magics import shell_lines
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence
from jupyter_clusterbridge.runtime.source import Magic

_HUB = {
    "huggingface_hub.hf_hub_download", "huggingface_hub.snapshot_download", "datasets.load_dataset",
    "transformers.pipeline", "sentence_transformers.SentenceTransformer",
}  # fmt: skip
_FETCH = {
    "urllib.request.urlopen", "urllib.request.urlretrieve", "wget.download", "gdown.download",
    "kagglehub.dataset_download", "kagglehub.model_download",
}  # fmt: skip
_GET = {"requests.get", "httpx.get"}
_BUILDERS = {"csv", "json", "parquet", "text", "imagefolder", "audiofolder", "arrow", "pandas", "webdataset"}
_SHELL = re.compile(r"(?:^|[;&|]\s*)(?:wget|curl|gdown|aria2c|git\s+clone|kaggle\s+\w+\s+download)\b")
_LOCAL = re.compile(r"\.{0,2}/|~|[A-Za-z]:\\")
_URL = re.compile(r"(?:https?|ftp|s3|gs|hf)://")


class UnpinnedDownload(Rule):
    """A model or data is downloaded while the notebook runs, without a revision or a digest.

    ## What it does

    Reports `from_pretrained`, `load_dataset`, `hf_hub_download` and the like without `revision`,
    `torch.hub.load` without a tag or commit, `fetch_openml` without a version, and plain downloads by
    `urllib`, `requests`, pandas, `wget` and `curl`; each repository once. A cell that computes a digest with
    `hashlib` counts as checking what it downloads.

    ## Why it matters on a cluster

    What a name points to changes without notice, so that the job starts from other weights or other data
    than the notebook. The cluster's nodes often have no way out at all, and a hundred jobs that download at
    once are throttled.

    ## Bad example

    ```python
    from transformers import AutoModel

    MODEL = "bert-base-uncased"
    model = AutoModel.from_pretrained(MODEL)  # <-- here
    # %%
    !wget -q https://example.org/train.csv  # <-- here
    ```

    ## Good example

    ```python
    from transformers import AutoModel

    model = AutoModel.from_pretrained("bert-base-uncased", revision="86b5e0934494bd15c9632b12f734a8a67f723594")
    local = AutoModel.from_pretrained("./checkpoints/best")
    ```

    ## Remedy

    Name a commit (`revision="<commit>"`), or download once, keep the file beside the notebook and read it
    from there; the export then records its digest.
    """

    code = "CB403"
    name = "unpinned-download"
    calls = frozenset(
        {*_HUB, *_FETCH, *_GET, "pandas.*", "polars.*", "torch.hub.*", "sklearn.datasets.fetch_openml"}
    )
    methods = frozenset({"from_pretrained"})

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        self._checked = False
        self._named: set[str] = set()

    def begin_cell(self, cell: CellContext) -> None:
        """Note whether the cell checks what it downloads."""
        source = cell.cell.source
        self._checked = "hashlib" in source or "sha256sum" in source or "md5sum" in source

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at shell commands."""
        if self._checked:
            return
        for line, command in shell_lines(magic, cell):
            if _SHELL.search(command):
                self.report(cell, line, f"`{command.split('#')[0].strip()[:60]}` downloads without a digest")

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at downloading functions."""
        if self._checked or has_star(node):
            return
        called = cell.callee
        target = node.func
        if isinstance(target, ast.Attribute) and target.attr == "from_pretrained":
            self._hub(node, "from_pretrained", cell)
        elif called is None:
            return
        elif called in _HUB:
            self._hub(node, called.rpartition(".")[2], cell)
        elif called in _FETCH:
            self._report(node, f"`{called}` downloads without a digest", cell)
        elif called in _GET:
            self._report(node, f"`{called}` fetches what may be another tomorrow", cell, Confidence.LOW)
        elif called.startswith(("pandas.read_", "polars.read_")):
            self._table(node, called, cell)
        elif called.startswith("torch.hub."):
            self._torch_hub(node, called, cell)
        elif called == "sklearn.datasets.fetch_openml" and argument(node, "version", 1) is None:
            self._report(node, "`fetch_openml` without `version` takes the newest", cell)

    def _hub(self, node: ast.Call, shown: str, cell: CellContext) -> None:
        if argument(node, "revision") is not None or argument(node, "local_files_only") is not None:
            return
        if is_constant(argument(node, "trust_remote_code"), True, cell):
            return  # CB418 says the same of the code as well
        first = (
            node.args[0]
            if node.args
            else next((keyword.value for keyword in node.keywords if keyword.arg in _REPOSITORY_ARGUMENTS), None)
        )
        if shown == "pipeline":
            first = argument(node, "model", 1)
        name = constant(first, cell)
        if not isinstance(name, str) or _LOCAL.match(name) or name in _BUILDERS:
            return
        # model, tokenizer and configuration of one repository are one cause
        if name not in self._named and self._report(node, f"`{shown}` of `{name[:40]}` names no revision", cell):
            self._named.add(name)

    def _table(self, node: ast.Call, called: str, cell: CellContext) -> None:
        source = constant(node.args[0] if node.args else None, cell)
        if isinstance(source, str) and _URL.match(source):
            self._report(node, f"`{called}` reads from the network without a digest", cell)

    def _torch_hub(self, node: ast.Call, called: str, cell: CellContext) -> None:
        if called == "torch.hub.load":
            repository = constant(argument(node, "repo_or_dir", 0), cell)
            if constant(argument(node, "source"), cell) == "local" or not isinstance(repository, str):
                return
            if ":" not in repository:
                self._report(node, f"`torch.hub.load` of `{repository[:40]}` names no tag or commit", cell)
        elif called == "torch.hub.download_url_to_file" and argument(node, "hash_prefix", 2) is None:
            self._report(node, "`torch.hub.download_url_to_file` downloads without a digest", cell)
        elif called == "torch.hub.load_state_dict_from_url" and argument(node, "check_hash") is None:
            self._report(node, "`torch.hub.load_state_dict_from_url` does not check a digest", cell)

    def _report(
        self, node: ast.AST, message: str, cell: CellContext, confidence: Confidence = Confidence.HIGH
    ) -> bool:
        return self.report(cell, node, message, confidence=confidence)


_REPOSITORY_ARGUMENTS = ("repo_id", "path", "pretrained_model_name_or_path", "model_name_or_path", "model")

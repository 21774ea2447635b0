"""CB415: corpora and language models downloaded while the notebook runs."""

from __future__ import annotations

import ast
import re

from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.magics import shell_lines
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.runtime.source import Magic

_CALLS = frozenset(
    {"nltk.download", "nltk.downloader.download", "spacy.cli.download", "stanza.download",
     "gensim.downloader.load", "benepar.download", "argostranslate.package.update_package_index",
     "fasttext.util.download_model",
     "polyglot.downloader.downloader.download", "textblob.download_corpora.main", "stanfordnlp.download"}
)  # fmt: skip
_SHELL = re.compile(r"\b(?:-m\s+)?(?:spacy\s+download|nltk\.downloader|textblob\.download_corpora)\b")


class LanguageData(Rule):
    """A corpus or a language model is downloaded at run time.

    ## What it does

    Reports `nltk.download`, `spacy download`, `stanza.download`, `gensim.downloader.load` and the like, in
    Python and in shell commands; once for each cell.

    ## Why it matters on a cluster

    These take what the server has on that day, into the home folder. A node without a way out fails, often
    only at the first use of the data, and a hundred jobs download it a hundred times.

    ## Bad example

    ```python
    import nltk

    nltk.download("punkt")  # <-- here
    # %%
    !python -m spacy download en_core_web_sm  # <-- here
    ```

    ## Good example

    ```python
    import nltk

    nltk.data.path.append("nltk_data")
    tokens = nltk.word_tokenize("a b")
    ```

    ## Remedy

    Install the model as a package with a version, or keep the data in a folder beside the notebook and point
    the library there.
    """

    code = "CB415"
    name = "language-data"
    words = frozenset(
        {"nltk", "spacy", "stanza", "gensim", "benepar", "fasttext", "polyglot", "textblob", "argos"}
    )
    calls = _CALLS

    def begin_cell(self, cell: CellContext) -> None:
        """Each cell is reported once."""
        self._reported = False

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at downloads."""
        self._say(node, cell.callee or "", cell)

    def visit_magic(self, magic: Magic, cell: CellContext) -> None:
        """Look at shell commands."""
        for line, command in shell_lines(magic, cell):
            if _SHELL.search(command) and not command.startswith(("echo ", "#")):
                self._say(line, command.split("#")[0].strip()[:60], cell)

    def _say(self, where: ast.AST | int, shown: str, cell: CellContext) -> None:
        if not self._reported:
            message = f"`{shown}` downloads what the server has on that day"
            self._reported = self.report(cell, where, message)

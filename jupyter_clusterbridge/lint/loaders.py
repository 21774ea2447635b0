"""What data sets and loaders of torch look like in a source."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, has_star
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.trees import descend

DATA_LOADER = "torch.utils.data.DataLoader"


def has_workers(node: ast.Call, cell: CellContext) -> bool:
    """Whether a ``DataLoader`` has worker processes, as far as the source tells."""
    workers = argument(node, "num_workers", 5)
    if workers is None or has_star(node):
        return False
    number = constant(workers, cell)
    return number not in (0, None)


def is_dataset(node: ast.ClassDef, cell: CellContext, *, iterable: bool = False) -> bool:
    """Whether a class is a data set of torch, by its bases."""
    wanted = ("IterableDataset",) if iterable else ("Dataset", "VisionDataset", "TensorDataset", "ImageFolder")
    for base in node.bases:
        name = cell.resolve(base) or ""
        known = name.startswith(("torch.utils.data.", "torchvision.datasets."))
        if known and name.rpartition(".")[2] in wanted:
            return True
    return False


def method_of(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """A method by its name."""
    return next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == name), None)


def reads_of_self(node: ast.AST) -> set[str]:
    """Names of attributes that a method reads from ``self``."""
    return {
        inner.attr
        for inner in descend(node)
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self"
    }


def own_attribute(target: ast.AST) -> str | None:
    """The attribute when an assignment's target is ``self.attribute``."""
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        return target.attr
    return None

"""CB120: augmentation libraries with generators of their own."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant, has_star
from jupyter_clusterbridge.lint.context import CellContext, NotebookContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Confidence

_COMPOSE = frozenset({"albumentations.Compose", "albumentations.core.composition.Compose"})

_DRAW = ("OneOf", "Rotate", "ColorJitter", "ShiftScaleRotate", "Affine")


class OwnRngAugmentation(Rule):
    """An augmentation library draws from a generator of its own, which nothing seeds.

    ## What it does

    Reports `albumentations.Compose` without `seed` in which a random transform stands, and MONAI's `Rand...`
    transforms in a notebook that never calls `set_determinism` or `set_random_state`.

    ## Why it matters on a cluster

    albumentations 2 and MONAI keep generators of their own, seeded from entropy. `np.random.seed` and
    `torch.manual_seed` do not reach them, so that the job augments otherwise although it looks seeded.

    ## Bad example

    ```python
    import albumentations as A

    augment = A.Compose([A.RandomCrop(32, 32), A.HorizontalFlip(p=0.5)])  # <-- here
    ```

    ## Good example

    ```python
    import albumentations as A

    augment = A.Compose([A.RandomCrop(32, 32), A.HorizontalFlip(p=0.5)], seed=0)
    center = A.Compose([A.CenterCrop(32, 32), A.Normalize()])
    ```

    ## Remedy

    Pass `seed=SEED` to `A.Compose`, or call `monai.utils.set_determinism(SEED)`.
    """

    code = "CB120"
    name = "own-rng-augmentation"
    confidence = Confidence.MEDIUM
    words = frozenset({"albumentations", "monai"})
    calls = _COMPOSE | {"monai.transforms.*"}

    def __init__(self, notebook: NotebookContext) -> None:
        super().__init__(notebook)
        source = notebook.source
        self._monai = not any(
            word in source for word in ("set_determinism", "set_random_state", "seed_everything")
        )

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at pipelines and transforms."""
        if cell.callee in _COMPOSE:
            if argument(node, "seed") is None and not has_star(node) and node.args and _random(node.args[0], cell):
                self.report(
                    cell, node, "`Compose` of albumentations without `seed` augments otherwise in each run"
                )
        elif self._monai and (cell.callee or "").rpartition(".")[2].startswith("Rand"):
            shown = ast.unparse(node.func)
            self._monai = not self.report(
                cell, node, f"`{shown}` draws from MONAI's own stream, which nothing seeds"
            )


def _random(transforms: ast.expr, cell: CellContext) -> bool:
    """Whether a list of transforms holds one that draws."""
    if not isinstance(transforms, (ast.List, ast.Tuple)):
        return False
    for item in transforms.elts:
        if not isinstance(item, ast.Call):
            continue
        name = (cell.resolve(item.func) or "").rpartition(".")[2]
        # a flip that always happens draws nothing
        always = constant(argument(item, "p"), cell) in (1, 0)
        if "Random" in name or name in _DRAW or (name.endswith("Flip") and not always):
            return True
    return False

"""Which calls draw from which random stream, and which calls seed it."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, has_star, is_constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.scope import words

STREAMS = {"python": "Python's `random`", "numpy": "NumPy's global stream", "torch": "torch's global stream"}

_PYTHON = words("""
    random uniform triangular randint randrange choice choices shuffle sample gauss normalvariate
    lognormvariate expovariate vonmisesvariate gammavariate betavariate paretovariate weibullvariate
    getrandbits randbytes binomialvariate
""")
_NUMPY = words("""
    rand randn randint random random_integers random_sample ranf sample choice bytes shuffle permutation beta
    binomial chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic
    lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f
    normal pareto poisson power rayleigh standard_cauchy standard_exponential standard_gamma standard_normal
    standard_t triangular uniform vonmises wald weibull zipf
""")
_TORCH = words("""
    rand randn randint randperm rand_like randn_like randint_like normal bernoulli multinomial
""")
_TORCH_LAYERS = words("""
    Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding
    EmbeddingBag RNN LSTM GRU Transformer TransformerEncoderLayer TransformerDecoderLayer MultiheadAttention
""")

_ALL = tuple(STREAMS)
_SEEDS: dict[str, tuple[str, ...]] = {
    "random.seed": ("python",),
    "random.setstate": ("python",),
    "numpy.random.seed": ("numpy",),
    "numpy.random.set_state": ("numpy",),
    "torch.manual_seed": ("torch",),
    "torch.random.manual_seed": ("torch",),
    "torch.set_rng_state": ("torch",),
    "torch.random.set_rng_state": ("torch",),
    "tensorflow.random.set_seed": ("tensorflow",),
    "tensorflow.set_random_seed": ("tensorflow",),
    "tensorflow.compat.v1.set_random_seed": ("tensorflow",),
    "tensorflow.keras.utils.set_random_seed": (*_ALL, "tensorflow"),
    "monai.utils.set_determinism": (*_ALL, "monai"),
}


_OTHER_SEEDS = ("random.", "numpy.random.", "torch.", "tensorflow.", "jax.")
"""Names that speak of seeding but seed no global stream of ours."""


def stream_drawn(call: ast.Call, cell: CellContext) -> str | None:
    """The global stream that a call draws from, or None."""
    name = cell.callee
    if name is None:
        return None
    module, _, function = name.rpartition(".")
    if module == "random" and function in _PYTHON:
        return None if _compiled(cell) else "python"
    if module == "numpy.random" and function in _NUMPY:
        return None if _compiled(cell) else "numpy"
    if module == "torch" and function in _TORCH:
        return None if argument(call, "generator") else "torch"
    if module in ("torch.nn", "torch.nn.init", "torch.nn.modules") and _initialises(module, function):
        return "torch"
    if name.startswith("torch.utils.data.") and _draws_order(function, call, cell):
        return "torch"
    return None


def _compiled(cell: CellContext) -> bool:
    """Whether the visited node is compiled by numba, which draws from streams of its own."""
    return any(
        (cell.resolve(decorator.func if isinstance(decorator, ast.Call) else decorator) or "").startswith("numba.")
        for function in cell.within(ast.FunctionDef)
        if isinstance(function, ast.FunctionDef)
        for decorator in function.decorator_list
    )


def _initialises(module: str, function: str) -> bool:
    if module == "torch.nn.init":
        return function.startswith(("uniform", "normal", "xavier", "kaiming", "orthogonal", "trunc", "sparse"))
    return function in _TORCH_LAYERS


def _draws_order(function: str, call: ast.Call, cell: CellContext) -> bool:
    if has_star(call) or argument(call, "generator") is not None:
        return False
    if function == "DataLoader":
        return is_constant(argument(call, "shuffle", 2), True, cell)
    return function in ("random_split", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")


def streams_seeded(call: ast.Call, cell: CellContext) -> tuple[str, ...]:
    """The global streams that a call seeds; a helper whose name speaks of seeding counts for all of them."""
    if "seed" not in cell.lowered and "state" not in cell.lowered and "determinism" not in cell.lowered:
        return ()
    name = cell.callee or ""
    if not name:
        target = call.func
        name = target.id if isinstance(target, ast.Name) else f"?.{getattr(target, 'attr', '')}"
    return streams_of_seed(name, call)


def streams_of_seed(name: str, call: ast.Call) -> tuple[str, ...]:
    """The same by the qualified name of what is called; ``?.name`` is a method of something unknown."""
    if name in _SEEDS:
        return _SEEDS[name]
    module, _, function = name.rpartition(".")
    # a method called seed belongs to some generator object; a function of the notebook was walked itself
    if module == "?" and function in ("seed", "manual_seed"):
        return ()
    if "seed" in function.lower() and not name.startswith(_OTHER_SEEDS):
        return (*_ALL, "tensorflow", "monai")
    return ()

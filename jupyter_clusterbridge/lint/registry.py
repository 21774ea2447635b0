"""Finds the rules, and chooses among them by code."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_clusterbridge.lint import rules as rules_package
from jupyter_clusterbridge.lint.dispatch import check_declaration
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.errors import ConfigInvalid

ALWAYS = "CB0"
"""Rules on the file itself; a choice of other rules does not leave them out, for then nothing would be checked."""


@functools.cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule in ``lint/rules/``, by code.

    Raises:
        RuntimeError: two rules have one code, or one says in part only which calls it wants.
    """
    found: dict[str, type[Rule]] = {}
    for module_info in pkgutil.iter_modules(rules_package.__path__):
        module = importlib.import_module(f"{rules_package.__name__}.{module_info.name}")
        for _, member in inspect.getmembers(module, inspect.isclass):
            if issubclass(member, Rule) and member is not Rule and member.__module__ == module.__name__:
                if member.code in found:
                    raise RuntimeError(f"two rules have the code {member.code}")
                check_declaration(member)
                found[member.code] = member
    return tuple(found[code] for code in sorted(found))


def is_known(code: str) -> bool:
    """Whether a text is the code of a rule or the beginning of one, such as ``CB1``."""
    return len(code) > 1 and any(rule.code.startswith(code) for rule in all_rules())


@dataclass(frozen=True)
class Choice:
    """Which rules are wanted, by codes or beginnings of codes; the longer one decides, else ``ignore``.

    >>> choice = Choice(select=("CB1", "CB203"), ignore=("CB101", "CB2"))
    >>> [code for code in ("CB101", "CB102", "CB203", "CB204", "CB301") if choice.wants(code)]
    ['CB102', 'CB203']
    """

    select: tuple[str, ...] = ("CB",)
    ignore: tuple[str, ...] = ()

    def wants(self, code: str) -> bool:
        """Whether the rule of a code takes part."""
        selected = _longest(code, self.select)
        if code.startswith(ALWAYS):
            selected = max(selected, len(ALWAYS) - 1)
        return selected > _longest(code, self.ignore)

    def rules(self) -> tuple[type[Rule], ...]:
        """The rules that take part, by code."""
        return _chosen(self)


NOTHING = Choice(select=(), ignore=("CB",))
"""No rule at all, for a file that is left out."""


@functools.lru_cache(maxsize=64)
def _chosen(choice: Choice) -> tuple[type[Rule], ...]:
    return tuple(rule for rule in all_rules() if choice.wants(rule.code))


def _longest(code: str, beginnings: Iterable[str]) -> int:
    return max((len(beginning) for beginning in beginnings if code.startswith(beginning)), default=0)


def parse_codes(texts: Iterable[str], where: str) -> tuple[str, ...]:
    """Codes from texts that may each hold several, parted by commas.

    Raises:
        ConfigInvalid: no rule has such a code.
    """
    codes = [part.strip().upper() for text in texts for part in text.split(",") if part.strip()]
    for code in codes:
        if not is_known(code):
            raise ConfigInvalid(f"{where}: no rule has the code {code!r}")
    return tuple(dict.fromkeys(codes))

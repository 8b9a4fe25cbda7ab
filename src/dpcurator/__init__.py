"""dpcurator: a trusted curator for differential privacy.

    import dpcurator as dp
    curator = dp.open("curator.toml")
    curator.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", spend="5%")

This module is a list of public names; each is imported when it is first used, so that importing costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpcurator.mechanisms import ROWS

__version__ = "0.1.0"

_NAMES = {
    "open": ("dpcurator.curator.opening", "open_curator"),
    "connect": ("dpcurator.client.remote", "connect"),
    "draft": ("dpcurator.snapshot.frame_draft", "draft"),
    "rehearsing": ("dpcurator.curator.opening", "rehearsing"),
    "col": ("dpcurator.fronts.columns", "col"),
    "count": ("dpcurator.fronts.columns", "count"),
    "count_if": ("dpcurator.fronts.columns", "count_if"),
    "count_units": ("dpcurator.fronts.columns", "count_units"),
    "sum": ("dpcurator.fronts.columns", "sum_of"),
    "mean": ("dpcurator.fronts.columns", "mean"),
    "count_distinct": ("dpcurator.fronts.columns", "count_distinct"),
    "min": ("dpcurator.fronts.columns", "min_of"),
    "max": ("dpcurator.fronts.columns", "max_of"),
    "arg_min": ("dpcurator.fronts.columns", "arg_min"),
    "arg_max": ("dpcurator.fronts.columns", "arg_max"),
    "any": ("dpcurator.fronts.columns", "any_of"),
    "all": ("dpcurator.fronts.columns", "all_of"),
    "variance": ("dpcurator.fronts.columns", "variance"),
    "stddev": ("dpcurator.fronts.columns", "stddev"),
    "median": ("dpcurator.fronts.columns", "median"),
    "quantile": ("dpcurator.fronts.columns", "quantile"),
    "mode": ("dpcurator.fronts.columns", "mode"),
    "top_k": ("dpcurator.fronts.columns", "top_k"),
    "covariance": ("dpcurator.fronts.columns", "covariance"),
    "correlation": ("dpcurator.fronts.columns", "correlation"),
    "regression": ("dpcurator.fronts.columns", "regression"),
    "when": ("dpcurator.fronts.columns", "when"),
    "Curator": ("dpcurator.curator.curator", "Curator"),
    "Answer": ("dpcurator.release.answer", "Answer"),
    "Cut": ("dpcurator.release.cut", "Cut"),
    "Quote": ("dpcurator.pricing.quote", "Quote"),
    "Menu": ("dpcurator.pricing.menu", "Menu"),
    "plot": ("dpcurator.plots.plot", "plot"),
    "verify": ("dpcurator.receipts.verification", "verify"),
    "clamp": ("dpcurator.mechanisms.clamp", "clamp"),
    "gaussian_delta": ("dpcurator.privacy.families.gaussian", "gaussian_delta"),
    "gaussian_epsilon": ("dpcurator.privacy.families.gaussian", "gaussian_epsilon"),
    "gaussian_sigma": ("dpcurator.privacy.families.gaussian", "gaussian_sigma"),
    "textbook_sigma": ("dpcurator.privacy.families.gaussian", "textbook_sigma"),
    "check_sensitivity": ("dpcurator.sensitivity.checking", "check_sensitivity"),
    "sensitivity_of": ("dpcurator.sensitivity.bounded", "sensitivity_of"),
    "Bounded": ("dpcurator.sensitivity.bounded", "Bounded"),
    "order_statistic": ("dpcurator.sensitivity.windows", "order_statistic"),
    "trimmed_mean": ("dpcurator.sensitivity.windows", "trimmed_mean"),
    "bounded_mean": ("dpcurator.sensitivity.windows", "bounded_mean"),
    "enumerated": ("dpcurator.sensitivity.enumerated", "enumerated"),
    "check_local": ("dpcurator.sensitivity.enumerated", "check_local"),
    "local_sensitivity": ("dpcurator.sensitivity.function", "local_sensitivity"),
    "smooth_sensitivity": ("dpcurator.sensitivity.smooth", "smooth_sensitivity"),
    "Loss": ("dpcurator.privacy.loss", "Loss"),
    "compose": ("dpcurator.accounting.composition", "compose"),
    "Composition": ("dpcurator.accounting.composition", "Composition"),
    "ApproximateFilter": ("dpcurator.accounting.filters", "ApproximateFilter"),
    "ZcdpFilter": ("dpcurator.accounting.filters", "ZcdpFilter"),
    "RenyiFilter": ("dpcurator.accounting.filters", "RenyiFilter"),
    "GaussianFilter": ("dpcurator.accounting.filters", "GaussianFilter"),
    "Odometer": ("dpcurator.accounting.odometer", "Odometer"),
    "calibrate": ("dpcurator.accounting.calibrate", "calibrate"),
    "two_pmfs": ("dpcurator.privacy.own", "two_pmfs"),
    "loss_distribution": ("dpcurator.privacy.own", "loss_distribution"),
    "privacy_profile": ("dpcurator.privacy.own", "privacy_profile"),
    "renyi_curve": ("dpcurator.privacy.own", "renyi_curve"),
    "gaussian_mixture": ("dpcurator.privacy.own", "gaussian_mixture"),
    "import_pld": ("dpcurator.accounting.exchange", "import_pld"),
    "export_pld": ("dpcurator.accounting.exchange", "export_pld"),
    "dpftrl": ("dpcurator.accounting.factorisation", "dpftrl"),
    "dpsgd": ("dpcurator.accounting.training", "dpsgd"),
    "shuffled_bracket": ("dpcurator.accounting.shuffling", "shuffled_bracket"),
    "noise_multiplier": ("dpcurator.accounting.training_noise", "noise_multiplier"),
    "tradeoff": ("dpcurator.accounting.tradeoff", "tradeoff"),
    "advantage": ("dpcurator.accounting.tradeoff", "advantage"),
    "bayes_risk": ("dpcurator.accounting.tradeoff", "bayes_risk"),
    "posterior": ("dpcurator.accounting.tradeoff", "posterior"),
    "explain_loss": ("dpcurator.accounting.explain_loss", "explain_loss"),
    "audit": ("dpcurator.auditing.run", "audit"),
    "exact_law": ("dpcurator.auditing.exact.laws", "exact_law"),
    "replay": ("dpcurator.auditing.replay.replay", "replay"),
    "Pure": ("dpcurator.auditing.claims", "Pure"),
    "Approximate": ("dpcurator.auditing.claims", "Approximate"),
    "Zcdp": ("dpcurator.auditing.claims", "Zcdp"),
    "group_privacy": ("dpcurator.privacy.group", "group_privacy"),
    "explain_delta": ("dpcurator.privacy.explain", "explain_delta"),
    "DpcuratorError": ("dpcurator.errors", "DpcuratorError"),
    "Refusal": ("dpcurator.errors", "Refusal"),
    "OverBudget": ("dpcurator.errors", "OverBudget"),
    "Misconfigured": ("dpcurator.errors", "Misconfigured"),
    "Fault": ("dpcurator.errors", "Fault"),
} | {row.name: (f"dpcurator.mechanisms.{row.file}", row.name) for row in ROWS}

if TYPE_CHECKING:
    from dpcurator.accounting.calibrate import calibrate as calibrate
    from dpcurator.accounting.composition import Composition as Composition
    from dpcurator.accounting.composition import compose as compose
    from dpcurator.accounting.exchange import export_pld as export_pld
    from dpcurator.accounting.exchange import import_pld as import_pld
    from dpcurator.accounting.explain_loss import explain_loss as explain_loss
    from dpcurator.accounting.factorisation import dpftrl as dpftrl
    from dpcurator.accounting.filters import ApproximateFilter as ApproximateFilter
    from dpcurator.accounting.filters import GaussianFilter as GaussianFilter
    from dpcurator.accounting.filters import RenyiFilter as RenyiFilter
    from dpcurator.accounting.filters import ZcdpFilter as ZcdpFilter
    from dpcurator.accounting.odometer import Odometer as Odometer
    from dpcurator.accounting.shuffling import shuffled_bracket as shuffled_bracket
    from dpcurator.accounting.tradeoff import advantage as advantage
    from dpcurator.accounting.tradeoff import bayes_risk as bayes_risk
    from dpcurator.accounting.tradeoff import posterior as posterior
    from dpcurator.accounting.tradeoff import tradeoff as tradeoff
    from dpcurator.accounting.training import dpsgd as dpsgd
    from dpcurator.accounting.training_noise import noise_multiplier as noise_multiplier
    from dpcurator.auditing.claims import Approximate as Approximate
    from dpcurator.auditing.claims import Pure as Pure
    from dpcurator.auditing.claims import Zcdp as Zcdp
    from dpcurator.auditing.exact.laws import exact_law as exact_law
    from dpcurator.auditing.replay.replay import replay as replay
    from dpcurator.auditing.run import audit as audit
    from dpcurator.client.remote import connect as connect
    from dpcurator.curator.curator import Curator as Curator
    from dpcurator.curator.opening import open_curator
    from dpcurator.curator.opening import rehearsing as rehearsing
    from dpcurator.errors import DpcuratorError as DpcuratorError
    from dpcurator.errors import Fault as Fault
    from dpcurator.errors import Misconfigured as Misconfigured
    from dpcurator.errors import OverBudget as OverBudget
    from dpcurator.errors import Refusal as Refusal
    from dpcurator.fronts.columns import all_of, any_of, max_of, min_of, sum_of
    from dpcurator.fronts.columns import arg_max as arg_max
    from dpcurator.fronts.columns import arg_min as arg_min
    from dpcurator.fronts.columns import col as col
    from dpcurator.fronts.columns import correlation as correlation
    from dpcurator.fronts.columns import count as count
    from dpcurator.fronts.columns import count_distinct as count_distinct
    from dpcurator.fronts.columns import count_if as count_if
    from dpcurator.fronts.columns import count_units as count_units
    from dpcurator.fronts.columns import covariance as covariance
    from dpcurator.fronts.columns import mean as mean
    from dpcurator.fronts.columns import median as median
    from dpcurator.fronts.columns import mode as mode
    from dpcurator.fronts.columns import quantile as quantile
    from dpcurator.fronts.columns import regression as regression
    from dpcurator.fronts.columns import stddev as stddev
    from dpcurator.fronts.columns import top_k as top_k
    from dpcurator.fronts.columns import variance as variance
    from dpcurator.fronts.columns import when as when
    from dpcurator.mechanisms import *  # noqa: F403  every class that has a row there
    from dpcurator.mechanisms.clamp import clamp as clamp
    from dpcurator.plots.plot import plot as plot
    from dpcurator.pricing.menu import Menu as Menu
    from dpcurator.pricing.quote import Quote as Quote
    from dpcurator.privacy.explain import explain_delta as explain_delta
    from dpcurator.privacy.families.gaussian import gaussian_delta as gaussian_delta
    from dpcurator.privacy.families.gaussian import gaussian_epsilon as gaussian_epsilon
    from dpcurator.privacy.families.gaussian import gaussian_sigma as gaussian_sigma
    from dpcurator.privacy.families.gaussian import textbook_sigma as textbook_sigma
    from dpcurator.privacy.group import group_privacy as group_privacy
    from dpcurator.privacy.loss import Loss as Loss
    from dpcurator.privacy.own import gaussian_mixture as gaussian_mixture
    from dpcurator.privacy.own import loss_distribution as loss_distribution
    from dpcurator.privacy.own import privacy_profile as privacy_profile
    from dpcurator.privacy.own import renyi_curve as renyi_curve
    from dpcurator.privacy.own import two_pmfs as two_pmfs
    from dpcurator.receipts.verification import verify as verify
    from dpcurator.release.answer import Answer as Answer
    from dpcurator.release.cut import Cut as Cut
    from dpcurator.sensitivity.bounded import Bounded as Bounded
    from dpcurator.sensitivity.bounded import sensitivity_of as sensitivity_of
    from dpcurator.sensitivity.checking import check_sensitivity as check_sensitivity
    from dpcurator.sensitivity.enumerated import check_local as check_local
    from dpcurator.sensitivity.enumerated import enumerated as enumerated
    from dpcurator.sensitivity.function import local_sensitivity as local_sensitivity
    from dpcurator.sensitivity.smooth import smooth_sensitivity as smooth_sensitivity
    from dpcurator.sensitivity.windows import bounded_mean as bounded_mean
    from dpcurator.sensitivity.windows import order_statistic as order_statistic
    from dpcurator.sensitivity.windows import trimmed_mean as trimmed_mean
    from dpcurator.snapshot.frame_draft import draft as draft

    open, sum, min, max, any, all = open_curator, sum_of, min_of, max_of, any_of, all_of

__all__ = [*_NAMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'dpcurator' has no attribute {name!r}")
    module, attribute = _NAMES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)

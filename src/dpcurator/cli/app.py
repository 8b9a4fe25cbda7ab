"""The commands, put together: importing a file of commands registers them with the one application."""

from dpcurator.cli import account, ask, audit, break_me, demo, plot, steward
from dpcurator.cli.application import app

__all__ = ["account", "app", "ask", "audit", "break_me", "demo", "plot", "steward"]

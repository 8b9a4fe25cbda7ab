"""The commands, put together: importing a file of commands registers them with the one application."""

from dpcurator.cli import accounting, asking, auditing, breaking, demonstration, plotting, stewarding
from dpcurator.cli.frame import app

__all__ = ["accounting", "app", "asking", "auditing", "breaking", "demonstration", "plotting", "stewarding"]

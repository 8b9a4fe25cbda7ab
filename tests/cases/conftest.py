"""The fixtures of the cases are those of tests/support/case_questions.py."""

from case_questions import ask, engine_of, opened

__all__ = ["ask", "engine_of", "opened"]

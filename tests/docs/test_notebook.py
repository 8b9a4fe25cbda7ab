"""F1, F9: the first minute in a notebook, in a bare kernel without ipywidgets: it opens, asks, shows, and is refused.

Run by .ci/run, which installs the extra `docs`; skipped where there is no nbconvert and no ipykernel.
"""

from __future__ import annotations

import re
import shutil

import pytest

CELLS = [
    'import sys\nsys.modules["ipywidgets"] = None\nimport dpcurator as dp\ncurator = dp.open("curator.toml")\ncurator',
    'question = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"\ncurator.menu(question)',
    'curator.quote(question, spend="5%")',
    'answer = curator.ask(question, spend="5%")\nanswer',
    'assert len(answer) == len(answer["n"]) == 4\nanswer.to_pandas()',
    'curator.ask("SELECT city FROM visit", epsilon=1)',
]


def test_f1_f9_a_notebook_runs_in_a_bare_kernel(clinic, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="the extra docs is not installed")
    pytest.importorskip("ipykernel", reason="the extra docs is not installed")
    execute = pytest.importorskip("nbconvert.preprocessors", reason="the extra docs is not installed")
    place = tmp_path / "clinic"
    shutil.copytree(clinic, place)
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "jupyter"))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    executor = execute.ExecutePreprocessor(timeout=120, kernel_name="python3", allow_errors=True)
    executor.preprocess(book, {"metadata": {"path": str(place)}})
    outputs = [[one for one in cell.outputs if one.output_type != "stream"] for cell in book.cells]
    *shown, (refused,) = outputs
    for one in shown:
        assert [output.output_type for output in one] == ["execute_result"], one
        assert "text/html" in one[0].data
        assert not re.search(r"--\w| at 0x", one[0].data["text/plain"] + one[0].data["text/html"])
    assert refused.output_type == "error"
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in refused.traceback] == [
        'refused: line 1, column 18: there is no table "visit".',
        "Did you mean visits?",
    ]

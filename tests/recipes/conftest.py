"""Makes the runner of documents, and the helper beside this file, importable (the suite adds no folder by itself)."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (str(HERE), str(HERE.parent / "docs")):
    if folder not in sys.path:
        sys.path.insert(0, folder)

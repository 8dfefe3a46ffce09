"""``python -m ubviz.course.site NOTEBOOKS FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from .build import build

if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))

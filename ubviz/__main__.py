"""``python -m ubviz`` is the ``ubviz`` command."""

from ubviz.cli import main

if __name__ == "__main__":
    raise SystemExit(main())

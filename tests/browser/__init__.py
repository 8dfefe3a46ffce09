"""The timeline in a real browser: a saved page, a page whose kernel is the test, and JupyterLab."""
